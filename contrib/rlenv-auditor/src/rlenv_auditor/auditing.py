"""An audit from its target to its scorecard."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from attrs import evolve, frozen
from rlenv.model.errors import ConfigError, RlenvError
from rlenv.model.messages import suggest
from rlenv.model.values import Task

from .bench import Bench
from .catalog import probes
from .conclusion import allowed
from .confirming import confirmed
from .model import Result, Scorecard
from .probes.base import Probe, result, run
from .questions import answered, asides
from .sampling import sampled
from .solved import plainly_in, text_of
from .target.process import Spec, Target, placed
from .thresholds import Thresholds, crossed

__all__ = ["PROFILES", "audit"]

MADE = 200  # tasks of a target that makes as many as are asked for: some cost a second each

Progress = Callable[[Probe, int, int], None]  # before each probe: its place, of how many
PROFILES = {"ci": (40, 60.0), "full": (400, 1800.0)}  # tasks, seconds


def audit(
    target: str,
    *,
    signature: str = "",
    tasks_from: str = "",
    tasks: int | None = None,
    seed: int = 0,
    budget: float | None = None,
    profile: str = "ci",
    fail_on: str = "",
    only: Sequence[str] = (),
    archetype: str = "",
    right: Mapping[str, Sequence[str]] | None = None,
    pass_mark: float | None = None,
    patience: float | None = None,
    progress: Progress | None = None,
    fail_fast: bool = False,
    step: tuple[int, float] = (256, 8.0),
    second: str = "",
    second_signature: str = "",
    loading: float = 120.0,
    python: str = "",
) -> Scorecard:
    """Attack a verifier, and say how it fails.

    Args:
        target: an env.toml, an installed environment, or ``module:function``.
        signature: how a function is called: plain, trl, verl, verifiers, reasoning-gym, inspect.
        tasks_from: a file with the tasks of a function.
        tasks: how many tasks are tried; when None the profile's number, and fewer where one reward
            takes long.
        seed: of the sample and of everything that is drawn.
        budget: seconds for all probes, once the target is loaded; the profile's when None.
        fail_on: thresholds, as in "exploit>0.01,fn>0.05,nondet>0".
        only: ids or families of probes; empty: all.
        archetype: what kind of verifier it is, where its stages do not tell.
        right: known right responses by task id, else those that the plugin of an environment's one
            stage declares.
        pass_mark: what counts as a pass; the environment's own, else 1, when None.
        patience: seconds for one response; 10 when None, and for an environment what its stages may
            take if that is more.
        fail_fast: end at the first probe that finds something.
        step: rollouts and seconds of a training step, for the question of who waits for whom.
        second, second_signature: another verifier that is asked about the same responses, named as
            ``target`` is.
        loading: seconds until a target must be ready.
        python: the interpreter that runs the target, where its packages are in an environment of
            their own.

    Raises:
        ConfigError: the target cannot be loaded or asked, or an argument makes no sense; nothing
            was audited.
    """
    return _audited(_Asked(**locals()))


@frozen(kw_only=True)
class _Asked:
    """The arguments of ``audit``, under the same names."""

    target: str
    signature: str
    tasks_from: str
    tasks: int | None
    seed: int
    budget: float | None
    profile: str
    fail_on: str
    only: Sequence[str]
    archetype: str
    right: Mapping[str, Sequence[str]] | None
    pass_mark: float | None
    patience: float | None
    progress: Progress | None
    fail_fast: bool
    step: tuple[int, float]
    second: str
    second_signature: str
    loading: float
    python: str


def _audited(asked: _Asked) -> Scorecard:
    limits = Thresholds.read(asked.fail_on)
    chosen, installed = _chosen(asked.only)
    most, budget = _profile(asked.profile, asked.budget)
    start = time.monotonic()
    spec, other = _specs(asked)
    with (
        _held(spec, asked.patience, asked.loading, not asked.right) as held,
        _opinion(other, asked.patience, asked.loading) as opinion,
    ):
        bench = _bench(
            held,
            sampled(held, asked.tasks or most, asked.seed, None if asked.tasks else budget),
            seed=asked.seed,
            budget=budget,
            right=asked.right or held.right,
            archetypes=(asked.archetype,) if asked.archetype else held.archetypes,
            full=asked.profile == "full",
            pass_mark=asked.pass_mark or held.pass_mark,
            second=opinion,
        )
        made = _all(chosen, bench, asked.progress, fail_fast=asked.fail_fast)
        results = confirmed(bench, made)
    card = Scorecard(
        asked.target,
        archetypes=bench.archetypes,
        pass_mark=bench.pass_mark,
        tasks=len(bench.tasks),
        tasks_in_all=len(held.tasks),
        seed=asked.seed,
        profile=asked.profile,
        budget=budget,
        results=results,
        probes=installed,
    )
    card = evolve(card, seconds=time.monotonic() - start, version=_version())
    return _judged(card, limits, asked.step)


def _specs(asked: _Asked) -> tuple[Spec, Spec]:
    """How the target is loaded, and the second verifier."""
    spec = Spec(
        placed(asked.target),
        asked.signature,
        placed(asked.tasks_from),
        asked.seed,
        size=min(MADE, asked.tasks + asked.tasks // 4) if asked.tasks else MADE,
        python=placed(asked.python),
    )
    other = evolve(
        spec,
        target=placed(asked.second),
        signature=asked.second_signature,
        tasks_from="",
        borrowed=True,
    )
    return spec, other


def _bench(
    held: Target, tasks: Sequence[Task], *, archetypes: Sequence[str], budget: float, **more: Any
) -> Bench:
    """The budget begins when all that probes ask with is loaded."""
    attacks = _hooks(held, archetypes, "rlenv_attacks")
    corpora = [(f"{one.name}, an attack of {use}", one.build) for use, one in attacks]
    # Only of the target's own stages: what keeps the meaning for one verifier may not for another.
    own = _hooks(held, (), "rlenv_rewrites") if held.uses else ()
    rewrites = [(f"{use}: {one.name}", one.apply, one.keeps) for use, one in own]
    known = tasks if more["second"] else [_said(task, more["right"]) for task in tasks]
    deadline = time.monotonic() + budget
    return Bench(
        held,
        known,
        archetypes=archetypes,
        corpora=corpora,
        rewrites=rewrites,
        deadline=deadline,
        **more,
    )


def _said(task: Task, right: Mapping[str, Sequence[str]]) -> Task:
    """The task; without its answer where a right response does not say it, as an expression does
    not say its value.
    """
    given = right.get(task.id or "")
    if not given or text_of(task.answer) is None or plainly_in(task, given[0]):
        return task
    return evolve(task, answer=None)


@contextmanager
def _opinion(spec: Spec, patience: float | None, loading: float) -> Iterator[Target | None]:
    """The second verifier, where one was named."""
    if not spec.target:
        yield None
        return
    with Target(spec, patience, loading) as held:
        if held.sides:
            raise ConfigError(
                f"--second {spec.target} judges responses side by side: it has no opinion of one"
                " alone"
            )
        yield held


def _held(spec: Spec, patience: float | None, loading: float, examples: bool) -> Target:  # noqa: FBT001 - as it is told
    """The target; with the tasks that only its plugin's examples have where ``examples`` says
    so.
    """
    held = Target(spec, patience, loading)
    if not examples:
        held.tasks = held.tasks[: len(held.tasks) - held.added]
    if not held.tasks:
        held.close()
        raise ConfigError(f"{spec.target} has no tasks, so there is nothing to ask it")
    first = held.ask(held.tasks[0], "")  # what it loads at its first call is not a probe's time
    held.alone = first.message if first.message.startswith("input: ") else ""
    return held


def _profile(name: str, budget: float | None) -> tuple[int, float]:
    if name not in PROFILES:
        raise ConfigError(f"--profile {name}: there are {', '.join(PROFILES)}")
    most, seconds = PROFILES[name]
    return most, seconds if budget is None else budget


def _judged(card: Scorecard, limits: Thresholds, step: tuple[int, float]) -> Scorecard:
    questions, figures = answered(card, step)
    card = evolve(card, questions=questions, figures=figures, asides=asides(card))
    use = allowed(card)
    card = evolve(card, figures={**figures, "allows": use.name if use else None})
    return evolve(card, crossed=crossed(card, limits))


def _version() -> str:
    try:
        return version("rlenv-auditor")
    except PackageNotFoundError:
        return "unknown"


def _chosen(only: Sequence[str]) -> tuple[list[Probe], int]:
    """The probes that were asked for, and how many are installed."""
    found = probes(only)
    known = [*dict.fromkeys(probe.family for probe in found), *(probe.id for probe in found)]
    for name in only:
        if name not in known:
            raise ConfigError(
                f"--only {name}: no such probe; {suggest(name, known, what='there are')}"
            )
    wanted = [probe for probe in found if not only or probe.id in only or probe.family in only]
    return wanted, len(found)


def _all(
    chosen: Sequence[Probe], bench: Bench, progress: Progress | None, *, fail_fast: bool
) -> tuple[Result, ...]:
    """Every probe with a fair share of the time that is left."""
    results: list[Result] = []
    for place, probe in enumerate(chosen):
        if progress is not None:
            progress(probe, place, len(chosen))
        left = bench.deadline - time.monotonic()
        others = len(chosen) - place
        if reason := _unfit(probe, bench):
            results.append(result(probe, "skipped", reason=reason, code="other-kind"))
        elif fail_fast and any(one.findings for one in results):
            found = "--fail-fast: something was found before"
            results.append(result(probe, "skipped", reason=found, code="fail-fast"))
        elif left <= 0:
            results.append(
                result(probe, "incomplete", reason="the budget ended before it", code="budget")
            )
        else:
            results.append(run(probe, bench, time.monotonic() + max(0.5, 4 * left / others)))
    return tuple(results)


def _unfit(probe: Probe, bench: Bench) -> str:
    """Why a probe is not for this target; "" where it is."""
    if bench.target.alone and probe.family != "policies":
        return f"it judges no response by itself: {bench.target.alone}"
    if bench.target.sides and not probe.sides:
        return "it judges responses side by side, and none alone"
    if probe.sides and not bench.target.sides:
        return "it judges responses one by one"
    if probe.archetypes and bench.archetypes and not set(probe.archetypes) & set(bench.archetypes):
        return f"for {', '.join(probe.archetypes)} only"
    return ""


def _hooks(target: Target, archetypes: Sequence[str], hook: str) -> Iterator[tuple[str, Any]]:
    """What the plugins of this target's stages give; for a stranger's verifier, what all that are
    installed give.
    """
    from rlenv import Attack, Rewrite  # brings pluggy, which is not lent to another Python
    from rlenv.plugins.registry import registry

    known = registry()
    wanted = target.uses or archetypes
    for info in known.infos():
        mine = [use for use in wanted if use.partition("/")[0] == info.name]
        if wanted and not mine:
            continue
        try:
            with redirect_stdout(sys.stderr):  # what a plugin prints is not part of the scorecard
                given = known.supplied(info.name, hook)
        except RlenvError:  # a plugin that is broken has no say here; `rlenv plugins` tells of it
            continue
        for short, values in given.items():
            if not target.uses or f"{info.name}/{short}" in target.uses:
                several = values if isinstance(values, (list, tuple)) else ()
                for value in several:
                    if isinstance(value, (Attack, Rewrite)):
                        yield f"{info.name}/{short}", value
