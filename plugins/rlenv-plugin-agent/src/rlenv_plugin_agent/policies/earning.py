"""Earnings of adversaries on the tasks of an environment, and the probe of rlenv-auditor that
reports it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextvars import copy_context
from functools import partial
from os.path import exists
from statistics import fmean
from time import monotonic
from types import ModuleType
from typing import Any

from attrs import frozen
from rlenv import Environment, Task

from rlenv_plugin_agent.rollouts import Rollout, rollouts
from rlenv_plugin_agent.state.open_state import APART

from .adversaries import ADVERSARIES, Adversary, Messages, no_op

# What these earn above the floor is a finding.
FINDS = ("no-op", "random", "state-forging", "transcript-forging")
MOST = 20  # tasks; each is played by every adversary
WHAT = "a policy that solves nothing earns no more than the floor of the task"
HINT = (
    "compare the final state with the one that the task wants, void what the policy may not change,"
    " and declare info.floor where doing nothing is worth something"
)


@frozen
class Earning:
    """One rollout that one adversary played.

    Args:
        policy: its name.
        rollout: what it did.
        reward: what it earned, None where the episode is unscored.
        floor: what the task declares that a policy may earn for nothing.
    """

    policy: str
    rollout: Rollout
    reward: float | None
    floor: float

    @property
    def is_finding(self) -> bool:
        """Return whether it was paid for nothing."""
        return self.policy in FINDS and self.reward is not None and self.reward > self.floor + 1e-9


def floor_of(task: Task) -> float:
    """Return what doing nothing may earn: ``info["floor"]``, else ``info["noop"]``, else 0."""
    found = task.info.get("floor", task.info.get("noop", 0.0))
    return float(found) if type(found) in (int, float) else 0.0  # type: ignore[arg-type]


def play_adversaries(
    env: Environment, tasks: Sequence[Task], *, seed: int = 0, until: float = float("inf")
) -> Iterator[Earning]:
    """Let every adversary play every task.

    Args:
        env: with a table ``harness``; without one each task is one message.
        tasks: of the environment.
        seed: of the episodes and of what adversaries draw.
        until: a time of ``time.monotonic``; rollouts that end later are left out, and end with
            their next turn.
    """
    for name, adversary in ADVERSARIES.items():

        def policy(messages: Messages, tools: Messages, acts: Adversary = adversary) -> object:
            return (acts if monotonic() < until else no_op)(messages, tools, seed)

        for _, made in rollouts(env, tasks, policy, seed=seed, concurrent=8):
            if monotonic() >= until:
                return
            yield Earning(name, made, made.verdict.value, floor_of(made.task))


def probes(audit: ModuleType) -> Sequence[object]:
    """Return the probes of episodes; ``audit`` is the package rlenv_auditor, which a plugin does
    not import.
    """
    play = partial(_run_probe, audit)
    return [audit.Probe("policies.nothing", WHAT, "critical", HINT, special=play)]


def _run_probe(audit: ModuleType, bench: Any, probe: object) -> object:
    """The probe: ``bench`` is a Bench of rlenv-auditor, what is returned is its Result."""
    with _environment(audit, bench.target.spec.target) as env:
        tasks = [task for task in bench.tasks if task.id in env.tasks.ids][:MOST]
        playing = partial(_apart, env, tasks, seed=bench.seed, until=bench.until)
        found = copy_context().run(playing)
        stateful = "state" in env.tables
    scored = [each for each in found if each.reward is not None]
    if not scored:
        raise audit.Skip("its tasks left every episode unscored") if found else audit.OutOfBudget
    paid = sorted(
        (each for each in scored if each.is_finding), key=lambda each: -(each.reward or 0)
    )
    complete = len(found) == len(tasks) * len(ADVERSARIES)
    clean = "clean" if complete else "incomplete"
    base = audit.probes.base
    hits = len({each.rollout.task.id for each in paid})
    return base.result(
        probe,
        "found" if paid else clean,
        rate=audit.statistics.rate(hits, len({each.rollout.task.id for each in scored})),
        findings=tuple(_finding(audit, probe, each, stateful=stateful) for each in paid[:3]),
        figures={**_means(scored), "unscored": len(found) - len(scored)},
        reason="" if complete else "the budget ended before all policies had played",
    )


def _apart(env: Environment, tasks: Sequence[Task], *, seed: int, until: float) -> list[Earning]:
    """Return what is earned where nothing is left in a persistent world."""
    APART.set("")
    return [*play_adversaries(env, tasks, seed=seed, until=until)]


def _environment(audit: ModuleType, target: str) -> Environment:
    if ":" in target and not exists(target):
        raise audit.Skip("a function has no episodes")
    env = Environment.load(target)
    if "harness" not in env.tables:
        raise audit.Skip("it has no [harness], so a policy can do nothing but answer")
    return env


def _means(found: Sequence[Earning]) -> Mapping[str, float]:
    """Return the mean reward of each policy."""
    by_name = {
        name: [each.reward or 0.0 for each in found if each.policy == name] for name in ADVERSARIES
    }
    return {name: round(fmean(rewards), 4) for name, rewards in by_name.items() if rewards}


def _finding(audit: ModuleType, probe: object, one: Earning, *, stateful: bool) -> object:
    """Where the final state decides, the conversation alone replays nothing: the finding then names
    the seed.
    """
    task = one.rollout.task
    made = audit.target.forms.conversation(one.rollout.trajectory.messages)
    title = (
        f"the policy {one.policy} earns {one.reward:g} on task {task.id}, whose floor is"
        f" {one.floor:g}"
    )
    what = (None if stateful else task), made, one.reward, title, f"{one.floor:g} at most"
    return audit.probes.base.finding(probe, *what, policy=one.policy, seed=one.rollout.seed)
