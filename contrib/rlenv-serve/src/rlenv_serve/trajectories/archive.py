"""Brings trajectories from the journal into their store: each exactly once, also after a crash or
an outage.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

from rlenv_serve.state.journal import Journal

from .episode import FinishedEpisode
from .store import TrajectoryStore

logger = logging.getLogger("rlenv_serve")
RETRY = 1.0  # seconds between looks for what other processes left, or the store did not take
PAGE = 16  # trajectories that are brought at once
BYTES = 4 << 20  # after so many at once, one comes alone


class Archive:
    """Keeps the trajectory of each episode that ends.

    The journal has it in its outbox, from the commit of the last step until the store has it.  So
    it does not matter which process ended the episode, nor when the store can be reached again.
    What cannot be read stays in the outbox.

    Args:
        journal: whose outbox it empties.
        store: where trajectories are kept.
    """

    def __init__(self, journal: Journal, store: TrajectoryStore) -> None:
        self.store = store
        self._journal = journal
        self._lock = asyncio.Lock()
        self._asked = 0
        self._brought = 0
        self._count = 1  # that come at once now
        self.aside = list[str]()  # names of what cannot be read, and stays in the outbox

    async def bring(self) -> None:
        """Bring what is in the outbox now; where the store cannot be reached, it stays there for
        the next time.
        """
        self._asked = asked = self._asked + 1
        async with self._lock:
            if self._brought >= asked:  # by one that began after this was asked for
                return
            self._brought = self._asked
            try:
                await self.store.open()
                while rows := await self._journal.outbox(self._count, *self.aside[-1:]):
                    self._count = min(2 * self._count, PAGE) if await self._keep(rows) else 1
            except Exception as error:  # noqa: BLE001 - the rewards stand
                logger.warning("trajectories wait in the journal: %s", error)

    async def watch(self) -> None:
        """Bring what was left, until it is cancelled."""
        while True:
            await self.bring()
            await asyncio.sleep(RETRY)

    async def _keep(self, rows: Sequence[tuple[str, bytes]]) -> bool:
        """Bring these; whether more may be brought at once."""
        try:
            made = [FinishedEpisode.from_json(held) for _, held in rows]
        except Exception as error:  # noqa: BLE001 - another version may have written anything
            if len(rows) == 1:
                self.aside.append(rows[0][0])
                logger.error(
                    "trajectory %s in the outbox of --state cannot be read (%s): it stays there,"
                    " and others pass it; start the rlenv that wrote it on this --state, or see"
                    " Trajectories in docs/how-to/serve.md",
                    rows[0][0],
                    error,
                )
            return False
        await self.store.append(made)
        await self._journal.forget_archived([name for name, _ in rows])
        return sum(len(held) for _, held in rows) < BYTES
