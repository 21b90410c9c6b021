"""Rubrics: criteria with points, or groups of these with weights, down to any depth."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Union

from attrs import frozen
from rlenv import ConfigError
from rlenv.authoring import Safe

from .criterion import Criterion

__all__ = ["Group", "Rubric"]


@frozen(kw_only=True)
class Group:
    """A part of a rubric that is scored by itself and counts by its weight.

    The score of criteria is ``clip(Σ points · share / Σ positive points, 0, 1)``: negative criteria
    only take off (HealthBench, Arora and others 2025, arXiv:2505.08775).  That of groups is their
    weighted mean (PaperBench, Starace and others 2025, arXiv:2504.01848).
    """

    name: Safe[str] = ""
    weight: float = 1.0
    criteria: tuple[Criterion, ...] = ()
    groups: tuple[Group, ...] = ()

    def __attrs_post_init__(self) -> None:
        if not 0 < self.weight < 1e9:
            raise ConfigError(f"group {self.name!r}: its weight is above 0, not {self.weight!r}")
        if bool(self.criteria) == bool(self.groups):
            raise ConfigError(f"group {self.name!r}: it has criteria, or groups, and not both")
        if self.criteria and not any(criterion.points > 0 for criterion in self.criteria):
            raise ConfigError(
                f"group {self.name!r}: no criterion has positive points, so nothing could score"
            )

    def leaves(self) -> Iterator[Criterion]:
        """All criteria below."""
        yield from self.criteria
        for group in self.groups:
            yield from group.leaves()

    def score(self, shares: Mapping[str, float]) -> float:
        """In [0, 1], from how far each criterion holds, by id."""
        if self.groups:
            total = math.fsum(group.weight for group in self.groups)
            return math.fsum(group.weight * group.score(shares) for group in self.groups) / total
        earned = math.fsum(c.points * shares[c.id] for c in self.criteria)
        most = math.fsum(c.points for c in self.criteria if c.points > 0)
        return min(1.0, max(0.0, earned / most))


Node = Union[Group, Criterion]


@frozen
class Rubric:
    """A tree whose criteria all have names of their own."""

    root: Group
    version: str = ""

    def __attrs_post_init__(self) -> None:
        ids = [criterion.id for criterion in self.root.leaves()]
        for name in ids:
            if ids.count(name) > 1:
                raise ConfigError(f"criterion {name!r}: two of a rubric have this id")

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        return tuple(self.root.leaves())

    def score(self, shares: Mapping[str, float]) -> float:
        """See ``Group``."""
        return self.root.score(shares)
