"""``rollout``: a policy plays one episode."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from inspect import isawaitable
from time import perf_counter
from typing import TypeAlias, TypedDict, Unpack

from attrs import frozen
from rlenv import ConfigError, Environment, Fault, Task, Trajectory, Verdict
from rlenv.steps import Steps, await_steps, wait

from rlenv_plugin_agent.clients.errors import ContextExceeded
from rlenv_plugin_agent.contexts import Count
from rlenv_plugin_agent.episodes.episode import Episode
from rlenv_plugin_agent.episodes.steps import (
    TERMINATED,
    TRUNCATED,
    Evaluate,
    Step,
    Stop,
    Turn,
    verdict_of_fault,
)
from rlenv_plugin_agent.errors import EpisodeError
from rlenv_plugin_agent.messages import Action, Message, copies
from rlenv_plugin_agent.tools.observations import Observe
from rlenv_plugin_agent.tools.subagent import Actor, Child, begin_policy
from rlenv_plugin_agent.waiting import may_wait, run

from .samples import Sample, samples_of

# Messages so far, which are read-only, and the tools as endpoints of models take them.
Policy: TypeAlias = Callable[[list[Message], list[Message]], Action | Awaitable[Action]]


class How(TypedDict, total=False):
    """Options that ``Episode`` takes besides an environment."""

    wrap: Callable[[Observe], Observe] | None
    count: Count | None
    training_step: int


@frozen
class Rollout:
    """One episode that one policy played.

    Args:
        task: what it was about.
        trajectory: what a trainer sees: all messages, those of tools included, tokens and the final
            state.
        trace: what an operator sees: times, calls and tokens of each turn.
        verdict: of the environment's stages; its value is None where the episode is unscored.
        stop: why it ended; ``error`` exactly where it is unscored.
        seconds: wall time of the episode, the policy's included.
        seed: that the episode began with.
        children: what subagents did; their calls of the policy are samples of their own.
        start: the digest of the state that the episode began with, "" without ``[state]``.
    """

    task: Task
    trajectory: Trajectory
    trace: tuple[Turn, ...]
    verdict: Verdict
    stop: Stop
    seconds: float
    seed: int = 0
    children: tuple[Child, ...] = ()
    start: str = ""

    @property
    def terminated(self) -> bool:
        """Return whether the policy, or the user, ended it."""
        return self.stop in TERMINATED

    @property
    def truncated(self) -> bool:
        """Return whether a limit ended it."""
        return self.stop in TRUNCATED

    def samples(self, *, inexact: bool = False) -> list[Sample]:
        """Return what a trainer trains on: the token ids of the policy's calls, joined where
        nothing was tokenized again.

        Behind those of the policy are those of its subagents.

        Args:
            inexact: leave out calls whose ids the server did not tell, instead of raising.

        Raises:
            ConfigError: for a call whose ids are not exact, and where no call is left.
        """
        turns = len(self.trace)
        told = len(self.trajectory.tokens)
        if not inexact and 0 < told < turns:
            raise ConfigError(
                f"the policy told no token ids in turn {turns - told - 1}; pass inexact=True to"
                " leave out that turn and those before it"
            )
        return samples_of(self.trajectory, self.verdict, inexact=inexact, children=self.children)


def rollout(
    env: Environment, task: Task | str, policy: Policy, seed: int = 0, **how: Unpack[How]
) -> Rollout:
    """Play one episode.

    Args:
        env: with a table ``harness``; without one an episode is one message.
        task: a Task, or the prompt of one of the environment's own.
        policy: gets the messages so far, which are read-only, and the tools.  It returns an action:
            a text, a message, a ``Reply``, or for games a value; sync or async.  It copies the
            messages that it wants to change, as with ``[*messages]`` and ``{**message}``; changing
            them raises TypeError.  Where it has a method ``begin``, what this returns is the policy
            of one episode.  It raises ``ContextExceeded`` where the messages are too many for it.
        seed: of all that is drawn.
        **how: ``wrap``, ``count`` and ``training_step``, as for ``Episode``.

    Raises:
        UnknownTask: when no task has this prompt.
        RuntimeError: when async code of an episode calls this; await ``arollout`` there.
        ActionError: the policy returned None, or an object that is no action.
        Exception: whatever the policy raises.
    """
    may_wait()
    return run(_play(Episode(env, **how), task, policy, seed, env.evaluate))


async def arollout(
    env: Environment, task: Task | str, policy: Policy, seed: int = 0, **how: Unpack[How]
) -> Rollout:
    """Play one episode as ``rollout`` does, for callers with an event loop; a policy that is not
    async blocks it.

    Args:
        env: as for ``rollout``.
        task: as for ``rollout``.
        policy: as for ``rollout``.
        seed: as for ``rollout``.
        **how: as for ``rollout``.
    """
    return await await_steps(_play(Episode(env, **how), task, policy, seed, env.aevaluate))


def _play(
    episode: Episode, task: Task | str, policy: Policy, seed: int, evaluate: Evaluate
) -> Steps[Rollout]:
    start = perf_counter()
    actor = Actor(policy)
    acts = begin_policy(policy)
    try:
        yield from episode._begin(task, seed)
        episode.attend(actor)
        if not episode.view:
            yield from episode._truncate("context", evaluate)
        tools = copies(episode.tools)
        while episode.stop is None:
            yield from _turn(episode, acts, tools, evaluate)
            if actor.failed is not None:
                raise actor.failed
    except ContextExceeded:
        yield from episode._truncate("context", evaluate)
    except EpisodeError as error:
        return unscored_rollout(episode.env, task, error.fault, seed)
    finally:
        yield from episode._release()
    return _rollout_of(episode, perf_counter() - start, actor)


def _turn(
    episode: Episode, policy: Policy, tools: list[Message], evaluate: Evaluate
) -> Steps[Step]:
    """Ask the policy, and step."""
    acted = policy(episode.view, tools)
    if isawaitable(acted):
        try:
            acted = yield from wait(_within(acted, episode.ledger.seconds_left))
        except _Late:
            return (yield from episode._truncate("timeout", evaluate))
    return (yield from episode._turn(acted, evaluate))


class _Late(Exception):
    """The policy took more than what was left to the episode."""


async def _within(acted: Awaitable[Action], seconds: float | None) -> Action:
    if seconds is None:
        return await acted
    task = asyncio.ensure_future(acted)
    try:
        done, _ = await asyncio.wait((task,), timeout=seconds)
    except asyncio.CancelledError:
        task.cancel()
        raise
    if not done:
        task.cancel()
        raise _Late
    return task.result()


def _rollout_of(episode: Episode, seconds: float, actor: Actor) -> Rollout:
    task = episode.task
    made = episode.trajectory
    verdict = episode.verdict
    stop = episode.stop
    assert task is not None
    assert made is not None
    assert verdict is not None
    assert stop is not None
    children = tuple(actor.children)
    return Rollout(
        task=task,
        trajectory=made,
        trace=tuple(episode.trace),
        verdict=verdict,
        stop=stop,
        seconds=seconds,
        seed=episode.seed,
        children=children,
        start=episode.start,
    )


def unscored_rollout(env: Environment, task: Task | str, fault: Fault, seed: int = 0) -> Rollout:
    """Return the rollout of an episode that did not take place, or whose policy raised.

    Args:
        env: whose fingerprint it bears.
        task: what it was to be about.
        fault: why.
        seed: that it would have had.
    """
    found = task if isinstance(task, Task) else Task(task)
    return Rollout(
        task=found,
        trajectory=Trajectory(found.messages),
        trace=(),
        verdict=verdict_of_fault(env, fault),
        stop="error",
        seconds=0.0,
        seed=seed,
    )
