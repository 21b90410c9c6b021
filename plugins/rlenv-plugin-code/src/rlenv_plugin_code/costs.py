"""What runs cost, and what a cost is worth beside the golden program's."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import frozen

from .artifacts import Answer

__all__ = ["Cost", "cost_of", "score"]


@frozen
class Cost:
    """Args:
    cpu: seconds, of a program and all that it started.
    memory: bytes at the peak.
    """

    cpu: float
    memory: int

    def without(self, base: Cost) -> Cost:
        """What is left of it when an empty program's cost is taken off."""
        return Cost(max(0.0, self.cpu - base.cpu), max(0, self.memory - base.memory))


def cost_of(answers: Iterable[Answer]) -> Cost:
    """The cost of all cases together."""
    found = list(answers)
    return Cost(sum(a.cpu for a in found), max((a.peak_memory for a in found), default=0))


def score(golden: float, own: float, slack: float, noise: float) -> float:
    """``min(1, golden / own)``, where ``slack`` more than the golden one is as good, and ``noise``
    is nothing.

    Args:
        golden, own: costs in one unit, 0 or more.
        slack: a share of the golden cost.
        noise: what no measurement can tell from 0, in the same unit.
    """
    allowed = golden * (1.0 + slack) + noise
    return 1.0 if own <= allowed else allowed / own
