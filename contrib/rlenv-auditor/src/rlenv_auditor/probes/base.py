"""Runs probes: hypotheses about a verifier, and the responses that test them."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from attrs import evolve, frozen
from rlenv.model.values import Task

from rlenv_auditor.bench import Bench, OutOfBudget
from rlenv_auditor.codes import BY_MUST, code_of
from rlenv_auditor.model import Finding, Reply, Result, Severity, Status
from rlenv_auditor.openness import is_open
from rlenv_auditor.stages import responsible, scores_of
from rlenv_auditor.statistics import rate

__all__ = [
    "Probe",
    "Skip",
    "Try",
    "counted",
    "expecting",
    "finding",
    "result",
    "run",
    "safely",
    "status_of",
    "unanimous",
]

# What they ask solves nothing.
NOTHING = ("baselines", "gold.swap", "exploits.programs", "exploits.injection")
NEARLY = 0.9  # of the pass mark: a wrong answer that gets so much is all but paid
MOST_FINDINGS = 3  # of one probe; the rate tells how many more there are


class Skip(Exception):
    """Why a probe cannot be run on this target; it is listed, and never counts as passed.

    Args:
        reason: in words.
        code: for programs, a key of ``codes.SKIPPED``.
    """

    def __init__(self, reason: str, code: str = "other") -> None:
        super().__init__(reason)
        self.code = code


@frozen
class Probe:
    """One hypothesis.

    Args:
        id: unique: "baselines.empty".
        hypothesis: what is true of a sound verifier, in one line.
        severity: of its findings.
        hint: how to close the hole.
        measure: "exploit", "fn", "nondet", "fault", "leak" or "": which threshold its rate belongs
            to.
        tries: the responses, task by task, for ``expecting``; or
        special: does it all by itself.
        archetypes: what it applies to; empty: everything.
        sides: whether it asks for responses side by side, and so judges of pairs and groups only.
    """

    id: str
    hypothesis: str
    severity: Severity
    hint: str
    measure: str = "exploit"
    tries: Callable[[Bench], Iterable[Try]] | None = None
    special: Callable[[Bench, Probe], Result] | None = None
    archetypes: tuple[str, ...] = ()
    sides: bool = False

    @property
    def family(self) -> str:
        return self.id.partition(".")[0]


@frozen
class Try:
    """One response and what should come of it.

    Args:
        must: "fail" (below the pass mark), "lose" (well below it), "pass", or "score" (some reward,
            whichever).
        name: of the variant, for the title of a finding.
        other: whether it is another answer, which may be right where a task has several.
        instead: a right response, which this one equals where an episode leaves the same state for
            both.
    """

    task: Task
    response: str
    must: str = "fail"
    name: str = ""
    other: bool = False
    instead: str | None = None


def finding(  # noqa: PLR0917 - what was found, in its order
    probe: Probe,
    task: Task | None,
    response: str,
    reward: float | None,
    title: str,
    expected: str,
    **more: Any,
) -> Finding:
    """A finding of a probe, with an id that stays the same from run to run."""
    digest = hashlib.sha256(
        f"{probe.id}\0{task.id if task else ''}\0{response}".encode("utf-8", "surrogatepass")
    )
    number = f"{probe.id}/{digest.hexdigest()[:8]}"
    name = str(task.id) if task is not None else ""
    code = str(more.pop("code", "")) or code_of(probe.id, probe.measure)
    return Finding(
        id=number,
        probe=probe.id,
        family=probe.family,
        severity=probe.severity,
        title=title,
        task=name,
        response=response,
        reward=reward,
        expected=expected,
        hint=probe.hint,
        more=more,
        code=code,
    )


def run(probe: Probe, bench: Bench, until: float) -> Result:
    """Run one probe within its share of the time.  Never raises for what a target does."""
    start = time.monotonic()
    calls = bench.target.calls
    bench.grant(until)
    try:
        if probe.special is not None:
            made = probe.special(bench, probe)
        else:
            assert probe.tries is not None
            made = expecting(bench, probe, probe.tries(bench))
    except Skip as skip:
        made = result(probe, "skipped", reason=str(skip), code=skip.code)
    except OutOfBudget:
        reason = "the budget ended before its first result"
        made = result(probe, "incomplete", reason=reason, code="budget")
    bench.told |= {(found.task, found.response) for found in made.findings}
    return evolve(made, seconds=time.monotonic() - start, calls=bench.target.calls - calls)


def result(probe: Probe, status: Any, **more: Any) -> Result:
    """A result with what the probe says of itself."""
    return Result(
        probe=probe.id,
        family=probe.family,
        status=status,
        hypothesis=probe.hypothesis,
        severity=probe.severity,
        measure=probe.measure,
        **more,
    )


def status_of(*, found: bool, complete: bool) -> Status:
    """Return the status of a probe that ran: a finding counts even if the probe did not end."""
    if found:
        return "found"
    return "clean" if complete else "incomplete"


def counted(
    probe: Probe,
    found: Sequence[Finding],
    asked: Iterable[str | None],
    most: int = 2,
    key: Callable[[Finding], Any] = lambda one: len(one.response),
) -> Result:
    """What a probe says that counts by itself: found or clean, the share of the tasks asked, and
    the first of its findings.
    """
    hit = {one.task for one in found}
    hits = rate(len(hit), len(hit.union(map(str, asked))))
    first = tuple(sorted(found, key=key)[:most])
    return result(probe, "found" if found else "clean", rate=hits, findings=first)


def expecting(bench: Bench, probe: Probe, tries: Iterable[Try]) -> Result:
    """Ask every response, and count the tasks on which one of them is not treated as it must be."""
    asked: dict[str | None, bool] = {}
    wrong: list[tuple[Try, Reply]] = []
    open_refused = 0
    complete = True
    busy = 0
    for part in _parts(tries, 64):
        if not complete:
            break
        pairs = [(one.task, one.response) for one in part]
        try:
            bench.ask(pairs)
        except OutOfBudget:
            complete = False
        for place, reply in bench.answered(pairs):
            one = part[place]
            if reply.transient:  # the machine's fault, twice
                busy += 1
                continue
            bad = _bad(bench, one, reply)
            _note(bench, probe, one, reply)
            asked[one.task.id] = asked.get(one.task.id, False) or bad
            if bad:
                wrong.append((one, reply))
            elif one.other and is_open(one.task):
                open_refused += 1
    wrong = _proven(wrong, asked, refused=open_refused)
    if not asked:
        raise (
            Skip("there is nothing to try on these tasks", "nothing-to-try")
            if complete and not busy
            else OutOfBudget
        )
    hits = rate(sum(asked.values()), len(asked))
    reason = "" if complete else "the budget ended before all tasks were tried"
    reason = reason or (f"{busy} responses got no reward for want of the machine" if busy else "")
    status = status_of(found=bool(wrong), complete=not reason)
    found = tuple(_findings(bench, probe, wrong))
    code = ""
    if reason:
        code = "machine-busy" if complete else "budget"
    return result(probe, status, rate=hits, findings=found, reason=reason, code=code)


def _proven(
    wrong: Sequence[tuple[Try, Reply]],
    asked: dict[str | None, bool],
    *,
    refused: int,
) -> list[tuple[Try, Reply]]:
    """Without what may be right: an answer to a task that has several.

    A verifier that rejects some answers to such tasks judges them; only one that pays all of them
    is shown to judge none.
    """
    if not refused:
        return list(wrong)
    proven = [pair for pair in wrong if not (pair[0].other and is_open(pair[0].task))]
    hit = {one.task.id for one, _ in proven}
    for task in asked:
        asked[task] = task in hit
    return proven


def _note(bench: Bench, probe: Probe, one: Try, reply: Reply) -> None:
    """Keep the most that a kind of response earned on a task that it does not solve."""
    if one.must == "fail" and (probe.family in NOTHING or probe.id in NOTHING):
        earned = min(1.0, max(0.0, reply.reward or 0.0)) if reply.reward == reply.reward else 0.0
        tasks = bench.earned.setdefault(one.name or probe.id, {})
        tasks[one.task.id] = max(
            tasks.get(one.task.id, (0.0, one.response)),
            (earned, one.response),
            key=lambda two: two[0],
        )


def _bad(bench: Bench, one: Try, reply: Reply) -> bool:
    if one.instead is not None and reply.state:
        right = bench.ask([(one.task, one.instead)])[0]
        if right.state == reply.state:
            return False
    if one.must == "fail":
        return bench.pays(reply)
    if one.must == "lose":
        return reply.reward is not None and reply.reward >= NEARLY * bench.pass_mark
    if one.must == "pass":
        return not bench.pays(reply)
    return reply.reward is None


def _findings(bench: Bench, probe: Probe, wrong: Sequence[tuple[Try, Reply]]) -> Iterator[Finding]:
    """The shortest response of each variant that went wrong; one that several have goes by the
    shortest name.
    """
    shortest = sorted(wrong, key=lambda pair: (len(pair[0].response), len(pair[0].name)))
    best = {one.name: (one, reply) for one, reply in reversed(shortest)}
    texts = {
        one.response: (one, reply) for one, reply in reversed(shortest) if best[one.name][0] is one
    }
    mark = f"{bench.pass_mark:g}"
    expected = {
        "fail": f"below {mark}",
        "lose": f"below {NEARLY * bench.pass_mark:g}",
        "pass": f"{mark} or more",
        "score": "a reward",
    }
    for one, reply in list(reversed(texts.values()))[:MOST_FINDINGS]:
        paid = (
            f"{reply.fault}: {reply.message}"
            if reply.reward is None
            else f"reward {reply.reward:g}"
        )
        count = sum(other.name == one.name for other, _ in wrong)
        by = responsible(reply, bench.weights, paid=one.must in ("fail", "lose"))
        title = f"{one.name or probe.id}: {paid}{_from(by)}{f' ({count} responses)' * (count > 1)}"
        more: dict[str, Any] = {"stages": scores_of(reply)} if reply.stages else {}
        code = _code(bench, one, reply)
        yield finding(
            probe,
            one.task,
            one.response,
            reward=reply.reward,
            title=title,
            expected=expected[one.must],
            code=code,
            **more,
        )


def _from(stages: Sequence[str]) -> str:
    return f" from {' and '.join(stages)}" if stages else ""


def _code(bench: Bench, one: Try, reply: Reply) -> str:
    if reply.reward is None:
        return "no-reward"
    if one.must == "lose":
        return "wrong-response-paid" if bench.pays(reply) else "wrong-response-nearly-paid"
    return BY_MUST[one.must]


def unanimous(bench: Bench, tries: Sequence[Try]) -> Sequence[Try]:
    """Tries of one task, all paid or none; empty where only some are: several may be right."""
    paid = {bench.pays(r) for r in bench.ask([(one.task, one.response) for one in tries])}
    return tries if len(paid) < 2 else ()


def safely(function: Callable[..., object], *given: object) -> str | None:
    """The text that somebody's plugin makes; None where it makes none, or knows no such task."""
    try:
        made = function(*given)
    except Exception:  # noqa: BLE001 - see above
        return None
    return made if isinstance(made, str) else None


def _parts(tries: Iterable[Try], size: int) -> Iterator[list[Try]]:
    left = iter(tries)
    while part := list(islice(left, size)):
        yield part
