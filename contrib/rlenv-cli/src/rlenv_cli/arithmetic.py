"""The arithmetic of a reward written out, so that a person can check it by hand."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rlenv.compose.composites import Composite, Pipeline, Quorum, Slot
from rlenv.model.values import StageResult, Verdict

NAMES = {
    "any": "the best of",
    "all": "the worst of",
    "product": "the product of",
    "first": "the first that did not break of",
}


def written_out(root: Composite, verdict: Verdict) -> list[str]:
    """Lines that lead from the scores to the value; none of them claims what the verdict does
    not.
    """
    if verdict.value is None:
        return ["no score, because a required stage failed"]
    slots = {slot.name: slot for slot in root.slots}
    pairs = [(slots[result.stage.rsplit("/", 1)[-1]], result) for result in verdict.results]
    if isinstance(root, Pipeline):
        return _pipeline(root, pairs, verdict)
    return [_other(root, pairs, verdict)]


def _pipeline(
    root: Pipeline, pairs: Sequence[tuple[Slot, StageResult]], verdict: Verdict
) -> list[str]:
    if verdict.stopped_at is not None:
        failed = next((s for s, r in pairs if r.stage == verdict.stopped_at), None)
        gate = f" (below {failed.gate:g})" if failed is not None and failed.gate is not None else ""
        return [f"0, since the gate of {verdict.stopped_at} failed{gate}; nothing after it ran"]
    scored = [(slot, r.outcome.score) for slot, r in pairs if r.outcome is not None]
    weighted = [(slot, score) for slot, score in scored if slot.weight]
    total = math.fsum(slot.weight for slot, _ in weighted)
    mean = math.fsum(slot.weight * score for slot, score in weighted) / total
    lines = [f"mean   ({_sum(weighted)}) / {total:g} = {mean:.6g}"]
    terms = [f"{root.base:g} x {mean:.6g}"]
    bonuses = [(slot, score) for slot, score in scored if slot.bonus]
    if mean > 0:
        terms += [f"+ {slot.bonus:g} x {score:.6g} ({slot.name})" for slot, score in bonuses]
    penalties = [(slot, score) for slot, score in scored if slot.penalty]
    terms += [f"- {slot.penalty:g} x (1 - {score:.6g}) ({slot.name})" for slot, score in penalties]
    lines += [f"sum    {' '.join(terms)} = {_raw(verdict):.6g}"]
    if bonuses and mean <= 0:
        lines += ["       bonuses pay nothing when the mean is 0"]
    return [*lines, f"value  clamped to [0, 1]: {verdict.value:.6g}"]


def _sum(weighted: Sequence[tuple[Slot, float]]) -> str:
    return " + ".join(f"{slot.weight:g} x {score:.6g} ({slot.name})" for slot, score in weighted)


def _raw(verdict: Verdict) -> float:
    return verdict.raw if verdict.raw is not None else verdict.value or 0.0


def _other(root: Composite, pairs: Sequence[tuple[Slot, StageResult]], verdict: Verdict) -> str:
    said = ", ".join(
        f"{slot.name} {'broke' if r.outcome is None else format(r.outcome.score, '.6g')}"
        for slot, r in pairs
    )
    if isinstance(root, Quorum):
        return (
            f"at least {root.k} of {len(root.slots)} at {root.at:g} or more ({said}):"
            f" {verdict.value:.6g}"
        )
    what = NAMES.get(root.name, f"{type(root).__name__} of")
    ended = f"; decided by {verdict.stopped_at}" if verdict.stopped_at else ""
    return f"{what} {said}: {verdict.value:.6g}{ended}"
