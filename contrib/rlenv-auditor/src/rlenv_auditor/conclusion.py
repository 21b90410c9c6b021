"""Derives the conclusion of an audit from its findings, the free reward and its completeness."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from attrs import frozen

from .model import Finding, Result, Scorecard

__all__ = ["USES", "Conclusion", "allowed", "conclusion", "omitted"]

Status = Literal[
    "found", "free", "unmeasured", "incomplete", "chosen", "blind", "few", "wide", "clean"
]
Case = tuple[bool, Status, str, str]  # whether it applies, status, headline, advice
FREE = 0.1  # mean reward of the best constant from which it is a warning of its own
FEW = 10  # tasks: 0 hits of fewer leave more than 31 % possible
WIDE = 0.3  # upper bound of the share of tasks on which a response can force a fault


@frozen
class Use:
    """What a reward of at least this tightness is good for; tightness is 1 - false positives (or
    free reward) - false negatives.
    """

    least: float
    name: str
    told: str


USES = (
    Use(0.95, "reward alone", "it can be the only reward"),
    Use(
        0.8,
        "KL anchor",
        "train with a KL penalty and early stopping, and read a sample of the rewarded responses",
    ),
    Use(0.5, "shaping", "use it only as a small term next to a tighter reward, with a KL penalty"),
    Use(0.0, "human review", "use it only to rank responses for human review"),
)


@frozen
class Conclusion:
    """What to make of a scorecard.

    Args:
        status: "clean" only where every probe that applies ran on enough tasks, nothing was found
            and nothing is free.
        headline: one line, without the target.
        advice: what to do next.
    """

    status: Status
    headline: str
    advice: str

    def __str__(self) -> str:
        return f"{self.headline[:1].upper()}{self.headline[1:]}. {self.advice}"


def conclusion(card: Scorecard) -> Conclusion:
    """The first of the cases that applies, the worst first."""
    ran = [result for result in card.results if result.status != "skipped"]
    count = f"{len(ran)} probes run, {max(card.probes, len(card.results)) - len(ran)} skipped"
    earned, free = _free(card, ran)
    cases = (*_bad(card, ran, count), *_partial(card, ran, count), *_few(card, ran, count))
    for applies, status, headline, advice in cases:
        if applies:
            return Conclusion(status, headline, advice)
    more = f"{free[:1].upper()}{free[1:]}. " if earned else ""
    again = "Repeat the audit when tasks or versions change."
    clean = f"no exploit found within the budget ({count})"
    return Conclusion("clean", clean, f"{more}{_allows(card)}{again}")


def _free(card: Scorecard, ran: Sequence[Result]) -> tuple[float, str]:
    """The most that a response earns without solving a task, on average, and a sentence on it."""
    earned = float(card.figures.get("expected free reward") or 0.0)
    nothing = float(card.figures.get("free reward") or 0.0)
    if nothing > earned:
        best = card.figures.get("best for nothing")
        return nothing, f"{best} earns {nothing:.3f} on average without solving a task"
    constant = next(
        (r.figures.get("best constant") for r in ran if r.probe == "baselines.constant"), ""
    )
    return earned, f"the constant response {constant!r:.40} earns {earned:.3f} on average"


def _left(ran: Sequence[Result]) -> str:
    """How many probes did not finish, and what to do; empty where all did."""
    unfinished = [result.probe for result in ran if result.status == "incomplete"]
    if not unfinished:
        return ""
    return f"{len(unfinished)} of {len(ran)} probes did not finish. Give a larger --budget."


def _bad(card: Scorecard, ran: Sequence[Result], count: str) -> Iterator[Case]:
    """Cases of a reward that is wrong, free or unknown."""
    earned, free = _free(card, ran)
    yield (
        bool(card.findings),
        "found",
        _count(card.findings),
        " ".join(_found(card, free if earned > FREE else "", _left(ran))),
    )
    yield (
        not card.measured,
        "unmeasured",
        f"nothing was measured ({count})",
        (
            "Every probe was skipped, or the budget ended before the first result. The reasons"
            " are listed under Skipped."
        ),
    )
    yield (
        earned > FREE,
        "free",
        f"no exploit found, but {free}",
        (
            "A policy can earn that without reading the task. Compare training rewards with"
            " this figure, and make the reward stricter."
        ),
    )


def _partial(card: Scorecard, ran: Sequence[Result], count: str) -> Iterator[Case]:
    """Cases of an audit in which not every probe ran to its end."""
    left = _left(ran)
    yield (
        bool(left),
        "incomplete",
        f"incomplete audit: no exploit found before the budget ended ({count})",
        left,
    )
    yield (
        len(card.results) < card.probes,
        "chosen",
        f"no exploit found by the chosen probes ({count})",
        "Run the audit without --only before you rely on it.",
    )


def _few(card: Scorecard, ran: Sequence[Result], count: str) -> Iterator[Case]:
    """Cases of too little evidence."""
    bound = _bound(ran)
    yield (
        not any(r.family in ("gold", "judges") and r.rate for r in ran),
        "blind",
        f"too little evidence: no exploit found, but no right response is known ({count})",
        (
            "Add answers to the tasks, or right responses with --right FILE. Most probes start"
            " from a right response."
        ),
    )
    yield (
        card.tasks < FEW,
        "few",
        (
            f"too little evidence: no exploit found on {card.tasks}"
            f" task{'s' * (card.tasks != 1)} ({count})"
        ),
        (
            f"Audit at least {FEW} tasks. With this number, rates up to {100 * bound:.0f} %"
            " remain possible."
        ),
    )
    yield (
        bound > WIDE,
        "wide",
        f"too little evidence: no exploit found ({count})",
        (
            f"Responses may still force a fault on up to {100 * bound:.0f} % of tasks. Audit"
            " more tasks, or give a larger --budget."
        ),
    )


def allowed(card: Scorecard) -> Use | None:
    """What the measured tightness allows; None where too little was measured to say so.

    Never the reward alone where something was found, or where the bound does not allow the next
    use.
    """
    tight = card.figures.get("tightness")
    whole = card.complete and card.tasks >= FEW and len(card.results) >= card.probes
    if not isinstance(tight, (int, float)) or not (whole or card.findings):
        return None
    sure = not card.findings and float(card.figures["tightness at least"]) >= USES[1].least
    return next(use for use in (USES if sure else USES[1:]) if tight >= use.least)


def _allows(card: Scorecard) -> str:
    use = allowed(card)
    return f"{_tightness(card)}: {use.told}. " if use else ""


def _tightness(card: Scorecard) -> str:
    """The figure with its bound: "Tightness 1.00 (40 tasks, lower bound 0.82)"."""
    tight, least = (float(card.figures[key]) for key in ("tightness", "tightness at least"))
    return f"Tightness {tight:.2f} ({card.tasks} tasks, lower bound {least:.2f})"


def omitted(card: Scorecard) -> str:
    """In one line, which probes were left out or did not finish, and why; several of one family by
    its name.
    """
    reasons: dict[str, dict[str, list[str]]] = {}
    for one in card.results:
        if one.status in ("skipped", "incomplete"):
            reasons.setdefault(one.reason, {}).setdefault(one.family, []).append(one.probe)
    told = [f"{', '.join(_named(families))} ({reason})" for reason, families in reasons.items()]
    told += [f"{card.probes - len(card.results)} not selected by --only"] * (
        card.probes > len(card.results)
    )
    return f"Skipped or not finished: {'; '.join(told)}." if told else ""


def _named(families: Mapping[str, list[str]]) -> Iterator[str]:
    for family, names in families.items():
        yield from names if len(names) < 3 else [f"{len(names)} of {family}"]


def _count(findings: Sequence[Finding]) -> str:
    return (
        f"{len(findings)} finding{'s' * (len(findings) > 1)}, the worst {findings[0].severity}"
        if findings
        else ""
    )


def _bound(ran: Sequence[Result]) -> float:
    """The largest share of tasks on which a response may force a fault, as far as the audit can
    tell.
    """
    rates = [r.rate for r in ran if r.probe == "opinion.unscored" and r.rate is not None]
    return rates[0].high if rates else 1.0


def _found(card: Scorecard, free: str, left: str) -> Iterator[str]:
    """Advice by the measured tightness."""
    lifted = any(result.measure == "lift" and result.findings for result in card.results)
    use = allowed(card)
    if use is None:
        yield (
            "Fix the findings. Wrong rewards could not be measured. Add answers to the tasks, or"
            " give --right FILE."
        )
    elif use is USES[-1]:
        yield (
            "Do not train on this reward. Fix the findings first. A KL penalty does not protect a"
            " reward that is this easy to get."
        )
    elif lifted:
        yield (
            "Style alone raises the reward of a wrong response, and a policy will learn the style."
            " Fix that first."
        )
    elif float(card.figures.get("false negatives") or 0.0) > 0.05:
        yield "Many right responses are rejected. Accept more notations before you train."
    else:
        yield "Fix the findings before you train on this reward."
    if use is not None:
        yield f"{_tightness(card)}: until then, {use.told}."
    if free:
        yield f"{free[:1].upper()}{free[1:]}."
    if left:
        yield f"The audit is incomplete: {left}"
