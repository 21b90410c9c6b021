"""``rollouts``: a policy plays many episodes at a time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Coroutine, Iterable, Iterator
from contextlib import aclosing
from typing import TypeVar, Unpack

from rlenv import ConfigError, Environment, Fault, Task

from rlenv_plugin_agent.messages.actions import ActionError
from rlenv_plugin_agent.waiting import wait_for

from .single import How, Policy, Rollout, arollout, unscored_rollout

K = TypeVar("K")
T = TypeVar("T")


async def arollouts(
    env: Environment,
    tasks: Iterable[Task | str],
    policy: Policy,
    *,
    seed: int = 0,
    concurrent: int = 64,
    **how: Unpack[How],
) -> AsyncGenerator[tuple[int, Rollout]]:
    """Play many episodes at once: (index of the task, rollout) pairs, each when it is done.

    An episode whose policy raises is unscored, with a fault of kind ``unavailable``, and the others
    go on.  Where it returns what is no action, the kind is ``input``.

    Args:
        env: as for ``rollout``.
        tasks: one for each episode, read as needed.
        policy: as for ``rollout``; async, so that the episodes do not wait for one another.
        seed: of each episode.
        concurrent: how many episodes run at the same time, 1 or more.
        **how: ``wrap``, ``count`` and ``training_step``, as for ``Episode``.

    Raises:
        ConfigError: when ``concurrent`` is not an integer of 1 or more.
    """
    if type(concurrent) is not int or concurrent < 1:
        raise ConfigError(f"concurrent is an integer ≥ 1, not {concurrent!r}")
    work = ((i, _rollout_or_fault(env, task, policy, seed, how)) for i, task in enumerate(tasks))
    async with aclosing(as_completed(work, concurrent)) as ended:
        async for index, job in ended:
            yield index, job.result()


async def as_completed(
    work: Iterable[tuple[K, Coroutine[object, object, T]]], concurrent: int
) -> AsyncGenerator[tuple[K, asyncio.Task[T]]]:
    """Run coroutines, so many at once; each with its key as soon as it has ended, and at the end
    none runs on.

    Args:
        work: (key, coroutine) pairs, read as needed.
        concurrent: how many run at the same time, 1 or more.
    """
    left = iter(work)
    running = dict[asyncio.Task[T], K]()
    try:
        while True:
            while len(running) < concurrent and (found := next(left, None)):
                running[asyncio.create_task(found[1])] = found[0]
            if not running:
                return
            done, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            for each in done:
                yield running.pop(each), each
    finally:
        for each in running:
            each.cancel()
        await asyncio.gather(*running, return_exceptions=True)


async def _rollout_or_fault(
    env: Environment, task: Task | str, policy: Policy, seed: int, how: How
) -> Rollout:
    """``arollout``, and whatever raises becomes a fault."""
    try:
        return await arollout(env, task, policy, seed, **how)
    except ActionError as error:
        return unscored_rollout(env, task, Fault("input", str(error)), seed)
    except Exception as error:  # noqa: BLE001 - one episode of many
        fault = Fault("unavailable", f"{type(error).__name__}: {error}", transient=True)
        return unscored_rollout(env, task, fault, seed)


def rollouts(
    env: Environment,
    tasks: Iterable[Task | str],
    policy: Policy,
    *,
    seed: int = 0,
    concurrent: int = 64,
    **how: Unpack[How],
) -> Iterator[tuple[int, Rollout]]:
    """Play many episodes as ``arollouts`` does, for callers without an event loop; episodes run on
    one in the background.

    Args:
        env: as for ``rollout``.
        tasks: as for ``arollouts``.
        policy: as for ``arollouts``.
        seed: as for ``arollouts``.
        concurrent: as for ``arollouts``.
        **how: ``wrap``, ``count`` and ``training_step``, as for ``Episode``.
    """
    running = arollouts(env, tasks, policy, seed=seed, concurrent=concurrent, **how)
    try:
        while True:
            try:
                yield wait_for(anext(running))
            except StopAsyncIteration:
                return
    finally:
        wait_for(running.aclose())
