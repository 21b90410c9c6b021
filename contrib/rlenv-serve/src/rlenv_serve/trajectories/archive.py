"""Brings ends from the journal into the store of trajectories: each exactly once, also after a crash or an outage."""

from __future__ import annotations

import asyncio
import logging
from collections import deque

from attrs import evolve

from rlenv_serve.http.problems import Problem
from rlenv_serve.state.journal import Begun, Ended, Journal

from .finished import Finished, finished
from .store import TrajectoryStore

logger = logging.getLogger("rlenv_serve")
RETRY = 1.0  # seconds
HELD = 10_000  # rows that wait for the database in memory; what is beyond them stays in the journal until the next start
LOOKED_AT = 1_000  # of the newest episodes, at start


class Archive:
    """Keeps the trajectory of each episode that ends.

    Args:
        store: where they are kept.
    """

    def __init__(self, store: TrajectoryStore) -> None:
        self.store = store
        self._waiting: deque[Finished] = deque(maxlen=HELD)

    async def open(self, journal: Journal) -> None:
        """Keep what the journal has the end of and the store does not: the process may have been killed between both."""
        await self.store.open()
        ended = [each for each in await journal.recent(None, LOOKED_AT) if each.ended]
        missing = await self.store.missing([each.begun.id for each in ended])
        for each in reversed(ended):
            if each.ended and each.begun.id in missing and (held := await journal.trajectory(each.begun.id)):  # fmt: skip
                await self.store.append(finished(each.begun, evolve(each.ended, trajectory=held)))

    async def add(self, begun: Begun, ended: Ended) -> None:
        """Keep the end of an episode; where the store cannot be reached, as soon as it can."""
        self._waiting.append(finished(begun, ended))
        await self._flush()

    async def watch(self) -> None:
        """Try again what could not be kept, until it is cancelled."""
        while True:
            await asyncio.sleep(RETRY)
            await self._flush()

    async def _flush(self) -> None:
        while self._waiting:
            row = self._waiting[0]
            try:
                await self.store.append(row)
            except Problem as problem:
                logger.warning("%s; %s trajectories wait", problem.detail, len(self._waiting))
                return
            if self._waiting and self._waiting[0] is row:
                self._waiting.popleft()
