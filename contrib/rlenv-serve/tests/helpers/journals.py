"""Journals under one contract: how each is made, and how its store is taken away and given back."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path

from rlenv_serve.state import open_journal
from rlenv_serve.state.journal import EpisodeEnd, EpisodeStart, Journal, JournaledStep
from rlenv_serve.trajectories.episode import FinishedEpisode

Opener = Callable[[], Journal]  # another process's view of the same store, where it is shared


def begun(number: int, *, tenant: str = "alice", key: str = "", agent: str = "me") -> EpisodeStart:
    return EpisodeStart(
        f"{number:032x}", tenant, "sums", "f" * 16, "t3", "d" * 64, 7, agent, 12.5, key
    )


def taken(number: int, *, key: str = "", answer: bytes = b'{"text": "6"}') -> JournaledStep:
    return JournaledStep(number, b'{"kind": "say"}', answer, key)


ENDED = EpisodeEnd("passed", b'{"value": 1.0}', b'{"messages": []}')


def row(number: int, reward: float | None = 1.0) -> FinishedEpisode:
    """An episode that has ended."""
    rollout = json.dumps({"task": {"id": "t"}, "messages": [], "trace": [], "verdict": {}})
    return FinishedEpisode(
        f"e{number}",
        "",
        "sums",
        "f",
        "t",
        "me",
        0,
        0.0,
        1.0,
        "done",
        reward,
        "",
        1,
        0,
        0,
        5,
        rollout,
    )


@asynccontextmanager
async def opened(opener: Opener) -> AsyncIterator[Journal]:
    journal = opener()
    await journal.open()
    try:
        yield journal
    finally:
        await journal.close()


def sqlite(folder: Path) -> Opener:
    return lambda: open_journal(f"sqlite:{folder / 'journal.db'}")


def add_episodes(file: Path, episodes: int, steps: int) -> None:
    """Many episodes at once, written as another program would restore them."""
    from msgspec.json import encode

    open_journal(f"sqlite:{file}")
    with closing(sqlite3.connect(file)) as link, link:
        link.executemany(
            "INSERT INTO episode (number, id, begun, tenant, key, written) VALUES (?, ?, ?, '',"
            " '', 0)",
            ((n, begun(n).id, encode(begun(n, tenant=""))) for n in range(1, episodes + 1)),
        )
        link.executemany(
            "INSERT INTO step VALUES (?, ?, ?, ?, '')",
            (
                (n, step, taken(step).action, taken(step).answer)
                for n in range(1, episodes + 1)
                for step in range(1, steps + 1)
            ),
        )


async def trajectories(journal: Journal) -> list[bytes]:
    """That no store has."""
    return [held for _, held in await journal.outbox(99)]
