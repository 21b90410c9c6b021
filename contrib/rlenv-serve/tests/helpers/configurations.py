"""Stores of tasks and baselines: opened as a server does, written and read."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial

import sqlalchemy as sa
from rlenv_serve import Served
from rlenv_serve.configuration.store import BASELINES, TASKS, measure, record_start
from rlenv_serve.trajectories.store import TrajectoryStore

Results = Mapping[str, Sequence[float | None]]
OUTCOME = ("id", "model", "attempts", "passed", "unscored", "reward")


def use(url: str, work: Callable[[TrajectoryStore], Awaitable[None]], *served: Served) -> None:
    """Open the store as a server of these does, work, and close it."""

    async def whole() -> None:
        store = TrajectoryStore(url)
        store.opened.append(partial(record_start, store, served))
        await store.open()
        try:
            await work(store)
        finally:
            await store.close()

    asyncio.run(whole())


async def keep(store: TrajectoryStore, served: Served, model: str, results: Results) -> None:
    await store.run(partial(measure, store, served, model, results))


async def outcomes(store: TrajectoryStore) -> list[tuple[object, ...]]:
    """What is kept, by task and model."""
    query = sa.select(TASKS.c.id, BASELINES).select_from(sa.join(TASKS, BASELINES))
    rows = await store.rows(query.order_by(TASKS.c.id, BASELINES.c.model, BASELINES.c.reward))
    return [tuple(row[name] for name in OUTCOME) for row in rows]
