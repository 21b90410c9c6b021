"""Brings trajectories from the journal into their store: each exactly once, also after a crash or an outage."""

from __future__ import annotations

import asyncio
import logging

from rlenv_serve.state.journal import Journal

from .finished import Finished
from .store import TrajectoryStore

logger = logging.getLogger("rlenv_serve")
RETRY = 1.0  # seconds between looks for what other processes left, or the store did not take
PAGE = 32  # trajectories that are brought at once


class Archive:
    """Keeps the trajectory of each episode that ends.

    The journal has it in its outbox, from the commit of the last step until the store has it.  So it does not matter which
    process ended the episode, nor when the store can be reached again.

    Args:
        journal: whose outbox it empties.
        store: where trajectories are kept.
    """

    def __init__(self, journal: Journal, store: TrajectoryStore) -> None:
        self.store, self._journal = store, journal
        self._lock, self._asked, self._brought = asyncio.Lock(), 0, 0
        self._is_open = False

    async def bring(self) -> None:
        """Bring what is in the outbox now; where the store cannot be reached, it stays there for the next time."""
        self._asked = asked = self._asked + 1
        async with self._lock:
            if self._brought >= asked:  # by one that began after this was asked for
                return
            self._brought = self._asked
            try:
                if not self._is_open:
                    await self.store.open()
                    self._is_open = True
                while rows := await self._journal.outbox(PAGE):
                    await self.store.append([Finished.decoded(held) for _, held in rows])
                    await self._journal.archived([name for name, _ in rows])
            except Exception as error:  # noqa: BLE001 - the rewards stand
                logger.warning("trajectories wait in the journal: %s", error)

    async def watch(self) -> None:
        """Bring what was left, until it is cancelled."""
        while True:
            await self.bring()
            await asyncio.sleep(RETRY)
