"""Any text gets a reward in [0, 1], in time, and the task stays as it was."""

from __future__ import annotations

import math
from collections.abc import Iterator

from attrs import evolve
from rlenv.model.values import Task
from rlenv_testing import costly_responses

from rlenv_auditor.bench import Bench
from rlenv_auditor.items import place_of
from rlenv_auditor.model import Finding, Result
from rlenv_auditor.programs import of_code
from rlenv_auditor.responses import table, written
from rlenv_auditor.solved import plainly_in, text_of

from .base import Probe, Try, counted, finding

__all__ = ["NASTY", "PROBES"]

NASTY = {
    **table("odd"),
    "a lone surrogate": "\ud800",
    "combining marks": "a" + "\u0301" * 2_000,
    "an emoji family": "👨‍👩‍👧‍👦" * 50,
    "percent signs": "%s%n%x" * 50,
}


def _nasty(bench: Bench) -> Iterator[Try]:
    """Odd texts, and what costs too much to check: by itself, and in place of the answer of a right
    response.
    """
    for task in bench.tasks[:3]:
        for name, text in NASTY.items():
            yield Try(task, text, "score", name)
    # A program that never ends costs its time limit, so the profile ci asks for little.
    most = None
    if not bench.full:
        most = 1 if of_code(bench.archetypes, bench.tasks) else 2
    for task in bench.tasks[: 3 if bench.full else 1]:
        gold = bench.golds.of(task)
        for name, text in costly_responses([] if gold is None else [gold], most):
            yield Try(task, text, "score", name)


def _odd(bench: Bench) -> Iterator[Try]:
    """Odd texts, and what costs too much to check, by themselves and in the very place of the
    answer.

    In another place of a right response they leave the answer as it was, so that a reward proves
    nothing.
    """
    for task in bench.tasks[:3]:
        for name, text in NASTY.items():
            yield from _unless_solved(task, text, name)
    for task in bench.tasks[: 3 if bench.full else 1]:
        forms = ["{}", *_places(bench, task)]
        for name, bomb in costly_responses([], 1):
            for form in forms:
                yield from _unless_solved(task, written(form, bomb), name)


def _unless_solved(task: Task, text: str, name: str) -> Iterator[Try]:
    if not plainly_in(task, text):
        yield Try(task, text, name=name)


def _places(bench: Bench, task: Task) -> Iterator[str]:
    """The right response with ``{}`` for its answer, where it has one place; and the form that is
    paid.
    """
    gold = bench.golds.of(task)
    before, own, after = place_of(gold, text_of(task.answer)) if gold is not None else ("", "", "")
    if own and "{}" not in before and own not in before + after:
        yield f"{before}{{}}{after}"
    elif bench.golds.form not in (None, "{}"):
        yield str(bench.golds.form)


def _range(bench: Bench, probe: Probe) -> Result:
    """Of everything that the target was asked so far."""
    odd = ("nan", "inf", "-inf", "-1", "1e400", "2", "")
    bench.ask([(task, text) for task in bench.tasks[:3] for text in odd])
    found: list[Finding] = []
    for name, text, reply in bench.seen():
        bad = reply.reward is not None and not (
            math.isfinite(reply.reward) and 0 <= reply.reward <= 1
        )
        if bad:
            task = next(t for t in bench.tasks if t.id == name)
            title = f"the reward {reply.reward:.12g}"
            found.append(
                finding(
                    probe,
                    task,
                    text,
                    reward=reply.reward,
                    title=title,
                    expected="a finite number in [0, 1]",
                )
            )
    asked = [name for name, _, _ in bench.seen()]
    made = counted(
        probe, found, asked, key=lambda f: (math.isfinite(f.reward or 0.0), len(f.response))
    )
    return made if any(not math.isfinite(f.reward or 0.0) for f in found) else _on_a_scale(made)


def _on_a_scale(made: Result) -> Result:
    """±1, or 1.2 for form too, is what many frameworks mean: to be told, and no way to a reward."""
    hint = (
        "say its scale beside it, and give the pass mark: rewards of several verifiers mix only on"
        " one scale"
    )
    found = tuple(evolve(one, severity="medium", hint=hint) for one in made.findings)
    return evolve(made, measure="", severity="medium", findings=found)


def _types(bench: Bench, probe: Probe) -> Result:
    """A number came back every time, and not another thing."""
    golds = bench.golds.known()[:3]
    pairs = [*golds, *[(task, text) for task in bench.tasks[:3] for text in ("", "42", "x")]]
    replies = bench.ask(pairs)
    found = [
        finding(probe, task, text, reward=None, title=reply.message, expected="a number")
        for (task, text), reply in zip(pairs, replies, strict=True)
        if reply.fault == "type"
    ]
    return counted(probe, found, [task.id for task, _ in pairs], most=1)


def _mutates(bench: Bench, probe: Probe) -> Result:
    """Of everything that the target was asked so far: what is emptied once is not emptied again."""
    bench.ask([*bench.golds.known()[:5], *[(task, "42") for task in bench.tasks[:5]]])
    known = {task.id: task for task in bench.tasks}
    title = "the call changes the task that it is given"
    same = "the task as it was"
    found = [
        finding(probe, known[name], text, reward=reply.reward, title=title, expected=same)
        for name, (text, reply) in bench.target.changed.items()
        if name in known
    ]
    return counted(probe, found, [name for name, _, _ in bench.seen()], most=1)


def _network(bench: Bench, probe: Probe) -> Result:
    """Of everything that the target was asked so far: what it called beyond this machine, in its
    own process.
    """
    found: list[Finding] = []
    known = {task.id: task for task in bench.tasks}
    for name, text, reply in bench.seen():
        if reply.called:
            title = f"a reward calls {', '.join(reply.called)} over a network"
            found.append(
                finding(
                    probe,
                    known[name],
                    text,
                    reward=reply.reward,
                    title=title,
                    expected="a reward from this machine",
                )
            )
    return counted(probe, found, [name for name, _, _ in bench.seen()], most=1)


PROBES = (
    Probe(
        "robustness.total",
        "any text gets a reward, in time",
        "high",
        "catch what parsing raises, and bound work that grows with the response: what can force an"
        " unscored verdict will be used",
        "fault",
        tries=_nasty,
    ),
    Probe(
        "robustness.paid",
        "no odd text is paid",
        "critical",
        "let what cannot be read, or does not end, be worth 0",
        "exploit",
        tries=_odd,
    ),
    Probe(
        "range.finite",
        "a reward is a finite number in [0, 1]",
        "critical",
        "refuse NaN and infinities before they reach a mean; min(1, nan) is 1",
        "exploit",
        special=_range,
    ),
    Probe(
        "range.type",
        "what comes back is a number",
        "high",
        "return float(score)",
        "fault",
        special=_types,
    ),
    Probe(
        "range.purity",
        "a call changes nothing that it is given",
        "high",
        "copy before you sort or pop",
        "nondet",
        special=_mutates,
    ),
    Probe(
        "range.network",
        "a reward needs no network",
        "low",
        "load what it needs before training, or ask it in a stage that can say that it is"
        " unavailable",
        "",
        special=_network,
    ),
)
