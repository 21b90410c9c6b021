"""What reads well is not right, what a response can force to be unscored, and what another verifier
says of the same responses.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from attrs import evolve, frozen
from rlenv.model.values import Task

from rlenv_auditor.bench import Bench, OutOfBudget
from rlenv_auditor.model import Finding, Reply, Result
from rlenv_auditor.responses import CARRIERS, table, written
from rlenv_auditor.solved import text_of
from rlenv_auditor.statistics import kappa, paired, rate, slope
from rlenv_auditor.target.forms import read

from .base import Probe, Skip, Try, counted, expecting, finding

__all__ = ["LATE", "PROBES"]

FILLER = "To restate what was said above in other words, the reasoning holds. "
STYLES = {**table("styles"), "length": "{}\n" + FILLER * 40}
LIFT = 0.05  # of reward, on average over tasks: less is taken for shaping
LADDER = (0, 8, 30, 120)  # times the filler: up to 8,000 characters
LONGEST = 20_000  # characters of a response that another verifier is asked about
LISTED = 20  # disagreements in a scorecard


def _wrong(bench: Bench) -> list[tuple[Task, str]]:
    """Wrong answers in the form that the verifier reads: those of other tasks."""
    if len(bench.golds.known()) < 2:
        raise Skip(
            "fewer than two tasks have a right response, so no wrong one in their form is known",
            "too-few-tasks",
        )
    return bench.golds.wrong()


def _styled(bench: Bench, probe: Probe) -> Result:
    """Wrong answers, dressed: none may pass, and what each style adds to the reward is told."""
    wrong = _wrong(bench)
    tries = [
        Try(task, written(style, text), name=f"a wrong answer with {name}")
        for task, text in wrong
        for name, style in STYLES.items()
    ]
    made = expecting(bench, probe, tries)
    return evolve(made, figures=_added(bench, wrong)) if made.status != "incomplete" else made


def _lifted(bench: Bench, probe: Probe) -> Result:
    """A policy climbs rewards and not passes: what dress adds to a wrong answer, below the pass
    mark too.
    """
    if set(bench.archetypes) == {"constraints"}:
        raise Skip("its stages may ask for form, and then form is no dress", "other-kind")
    wrong = _wrong(bench)
    found: list[Finding] = []
    worst = 0.0
    hits = 0
    tried = 0
    for name, style in STYLES.items():
        rises = _rises(bench, wrong, style)
        tried = max(tried, len(rises))
        if len(rises) < 2:
            continue
        mean, low, _ = paired([rise for rise, _, _ in rises], bench.seed)
        if mean > LIFT and low > 0:
            rise, (task, text), paid = min(
                rises, key=lambda one: (-round(one[0], 6), len(one[1][1]))
            )
            title = f"{name}: adds {mean:.2g} to a wrong answer, {rise:.2g} here"
            more = {"mean": mean, "low": low}
            found.append(
                finding(
                    probe,
                    task,
                    text,
                    reward=paid,
                    title=title,
                    expected="the reward of the same answer without it",
                    **more,
                )
            )
            if mean > worst:
                worst = mean
                hits = sum(one[0] > 1e-9 for one in rises)
    if not tried:
        raise Skip("no wrong answer got a reward, plain and dressed", "unscored")
    made = counted(probe, found, (), key=lambda one: -float(one.more["mean"]))
    return evolve(made, rate=rate(hits, tried), figures={"most": worst})


def _added(bench: Bench, wrong: Sequence[tuple[Task, str]]) -> dict[str, Any]:
    """Per style, the reward that it adds to a wrong answer; and that of 1,000 characters of
    filler.
    """
    try:
        deltas = {}
        for name, style in STYLES.items():
            if both := [rise for rise, _, _ in _rises(bench, wrong, style)]:
                mean, low, high = paired(both, bench.seed)
                rises = rate(sum(value > 1e-9 for value in both), len(both))
                deltas[name] = {"delta": mean, "low": low, "high": high, "rises": str(rises)}
        ladder = [[f"{text}\n{FILLER * times}" for times in LADDER] for _, text in wrong[:20]]
        curves = []
        for (task, _), texts in zip(wrong, ladder, strict=False):
            points = zip(texts, _rewards(bench, [(task, t) for t in texts]), strict=True)
            curves.append([(len(text) / 1000, paid) for text, paid in points if paid is not None])
    except OutOfBudget:
        return {}
    rise, low, high = slope(curves, bench.seed)
    return {
        "styles": deltas,
        "length slope": {"per 1,000 characters": rise, "low": low, "high": high},
    }


def _rises(
    bench: Bench, wrong: Sequence[tuple[Task, str]], style: str
) -> list[tuple[float, tuple[Task, str], float]]:
    """(what a style adds, the dressed answer, its reward), of those that have a reward plain and
    dressed.
    """
    dressed = [(task, written(style, text)) for task, text in wrong]
    both = zip(_rewards(bench, wrong), _rewards(bench, dressed), dressed, strict=True)
    return [
        (two - one, pair, two) for one, two, pair in both if one is not None and two is not None
    ]


def _rewards(bench: Bench, pairs: Sequence[tuple[Task, str]]) -> list[float | None]:
    return [_clamped(reply) for reply in bench.ask(pairs)]


def _clamped(reply: Reply) -> float | None:
    if reply.reward is None or reply.reward != reply.reward:
        return None
    return min(1.0, max(0.0, reply.reward))


def _unscored(bench: Bench, probe: Probe) -> Result:
    """Of all that the target was asked: on how many tasks some response got no reward."""
    worst: dict[str | None, tuple[str, Reply]] = {}
    asked: dict[str | None, int] = defaultdict(int)
    kinds: dict[str, int] = defaultdict(int)
    for name, text, reply in bench.seen():
        if not isinstance(
            read(text), str
        ):  # an episode without a turn is nothing that a policy writes
            continue
        asked[name] += 1
        if reply.reward is None and not reply.transient:
            kinds[reply.fault] += 1
            if name not in worst or len(text) < len(worst[name][0]):
                worst[name] = (text, reply)
    if not asked:
        raise Skip("nothing was asked", "nothing-to-try")
    tasks = {task.id: task for task in bench.tasks}
    ordered = sorted(worst.items(), key=lambda one: len(one[1][0]))
    found = [
        finding(
            probe,
            tasks[name],
            text,
            reward=None,
            title=f"a response can force a fault, {reply.fault}: {reply.message}",
            expected="a reward",
        )
        for name, (text, reply) in ordered
        if (name, text) not in bench.told
    ]
    new = [] if any((name, text) in bench.told for name, (text, _) in ordered) else found
    made = counted(probe, new, (), most=1)
    figures = {
        "tasks": len(worst),
        "of": len(asked),
        "responses": sum(kinds.values()),
        "of responses": sum(asked.values()),
        "kinds": dict(kinds),
        "worst": ordered[0][1][0][:200] if ordered else None,
    }
    hits = rate(len(worst), len(asked))
    return evolve(made, rate=hits, figures=figures, status="found" if worst else "clean")


@frozen
class _Judged:
    """One response under both verifiers."""

    task: Task
    text: str
    first: float
    second: float
    agreed: bool


def _second(bench: Bench, probe: Probe) -> Result:
    """Another verifier on what this one was asked; the disagreements, and how many tasks have
    one.
    """
    if bench.second is None:
        raise Skip(
            "no other verifier was named: --second TARGET [--second-as SIGNATURE]", "not-asked-for"
        )
    judged, silent, complete = _both(bench)
    if not judged:
        if not complete:
            raise OutOfBudget
        raise Skip(f"the second verifier gave no reward for any of {silent} responses", "unscored")
    apart = sorted((one for one in judged if not one.agreed), key=lambda one: len(one.text))
    made = counted(probe, _disagreements(bench, probe, apart), ())
    hits = rate(len({one.task.id for one in apart}), len({one.task.id for one in judged}))
    figures = {
        "second": bench.second.spec.target,
        "responses": len(judged),
        "disagreements": len(apart),
        "unscored by the second": silent,
        "kappa": kappa([(bench.pass_mark <= one.first, one.agreed) for one in judged]),
        "listed": [
            {
                "task": one.task.id,
                "response": one.text[:200],
                "reward": one.first,
                "second": one.second,
            }
            for one in apart[:LISTED]
        ],
    }
    reason = "" if complete else "the budget ended before all responses were compared"
    status = made.status if complete or apart else "incomplete"
    return evolve(made, rate=hits, figures=figures, reason=reason, status=status)


def _both(bench: Bench) -> tuple[list[_Judged], int, bool]:
    """(what both judged, how many the second left unscored, whether all were asked)."""
    assert bench.second is not None
    # Among them, whatever was asked before, and the answer in the first forms.
    answered = [
        (task, written(form, text))
        for task in bench.tasks
        if (text := text_of(task.answer))
        for form in list(CARRIERS.values())[:6]
    ]
    bench.ask([*bench.golds.known(), *answered])
    pairs = list(_sample(bench))
    judged: list[_Judged] = []
    silent = 0
    for start in range(0, len(pairs), 64):
        if bench.left() <= 0:
            return judged, silent, False
        part = pairs[start : start + 64]
        said = bench.second.score([(task, text) for task, text, _ in part], "many")
        for (task, text, first), reply in zip(part, said, strict=True):
            if reply.reward is None:
                silent += 1
                continue
            passes = reply.reward >= bench.second.pass_mark
            assert first.reward is not None
            judged.append(
                _Judged(task, text, first.reward, reply.reward, passes == bench.pays(first))
            )
    return judged, silent, True


def _sample(bench: Bench) -> Iterator[tuple[Task, str, Reply]]:
    """Of each task: its right response, some that were paid, some that were not; whatever was
    scored and is no book.
    """
    most = 200 if bench.full else 40
    by_task: Mapping[str | None, list[tuple[str, Reply]]] = defaultdict(list)
    for name, text, reply in bench.seen():
        if reply.reward is not None and len(text) <= LONGEST:
            by_task[name].append((text, reply))
    golds = {task.id: text for task, text in bench.golds.known()}
    for task in bench.tasks:
        known = by_task[task.id]
        bench.chance("second", task.id).shuffle(known)
        paid = [one for one in known if bench.pays(one[1])]
        rest = [one for one in known if not bench.pays(one[1])]
        own = [one for one in known if one[0] == golds.get(task.id)]
        chosen = {one[0]: one[1] for one in [*own, *paid[: most // 2], *rest]}
        yield from ((task, text, reply) for text, reply in list(chosen.items())[:most])


def _disagreements(bench: Bench, probe: Probe, apart: Sequence[_Judged]) -> list[Finding]:
    """The smallest response of each kind: paid here alone, and paid there alone."""
    found = []
    for here in (True, False):
        some = [one for one in apart if (one.first >= bench.pass_mark) is here]
        if some:
            one = some[0]
            where = (
                "paid here and not by the second" if here else "refused here and paid by the second"
            )
            more = f" (and {len(some) - 1} more)" if len(some) > 1 else ""
            title = f"{where}: {one.first:g} and {one.second:g}{more}"
            found.append(
                finding(
                    probe,
                    one.task,
                    one.text,
                    reward=one.first,
                    title=title,
                    expected="both verifiers of one opinion",
                    second=one.second,
                )
            )
    return found


PROBES = (
    Probe(
        "opinion.style",
        "style does not make a wrong answer right",
        "high",
        "judge the answer; control for length and style where a reader judges",
        special=_styled,
    ),
    Probe(
        "opinion.lift",
        "style adds nothing to the reward of a wrong answer",
        "high",
        "a policy climbs what is paid for dress long before it passes: pay form only as a gate, or"
        " in right answers",
        "lift",
        special=_lifted,
    ),
)
LATE = (  # they read what all others asked
    Probe(
        "opinion.unscored",
        "no response can force a fault",
        "high",
        "score 0 what cannot be read or costs too much to check: an unscored rollout is left out of"
        " the mean, which may be worth more than a 0",
        "fault",
        special=_unscored,
    ),
    Probe(
        "opinion.second",
        "another verifier says the same of the same responses",
        "medium",
        "read the smallest disagreement, and decide which of the two is wrong",
        "disagree",
        special=_second,
    ),
)
