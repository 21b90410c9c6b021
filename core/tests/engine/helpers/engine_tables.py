"""Stages that look their score up in a table, so that one composition can be run in every place."""

import asyncio

from attrs import frozen
from engine_stages import misbehave
from rlenv import Attempt, Outcome

ORDERS = ("raise", "sysexit", "task", "nan", "two", "none", "network")  # each a fault
HOSTILE = (
    "bare outcome",
    "bare fault",
    "mute",
    "awaitable",
    "forged",
    "odd fault",
    "nan steps",
    "nameless",
    "nameless error",
)  # and these


@frozen
class Trail:
    """An artifact: which stages were here before, in order."""

    names: tuple[str, ...]


@frozen
class Table:
    """``says`` holds, for each response "0", "1", …, a score or an order that breaks the stage."""

    name: str
    says: tuple[float | str, ...]
    where: str = "inline"
    needs: tuple[type, ...] = ()
    inline_limit: int = 4096
    waits: bool = False
    phase = "diff"
    makes = (Trail,)

    def look(self, attempt: Attempt) -> Outcome:
        before = attempt.find(Trail)
        names = (*(before.names if before else ()), self.name)
        attempt.put(Trail(names))
        said = self.says[int(attempt.response)]
        if isinstance(said, str):
            return misbehave(said)
        data = {"name": self.name}
        return Outcome(said, self.name, data, ((0, said),), {"trail": list(names)})

    def check(self, attempt: Attempt) -> Outcome:
        return self.look(attempt)


@frozen
class AsyncTable(Table):
    async def check(self, attempt: Attempt) -> Outcome:  # type: ignore[override]
        await asyncio.sleep(0)
        return self.look(attempt)


@frozen
class GroupTable(Table):
    """Judges a group as it judges each."""

    def check_group(self, attempts):
        return [self.look(attempt) for attempt in attempts]


@frozen
class AsyncGroupTable(AsyncTable):
    async def check_group(self, attempts):
        await asyncio.sleep(0)
        return [self.look(attempt) for attempt in attempts]
