"""An environment in which the state is how much was done, and the sessions of servers that have
it.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from journals import sqlite
from rlenv import Environment, Task, stage
from rlenv_plugin_agent import Harness, ToolContext, tool
from rlenv_serve import Catalog, Limits, Served
from rlenv_serve.http.keys import LOCAL
from rlenv_serve.http.problems import Problem
from rlenv_serve.metrics import Metrics
from rlenv_serve.sessions import Sessions
from rlenv_serve.sessions.actions import call
from rlenv_serve.state.journal import Journal
from rlenv_serve.trajectories.archive import Archive
from rlenv_serve.trajectories.store import TrajectoryStore

DRAWN = itertools.count()
ASLEEP = list[float]()  # the sleeps that have begun


@tool(where="inline", deterministic=True)
def count(context: ToolContext) -> int:
    """How many messages the policy wrote before."""
    return context.turn


@tool(where="inline")
def draw() -> int:
    """Another number each time."""
    return next(DRAWN)


@tool(where="inline", deterministic=True)
def wrong() -> int:
    """Fails."""
    raise KeyError


@tool(where="caller", timeout=60.0)
async def sleep(seconds: float) -> str:
    """Wait.

    Args:
        seconds: how long.
    """
    ASLEEP.append(seconds)
    await asyncio.sleep(seconds)
    return "awake"


@tool(where="inline", deterministic=True)
def text(length: int) -> str:
    """A long text.

    Args:
        length: in characters.
    """
    return "x" * length


@stage(where="inline")
def share(visible: str, answer: str) -> float:
    return float(visible) / 100


TASK = Task("Count.", answer="1", id="t")
TOOLS: list[Callable[..., object]] = [count, draw, wrong, sleep, text]


def counting(task: Task = TASK, *tools: Callable[..., object]) -> Environment:
    found = tools or TOOLS
    return Environment(
        "counting", share, [task], tables={"harness": Harness("tool-use", tools=found)}
    )


class Nowhere(Archive):
    """The second tier, which keeps what it is given for ever, is not what is measured here."""

    async def bring(self) -> None: ...


def make(env: Environment, journal: Journal, **limits: Any) -> Sessions:
    nowhere = Nowhere(journal, TrajectoryStore("memory:"))
    return Sessions(
        Catalog([Served("counting", env)]), journal, nowhere, Limits(**limits), Metrics()
    )


@asynccontextmanager
async def server(env: Environment, folder: Path, **limits: Any) -> AsyncIterator[Sessions]:
    """The sessions of one process on a journal in SQLite."""
    journal = sqlite(folder)()
    await journal.open()
    found = make(env, journal, **limits)
    try:
        yield found
    finally:
        await found.close()
        await journal.close()


async def asleep(*seconds: float) -> None:
    """Until the tool has begun to sleep so long, for each."""
    while not {*seconds} <= {*ASLEEP}:
        await asyncio.sleep(0.01)
    ASLEEP.clear()


async def begin(found: Sessions, key: str = "") -> str:
    served = found._catalog["counting"]
    return (await found.begin(LOCAL, served, served.env.tasks[0], key=key)).id


def play(work: Callable[[], Awaitable[None]]) -> None:
    async def run() -> None:
        await asyncio.wait_for(work(), 120)

    asyncio.run(run())


COUNT = call("count", {})


async def code_of(work: Awaitable[object]) -> tuple[int, str]:
    try:
        found = await work
    except Problem as problem:
        return problem.status, problem.code
    return 200, str(found)
