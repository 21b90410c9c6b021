"""The time of a training step that its verification may take, and how many workers would keep to
it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil

from rlenv.workers import usable_cpus


def workers_needed(seconds: float, spent: float, workers: int, budget: float) -> int | None:
    """How many workers bring a batch down to ``budget`` seconds; None where no number does.

    Amdahl's law (AFIPS 1967): with p workers a batch takes R + spent / p. R is what workers do not
    shorten: inline stages, stages in the caller's process, and waiting for the last response. It is
    measured: R = seconds - spent / workers.

    Args:
        seconds: wall time of the batch.
        spent: seconds that stages took in workers, in all.
        workers: how many there were.
        budget: wall seconds that a batch may take.
    """
    fixed = max(0.0, seconds - spent / workers) if workers else seconds
    return ceil(spent / (budget - fixed)) if spent and fixed < budget else None


def advice(
    seconds: float, stages: Mapping[str, float], placed: Sequence[str], workers: int, budget: float
) -> str:
    """What to say of a batch that took too long.

    Args:
        seconds: as for ``workers_needed``.
        stages: path of a stage → the seconds that it took in all.
        placed: paths of the stages that run in workers.
        workers: as for ``workers_needed``.
        budget: as for ``workers_needed``.
    """
    spent = sum(stages.get(path, 0.0) for path in placed)
    needed = workers_needed(seconds, spent, workers, budget)
    most = max(stages, key=lambda path: stages[path], default="none")
    remedy = (
        "more workers do not help: submit responses while the policy generates, or make this stage"
        " cheaper"
    )
    if needed is not None:
        cores = usable_cpus()
        remedy = f"{needed} workers would do (workers={needed}; now {workers}, on {cores} cores)"
    text = f"verifier-bound: a batch took {seconds:.3g} s, the budget is {budget:g} s"
    return f"{text}; stage {most} took most, {stages.get(most, 0.0):.3g} s; {remedy}"
