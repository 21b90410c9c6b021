"""Mutants of the golden program: a task's tests are as good as the mistakes that they refuse."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from attrs import evolve, frozen
from rlenv.model.values import Task

from rlenv_auditor.bench import Bench, OutOfBudget
from rlenv_auditor.model import Finding, Result
from rlenv_auditor.programs import arguments, difference, entry_point, of_code, program_of
from rlenv_auditor.statistics import rate
from rlenv_auditor.telling import Alike, call, like, told_apart

from .base import Probe, Skip, finding, result, status_of

__all__ = ["PROBES"]

POOR = 0.5  # of the mutants: no set of equivalent ones is as large as the rest
LISTED = 40  # survivors in the scorecard
NO_MUTANTS = "mutants are made by rlenv-plugin-code, which is not installed"


@frozen
class _Mutant:
    """A program with one mistake, written into the golden response."""

    task: Task
    golden: str
    source: str
    what: str
    response: str
    apart: Sequence[Any] | None = None

    @property
    def shown(self) -> dict[str, Any]:
        told = call(entry_point(self.task), self.apart) if self.apart is not None else None
        return {
            "task": self.task.id,
            "what": self.what,
            "diff": difference(self.golden, self.source),
            "differs on": told,
        }


def _score(bench: Bench, probe: Probe) -> Result:
    """Ask every mutant; of those that are paid, say which are known to answer otherwise than the
    golden program.
    """
    golds = _programs(bench)
    killed = 0
    survivors = []
    tried = set()
    complete = True
    for task, gold, program in golds:
        made = _mutants(bench, task, gold, program)
        try:
            replies = bench.ask([(task, mutant.response) for mutant in made])
        except OutOfBudget:
            complete = False
            break
        scored = [(m, r) for m, r in zip(made, replies, strict=True) if r.reward is not None]
        if scored:
            tried.add(task.id)
        alive = [mutant for mutant, reply in scored if bench.pays(reply)]
        killed += len(scored) - len(alive)
        survivors += alive
    if not tried:
        if not complete:
            raise OutOfBudget
        raise Skip(
            "no golden program is paid that a mistake could be made in", "right-response-not-paid"
        )
    return _told(bench, probe, killed, _judged(bench, survivors), tried, complete=complete)


def _programs(bench: Bench) -> list[tuple[Task, str, str]]:
    """(task, golden response, its program), of those that are paid."""
    if not of_code(bench.archetypes, bench.tasks):
        raise Skip("it does not verify programs", "other-kind")
    _maker()
    golds = [(t, g, p) for t, g in bench.golds.known() if (p := program_of(g)) is not None]
    if not golds:
        raise Skip(
            "its tasks hold no golden program; give right programs with --right FILE",
            "no-right-response",
        )
    replies = bench.ask([(task, gold) for task, gold, _ in golds])
    paid = [one for one, reply in zip(golds, replies, strict=True) if bench.pays(reply)]
    if not paid:
        raise Skip(
            "no golden program gets a reward, so mistakes in it cannot be measured",
            "right-response-not-paid",
        )
    return paid


def _maker() -> Callable[..., Any]:
    """What makes mutants, of a plugin that need not be installed."""
    try:
        made: Callable[..., Any] = import_module("rlenv_plugin_code.mutate").mutants
    except ImportError:
        raise Skip(NO_MUTANTS, "not-installed") from None
    return made


def _mutants(bench: Bench, task: Task, gold: str, program: str) -> list[_Mutant]:
    most = 40 if bench.full else 12
    try:
        made = _maker()(program, most, zlib.crc32(f"{bench.seed}/{task.id}".encode()))
    except (SyntaxError, ValueError, RecursionError):  # another language
        return []
    return [
        _Mutant(
            task, program, m.source, f"line {m.line}: {m.what}", gold.replace(program, m.source)
        )
        for m in made
    ]


def _judged(bench: Bench, alive: Sequence[_Mutant]) -> list[_Mutant]:
    """Survivors, each with an input on which it answers otherwise, where one is found."""
    by_task: dict[str | None, list[_Mutant]] = {}
    for mutant in alive:
        by_task.setdefault(mutant.task.id, []).append(mutant)
    groups = [_alike(bench, some) for some in by_task.values()]
    found = told_apart(groups) if groups else []
    return [
        evolve(mutant, apart=apart)
        for some, told in zip(by_task.values(), found, strict=True)
        for mutant, apart in zip(some, told, strict=True)
    ]


def _alike(bench: Bench, some: Sequence[_Mutant]) -> Alike:
    task = some[0].task
    known = arguments(task)
    inputs = like(known, f"{bench.seed}/{task.id}") if known else []
    return Alike(some[0].golden, [m.source for m in some], entry_point(task), inputs)


def _told(
    bench: Bench,
    probe: Probe,
    killed: int,
    survivors: Sequence[_Mutant],
    tried: set[str | None],
    *,
    complete: bool,
) -> Result:
    score = rate(killed, killed + len(survivors))
    wrong = sorted((m for m in survivors if m.apart is not None), key=lambda m: len(m.response))
    found = [_paid(bench, probe, mutant, len(wrong)) for mutant in wrong[:2]]
    if not found and survivors and score.high < POOR:
        found = [_weak(bench, probe, survivors[0], killed, len(survivors))]
    hit = {m.task.id for m in wrong} or {f.task for f in found}
    figures = {
        "mutation score": score.share,
        "low": score.low,
        "high": score.high,
        "killed": killed,
        "mutants": score.trials,
        "survivors": [
            m.shown for m in [*wrong, *(m for m in survivors if m.apart is None)][:LISTED]
        ],
        "known to answer otherwise": len(wrong),
    }
    reason = f"mutation score {score} mutants are rejected"
    if survivors:
        reason += (
            f"; of {len(survivors)} that are paid, {len(wrong)} answer otherwise than the golden"
            " program, the others may equal it"
        )
    reason += "" if complete else "; the budget ended before all tasks were tried"
    status = status_of(found=bool(found), complete=complete)
    share = rate(len(hit), len(tried))
    return result(probe, status, rate=share, findings=tuple(found), figures=figures, reason=reason)


def _paid(bench: Bench, probe: Probe, mutant: _Mutant, count: int) -> Finding:
    assert mutant.apart is not None
    more = f" (and {count - 1} more)" if count > 1 else ""
    title = (
        f"a program with a mistake is paid ({mutant.what}){more}; it differs on"
        f" {call(entry_point(mutant.task), mutant.apart)}"
    )
    return _found(bench, probe, mutant, title)


def _weak(bench: Bench, probe: Probe, mutant: _Mutant, killed: int, alive: int) -> Finding:
    title = (
        f"{alive} of {alive + killed} programs with a mistake are paid, more than equivalent ones"
        f" explain: {mutant.what}"
    )
    return _found(bench, probe, mutant, title)


def _found(bench: Bench, probe: Probe, mutant: _Mutant, title: str) -> Finding:
    reward = bench.ask([(mutant.task, mutant.response)])[0].reward
    expected = f"below {bench.pass_mark:g}"
    diff = difference(mutant.golden, mutant.source)
    return finding(
        probe,
        mutant.task,
        mutant.response,
        reward=reward,
        title=title,
        expected=expected,
        diff=diff,
    )


PROBES = (
    Probe(
        "mutation.score",
        "a task's tests refuse a golden program with a mistake in it",
        "medium",
        "add the input that tells them apart to the task's tests; a mutant that no allowed input"
        " tells apart is no mistake",
        special=_score,
    ),
)
