"""An audit from its target to its scorecard."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from attrs import evolve
from rlenv.errors import ConfigError, RlenvError
from rlenv.near import suggest
from rlenv.values import Task

from .bench import Bench
from .catalog import probes
from .model import Result, Scorecard
from .probes.base import Probe, result, run
from .questions import answered
from .target.process import Spec, Target
from .thresholds import Thresholds, crossed

__all__ = ["PROFILES", "audit"]

PROFILES: Mapping[str, tuple[int, float]] = {
    "ci": (40, 60.0),
    "full": (400, 1800.0),
}  # tasks, seconds


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
    patience: float = 10.0,
    progress: Callable[[Probe, int, int], None] | None = None,
    fail_fast: bool = False,
    step: tuple[int, float] = (256, 8.0),
) -> Scorecard:
    """Attack a verifier, and say how it fails.

    Args:
        target: an env.toml, an installed environment, or ``module:function``.
        signature: how a function is called: plain, trl, verl, verifiers, reasoning-gym, inspect.
        tasks_from: a file with the tasks of a function.
        tasks: how many tasks are tried; the profile's number when None.
        seed: of the sample and of everything that is drawn.
        budget: seconds for all probes; the profile's when None.
        fail_on: thresholds, as in "exploit>0.01,fn>0.05,nondet>0".
        only: ids or families of probes; empty: all.
        archetype: what kind of verifier it is, where its stages do not tell.
        right: known right responses by task id.
        pass_mark: what counts as a pass; the environment's own, else 1, when None.
        patience: seconds for one response.
        fail_fast: end at the first probe that finds something.
        step: rollouts and seconds of a training step, for the question of who waits for whom.

    Raises:
        ConfigError: the target cannot be loaded or asked, or an argument makes no sense; nothing was audited.
    """
    limits = Thresholds.read(fail_on)
    most, seconds = _profile(profile)
    budget = seconds if budget is None else budget
    start = time.monotonic()
    with _held(Spec(_placed(target), signature, _placed(tasks_from), seed), patience) as held:
        archetypes = (archetype,) if archetype else held.archetypes
        bench = Bench(
            held, _sample(held.tasks, most if tasks is None else tasks, seed), seed=seed,
            deadline=start + budget, right=right or {}, corpora=list(_attacks(held, archetypes)),
            rewrites=list(_rewrites(held)), archetypes=archetypes, full=profile == "full",
            pass_mark=held.pass_mark if pass_mark is None else pass_mark,
        )  # fmt: skip
        results = _all(_chosen(only), bench, progress, fail_fast=fail_fast)
    card = Scorecard(
        target, tuple(archetypes), bench.pass_mark, len(bench.tasks), len(held.tasks), seed, profile, budget,
        results, seconds=time.monotonic() - start, version=_version(),
    )  # fmt: skip
    return _judged(card, limits, step)


def _held(spec: Spec, patience: float) -> Target:
    held = Target(spec, patience)
    if not held.tasks:
        held.close()
        raise ConfigError(f"{spec.target} has no tasks, so there is nothing to ask it")
    return held


def _profile(name: str) -> tuple[int, float]:
    if name not in PROFILES:
        raise ConfigError(f"--profile {name}: there are {', '.join(PROFILES)}")
    return PROFILES[name]


def _judged(card: Scorecard, limits: Thresholds, step: tuple[int, float]) -> Scorecard:
    questions, figures = answered(card, step)
    return evolve(card, questions=questions, figures=figures, crossed=crossed(card, limits))


def _placed(name: str) -> str:
    """A file by its whole path, so that it is found from another working directory too."""
    return os.path.abspath(name) if name and os.path.exists(name) else name


def _version() -> str:
    try:
        return version("rlenv-audit")
    except PackageNotFoundError:
        return "unknown"


def _sample(tasks: Sequence[Task], most: int, seed: int) -> list[Task]:
    """So many tasks, the same for the same seed, in the order of the file."""
    if most < 1:
        raise ConfigError(f"--tasks {most}: one at least")
    if len(tasks) <= most:
        return list(tasks)
    chosen = sorted(random.Random(seed).sample(range(len(tasks)), most))  # noqa: S311 - no secret
    return [tasks[index] for index in chosen]


def _chosen(only: Sequence[str]) -> list[Probe]:
    found = probes()
    known = [*dict.fromkeys(probe.family for probe in found), *(probe.id for probe in found)]
    for name in only:
        if name not in known:
            raise ConfigError(
                f"--only {name}: no such probe; {suggest(name, known, what='there are')}"
            )
    return [probe for probe in found if not only or probe.id in only or probe.family in only]


def _all(
    chosen: Sequence[Probe],
    bench: Bench,
    progress: Callable[[Probe, int, int], None] | None,
    *,
    fail_fast: bool,
) -> tuple[Result, ...]:
    """Every probe with a fair share of the time that is left."""
    results: list[Result] = []
    for place, probe in enumerate(chosen):
        if progress is not None:
            progress(probe, place, len(chosen))
        left = bench.deadline - time.monotonic()
        others = len(chosen) - place
        if (
            probe.archetypes
            and bench.archetypes
            and not set(probe.archetypes) & set(bench.archetypes)
        ):
            results.append(
                result(probe, "skipped", reason=f"for {', '.join(probe.archetypes)} only")
            )
        elif fail_fast and any(one.findings for one in results):
            results.append(
                result(probe, "skipped", reason="--fail-fast: something was found before")
            )
        elif left <= 0:
            results.append(result(probe, "incomplete", reason="the budget ended before it"))
        else:
            results.append(run(probe, bench, time.monotonic() + max(0.5, 4 * left / others)))
    return tuple(results)


def _hooks(target: Target, archetypes: Sequence[str], hook: str) -> Iterator[tuple[str, Any]]:
    """What the plugins of this target's stages give; for a stranger's verifier, what all that are installed give."""
    from rlenv.plugins import registry

    known = registry()
    wanted = target.uses or archetypes
    for info in known.infos():
        mine = [use for use in wanted if use.partition("/")[0] == info.name]
        if wanted and not mine:
            continue
        try:
            given = known.supplied(info.name, hook)
        except RlenvError:  # a plugin that is broken has no say here; `rlenv plugins` tells of it
            continue
        for short, values in given.items():
            if not target.uses or f"{info.name}/{short}" in target.uses:
                yield from ((f"{info.name}/{short}", value) for value in values)


def _attacks(
    target: Target, archetypes: Sequence[str]
) -> Iterator[tuple[str, Callable[[Task], Any]]]:
    for use, attack in _hooks(target, archetypes, "rlenv_attacks"):
        yield f"{use}: {attack.name}", attack.build


def _rewrites(target: Target) -> Iterator[tuple[str, Callable[[Task, str], Any], bool]]:
    """Only of the target's own stages: what keeps the meaning for one verifier may not for another."""
    if target.uses:
        for use, rewrite in _hooks(target, (), "rlenv_rewrites"):
            yield f"{use}: {rewrite.name}", rewrite.apply, rewrite.keeps
