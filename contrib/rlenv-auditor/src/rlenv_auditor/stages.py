"""Which stages of an environment a reward comes from, by what each of them scored."""

from __future__ import annotations

from collections.abc import Mapping

from .model import Reply

__all__ = ["responsible", "scores_of"]


def scores_of(reply: Reply) -> dict[str, float | None]:
    """The score of each stage by its path; None where it has none."""
    return dict(reply.stages)


def responsible(reply: Reply, weights: Mapping[str, float], *, paid: bool) -> list[str]:
    """The stages that paid a response, or that rejected it; nothing where there is one stage only.

    Args:
        reply: of an environment.
        weights: of its stages by path. A stage without a weight can reject a response, and pays
            nothing.
        paid: whether the reward was too high; else it was too low, or there is none.
    """
    scores = scores_of(reply)
    if len(weights) < 2:
        return []
    if paid:
        return [name for name, score in scores.items() if score and weights.get(name, 0.0) > 0]
    unscored = [name for name, score in scores.items() if score is None]
    known = [score for score in scores.values() if score is not None]
    if unscored or not known or min(known) >= 1:
        return unscored
    return [name for name, score in scores.items() if score == min(known)]
