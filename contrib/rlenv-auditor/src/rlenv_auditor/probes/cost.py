"""What a reward costs: seconds of one, rewards a second, and whether the verifier is what a step
waits for.
"""

from __future__ import annotations

import time
from typing import Any

from rlenv_auditor.bench import Bench, OutOfBudget
from rlenv_auditor.model import Result
from rlenv_auditor.statistics import quantile

from .base import Probe, result

__all__ = ["PROBES", "bound"]


def _latency(bench: Bench, probe: Probe) -> Result:
    golds = bench.golds.known()[:20]
    pairs = [*golds, *[(task, "The answer is 42.") for task in bench.tasks[:20]]]
    if bench.left() <= 0:
        raise OutOfBudget
    bench.target.score(pairs[:2])  # what it loads at its first call is not what a call costs
    start = time.perf_counter()
    replies = bench.target.score(pairs)
    alone = time.perf_counter() - start
    start = time.perf_counter()
    bench.target.score(pairs, "many")
    together = time.perf_counter() - start
    seconds = [reply.seconds for reply in replies]
    rates = {"alone a second": len(pairs) / alone, "together a second": len(pairs) / together}
    figures = {f"p{int(100 * share)}": quantile(seconds, share) for share in (0.5, 0.95, 0.99)}
    figures |= {**rates, "responses": len(pairs)}
    return result(probe, "clean", figures=figures)


def bound(figures: dict[str, Any], rollouts: int, step: float) -> str:
    """Whether a training step of so many rollouts and seconds waits for this verifier."""
    needed = rollouts / figures["together a second"]
    if needed > step:
        taken = f"{rollouts} rollouts take {needed:.1f} s"
        return f"verifier-bound by {needed / step:.1f}×: {taken}, a step {step:g} s"
    return f"not verifier-bound: {rollouts} rollouts take {needed:.2g} s of a step of {step:g} s"


PROBES = (
    Probe(
        "cost.latency",
        "a reward is there before the next step needs it",
        "low",
        "score in workers, and cache nothing that is not deterministic",
        "",
        special=_latency,
    ),
)
