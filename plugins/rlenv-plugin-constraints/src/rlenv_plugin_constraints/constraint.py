"""What a kind of constraint is, and what it finds in a response."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Any, ClassVar, Literal, Protocol, TypeAlias, runtime_checkable

from attrs import field, frozen
from rlenv import ConfigError

from .text import Text
from .views import Span, even

__all__ = [
    "Constraint",
    "Finding",
    "Range",
    "Relation",
    "Span",
    "holds",
    "in_order",
    "positive",
    "relation",
    "shown",
]

Relation: TypeAlias = Literal["at least", "at most", "less than", "more than", "exactly"]


def _tuple(spans: Iterable[Span]) -> tuple[Span, ...]:
    return tuple(spans)


@frozen
class Finding:
    """What one constraint says of one response.

    Args:
        satisfied: whether the constraint holds.
        measured: what was counted or found, a JSON value.
        wanted: what was asked for, a JSON value.
        spans: the places in the response that decided it, as character offsets.
        note: a few words where the numbers do not tell it all.
        undecided: the work's budget ran out before it was known; never satisfied, nor is its
            opposite.
    """

    satisfied: bool
    measured: Any = None
    wanted: Any = None
    spans: tuple[Span, ...] = field(default=(), converter=_tuple)
    note: str = ""
    undecided: bool = False


@runtime_checkable
class Constraint(Protocol):
    """One checkable demand on a response: an attrs class whose fields are its parameters.

    ``kind`` is the name in ``{kind = "max_words", n = 400}``.  ``check`` is linear in the length of
    the text, and has a result for every text.  Two things are optional:

    - ``is_answer = True`` where what satisfies it is an answer in itself (a choice, a JSON
      document), so that a response needs no words beside it;
    - ``markers()``, the literal text that it asks for: a response of nothing else says nothing.
    """

    kind: ClassVar[str]

    def check(self, text: Text, /) -> Finding: ...


_RELATIONS: dict[str, Any] = {
    "at least": lambda a, b: a >= b,
    "at most": lambda a, b: a <= b,
    "less than": lambda a, b: a < b,
    "more than": lambda a, b: a > b,
    "exactly": lambda a, b: a == b,
}


def holds(measured: float, relation: Relation, wanted: float) -> bool:
    """Whether ``measured`` is in this relation to ``wanted``."""
    return bool(_RELATIONS[relation](measured, wanted))


def relation(_: Any, attribute: Any, value: Any) -> None:
    """Validator of a relation's name."""
    if value not in _RELATIONS:
        known = ", ".join(f'"{name}"' for name in _RELATIONS)
        raise ConfigError(f"{attribute.name} is one of {known}, not {value!r}")


def positive(_: Any, attribute: Any, value: Any) -> None:
    """Validator of an integer from 1."""
    if value < 1:
        raise ConfigError(f"{attribute.name} is an integer from 1, not {value!r}")


def shown(_: Any, attribute: Any, value: str) -> None:
    """Validator of text that a reader sees something of."""
    if not even(value):
        raise ConfigError(f"{attribute.name} has something that can be seen, not {value!r}")


def in_order(low: str, high: str, least: float | None, most: float | None) -> None:
    """Refuse a range that nothing can lie in.

    Raises:
        ConfigError: naming both ends.
    """
    if least is None and most is None:
        raise ConfigError(f"give {low}, {high} or both")
    if least is not None and most is not None and most < least:
        raise ConfigError(
            f"{high} = {most} is less than {low} = {least}: no response can satisfy that"
        )


_SHOWN = 100


@frozen
class Range:
    """At least ``min`` and at most ``max``; either may be left out."""

    min: int | None = None
    max: int | None = None

    def __attrs_post_init__(self) -> None:
        in_order("min", "max", self.min, self.max)

    def found(self, count: int, spans: Iterable[Span] = (), note: str = "") -> Finding:
        """The finding for so many."""
        fits = (self.min is None or count >= self.min) and (self.max is None or count <= self.max)
        bounds = {"min": self.min, "max": self.max}
        wanted = {name: bound for name, bound in bounds.items() if bound is not None}
        return Finding(fits, count, wanted, islice(spans, _SHOWN), "" if fits else note)
