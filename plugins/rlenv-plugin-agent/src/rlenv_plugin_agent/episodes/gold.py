"""Gold calls: tasks record what solves them and what doing nothing earns, and both are played."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextvars import ContextVar
from typing import TypeAlias
from weakref import WeakKeyDictionary

from rlenv import Environment, Task, TaskError, Verdict
from rlenv.authoring import Problems, build

from rlenv_plugin_agent.errors import UnreachableTask
from rlenv_plugin_agent.messages import Action, calls
from rlenv_plugin_agent.stages.state import Gold
from rlenv_plugin_agent.state.open_state import APART, OpenState
from rlenv_plugin_agent.state.persistent import PRESENT, PersistentWorld
from rlenv_plugin_agent.state.world import World

CHECKING: ContextVar[bool] = ContextVar("checking", default=False)
# Of each environment, by task, why it is not sound; "" where it is.
_known: WeakKeyDictionary[Environment, dict[str, str]] = WeakKeyDictionary()
# Plays a task with these actions and this seed.
Play: TypeAlias = Callable[[Task, Iterator[Action], int], Awaitable[Verdict]]


def _script(gold: Gold, *, agentic: bool) -> Iterator[Action]:
    """Yield the calls, one a message, and then the reply."""
    for each in gold.calls:
        yield calls((each.name, each.arguments))
    while True:
        yield {**calls(("done", {})), "content": gold.reply} if agentic else gold.reply


async def check_recorded(play: Play, env: Environment, task: Task) -> None:
    """Play ``info.gold`` of a task and a policy that does nothing; once for each task of an
    environment.

    ``Episode`` calls this before the first episode of a task that has ``info.gold``.

    Args:
        play: plays an episode of the environment.
        env: what plays and judges.
        task: one of its own, or any that its stages take.

    Raises:
        VerifierFault: the verifier broke.
        TaskError: the gold calls do not earn ``gold.reward`` or do not pass, or doing nothing does
            not earn ``info.noop``, or passes.
    """
    if "gold" not in task.info or CHECKING.get():
        return
    known = _known.setdefault(env, {})
    key = repr((task.id, task.prompt, task.answer, task.info))
    if key not in known:
        known[key] = await asyncio.create_task(_problem(play, env, task))
    if known[key]:
        raise TaskError(known[key], task.id)


async def _problem(play: Play, env: Environment, task: Task) -> str:
    """Return why a task is not sound, "" where it is."""
    CHECKING.set(True)  # of this asyncio task alone
    APART.set("")
    problems = Problems()
    gold = build(Gold, task.info["gold"], "info.gold", problems)
    noop = task.info.get("noop", 0.0)
    problems.check()
    for what, script, wanted in (
        ("its gold calls", gold, gold.reward),
        ("doing nothing", Gold(reply=""), noop),
    ):
        value = (await play(task, _script(script, agentic=_is_agentic(env)), 0)).reward
        ends = "s" * (script is not gold)
        if not isinstance(wanted, (int, float)) or abs(value - wanted) > 1e-6:
            return f"{what} earn{ends} {value:g}, and the task records {wanted}"
        if (value >= env.pass_mark) != (script is gold):
            return (
                f"{what}: {value:g} {'passes' if ends else 'does not pass'}, and the pass mark is"
                f" {env.pass_mark:g}"
            )
    return ""


def _is_agentic(env: Environment) -> bool:
    return getattr(env.tables.get("harness"), "kind", "") == "agentic"


async def check_present(
    play: Play, env: Environment, task: Task, held: OpenState, seed: int
) -> None:
    """Play ``info.gold`` of a task in a fork of the persistent world that its episode begins with.

    What earlier episodes left may make the task impossible, which is no fault of the policy of this
    one.

    Args:
        play: as of ``check_recorded``.
        env: as of ``check_recorded``.
        task: as of ``check_recorded``.
        held: the state that the episode begins with.
        seed: of the episode.

    Raises:
        UnreachableTask: the gold calls do not earn in this world what the task records.
        VerifierFault: the verifier broke.
    """
    world = held.parts.get(World)
    if "gold" in task.info and isinstance(world, PersistentWorld):
        await asyncio.create_task(_play_present(play, env, task, world, seed))


async def _play_present(play: Play, env: Environment, task: Task, world: World, seed: int) -> None:
    CHECKING.set(True)  # of this asyncio task alone
    PRESENT.set(world)
    problems = Problems()
    gold = build(Gold, task.info["gold"], "info.gold", problems)
    problems.check()
    value = (await play(task, _script(gold, agentic=_is_agentic(env)), seed)).reward
    if abs(value - gold.reward) > 1e-6:
        told = (
            f"the world makes this task unreachable: its gold calls earn {value:g} in the state"
            f" {world.start:.16} that earlier episodes left, and the task records {gold.reward:g}"
        )
        raise UnreachableTask(told, kind="unavailable", transient=True)
