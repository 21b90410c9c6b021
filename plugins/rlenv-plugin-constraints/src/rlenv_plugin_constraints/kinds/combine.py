"""Constraints made of constraints: all, any, not, at least so many."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from attrs import field, frozen
from rlenv import ConfigError
from rlenv.authoring import Safe

from rlenv_plugin_constraints.constraint import Constraint, Finding, positive
from rlenv_plugin_constraints.registry import build, build_all
from rlenv_plugin_constraints.text import Text
from rlenv_plugin_constraints.views import Span

__all__ = ["All", "AnyOf", "AtLeast", "Not"]


def _made(specs: Any) -> tuple[Constraint, ...]:
    return build_all(specs)


def _parts(constraints: Sequence[Constraint]) -> tuple[str, ...]:
    return tuple(mark for part in constraints for mark in getattr(part, "markers", tuple)())


def _spans(findings: Sequence[Finding], *, satisfied: bool) -> tuple[Span, ...]:
    return tuple(
        dict.fromkeys(
            span for found in findings if found.satisfied is satisfied for span in found.spans
        )
    )


def _undecided(held: int, findings: Sequence[Finding], wanted: int) -> bool:
    """Whether what ran out of its budget could have decided it."""
    open_ = sum(found.undecided for found in findings)
    return held < wanted <= held + open_


def _count(text: Text, parts: Sequence[Constraint], wanted: int) -> Finding:
    findings = [part.check(text) for part in parts]
    held = sum(found.satisfied for found in findings)
    fits = held >= wanted
    notes = [
        f"{part.kind}: {found.note or found.measured}"
        for part, found in zip(parts, findings, strict=True)
        if not found.satisfied
    ]
    return Finding(
        fits,
        held,
        {"min": wanted, "of": len(parts)},
        _spans(findings, satisfied=fits),
        "" if fits else "; ".join(notes)[:300],
        undecided=_undecided(held, findings, wanted),
    )


@frozen
class All:
    """Every one of ``constraints`` holds."""

    kind: ClassVar[str] = "all"
    constraints: Safe[tuple[Any, ...]] = field(converter=_made)

    def markers(self) -> tuple[str, ...]:
        return _parts(self.constraints)

    def check(self, text: Text) -> Finding:
        return _count(text, self.constraints, len(self.constraints))


@frozen
class AnyOf:
    """One of ``constraints`` holds, or more."""

    kind: ClassVar[str] = "any"
    constraints: Safe[tuple[Any, ...]] = field(converter=_made)

    def markers(self) -> tuple[str, ...]:
        return _parts(self.constraints)

    def check(self, text: Text) -> Finding:
        return _count(text, self.constraints, 1)


@frozen
class AtLeast:
    """At least ``n`` of ``constraints`` hold."""

    kind: ClassVar[str] = "at_least"
    n: int = field(validator=positive)
    constraints: Safe[tuple[Any, ...]] = field(converter=_made)

    def __attrs_post_init__(self) -> None:
        if self.n > len(self.constraints):
            raise ConfigError(
                f"n = {self.n} of {len(self.constraints)} constraints: never satisfied"
            )

    def markers(self) -> tuple[str, ...]:
        return _parts(self.constraints)

    def check(self, text: Text) -> Finding:
        return _count(text, self.constraints, self.n)


@frozen
class Not:
    """``constraint`` does not hold; a check that ran out of its budget decides nothing."""

    kind: ClassVar[str] = "not"
    constraint: Safe[Any] = field(converter=build)

    def check(self, text: Text) -> Finding:
        found = self.constraint.check(text)
        fits = not found.satisfied and not found.undecided
        note = found.note if found.undecided else f"{self.constraint.kind} holds"
        return Finding(
            fits,
            found.measured,
            {"not": found.wanted},
            found.spans,
            "" if fits else note,
            undecided=found.undecided,
        )
