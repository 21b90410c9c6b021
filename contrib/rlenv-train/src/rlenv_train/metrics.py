"""What a batch of verdicts says: means of stages, the share without a score, and why."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

from rlenv import StageResult, Verdict
from rlenv.authoring import FAULT_KINDS


def stage_scores(verdict: Verdict) -> dict[str, float]:
    """Path of a stage → its score, of the stages of this verdict that have one."""
    found = every_result(verdict.results)
    return {each.stage: each.outcome.score for each in found if each.outcome is not None}


def batch_metrics(verdicts: Sequence[Verdict]) -> dict[str, float]:
    """Return the means of a batch, by name.

    ``reward`` is the mean over the responses that have one, ``stage/PATH`` that of a stage,
    ``unscored`` the share of responses without a reward, and ``fault/KIND`` the share of those that
    a kind of fault left so. ``unscored`` and every ``fault/KIND`` are always there: a trainer
    averages a name over the batches and processes that logged it, so a share that is left out where
    it is 0 would be overstated.
    """
    scores = defaultdict(list)
    for verdict in verdicts:
        if verdict.value is not None:
            scores["reward"].append(verdict.value)
        for stage, score in stage_scores(verdict).items():
            scores[f"stage/{stage}"].append(score)
    means = {name: sum(found) / len(found) for name, found in scores.items()}
    why = Counter(reason(v).partition(" ")[0] for v in verdicts if not v.scored)
    size = len(verdicts) or 1
    shares = {f"fault/{kind}": why[kind] / size for kind in FAULT_KINDS}
    return {**means, "unscored": why.total() / size, **shares}


def steady_metrics(
    verdicts: Sequence[Verdict], stages: Iterable[str], unscored: float
) -> dict[str, float]:
    """Return ``batch_metrics`` under the same names for every batch, for trainers that demand it.

    Args:
        verdicts: the verdicts of one call.
        stages: the paths of all stages. One that scored no response of the batch has 0.0.
        unscored: the ``reward`` of a batch in which no response has one.
    """
    never = {"reward": unscored, **{f"stage/{path}": 0.0 for path in stages}}
    return {**never, **batch_metrics(verdicts)}


def every_result(results: Iterable[StageResult]) -> Iterator[StageResult]:
    """Results with those of the stages in composites."""
    for result in results:
        yield result
        yield from every_result(result.children)


def reason(verdict: Verdict) -> str:
    """Why a verdict has no score: the kind of fault and its stage, never the message, which may
    hold the answer.
    """
    for result in every_result(verdict.results):
        if result.fault is not None and not result.children:
            return f"{result.fault.kind} at {result.stage}"
    return verdict.fault.kind if verdict.fault else "error"
