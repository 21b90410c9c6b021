"""Constraints of which no response satisfies both, found before any response is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import inf
from typing import Any

from .constraint import Constraint
from .text import Text

__all__ = ["contradictions"]

_BOUNDS: dict[str, Callable[[int], tuple[float, float]]] = {
    "at least": lambda n: (n, inf),
    "more than": lambda n: (n + 1, inf),
    "at most": lambda n: (0, n),
    "less than": lambda n: (0, n - 1),
    "exactly": lambda n: (n, n),
}
_BESIDE = ("min", "max", "n", "relation")  # fields that bound a count; the others say of what


def contradictions(constraints: Sequence[Constraint]) -> list[str]:
    """One line per pair that no response can satisfy; those within ``all`` count too.

    Found are counts without a common value, words that must and must not be there, signs and letter
    cases that a demanded phrase cannot do without, two different beginnings or ends, two languages.
    """
    every = [*_flat(constraints)]
    return [
        f"{_name(one)} and {_name(other)}: no response satisfies both ({why})"
        for at, one in enumerate(every)
        for other in every[at + 1 :]
        if (why := _clash(one, other) or _clash(other, one))
    ]


def _flat(constraints: Sequence[Constraint]) -> Iterator[Constraint]:
    for part in constraints:
        if part.kind == "all":
            yield from _flat(getattr(part, "constraints", ()))
        else:
            yield part


def _name(part: Constraint) -> str:
    shown = {name: value for name, value in _fields(part).items() if value not in (None, "", ())}
    return f"{part.kind}({', '.join(f'{name} = {value!r:.60}' for name, value in shown.items())})"


def _fields(part: Constraint) -> dict[str, Any]:
    names = [field.name for field in getattr(type(part), "__attrs_attrs__", ())]
    return {name: getattr(part, name) for name in names if not name.startswith("_")}


def _clash(one: Constraint, other: Constraint) -> str:
    return (
        _no_common_count(one, other)
        or _refuses_what_is_asked(one, other)
        or _other_edge(one, other)
        or _other_alphabet(one, other)
    )


def _counted(part: Constraint) -> tuple[Any, float, float] | None:
    """What is counted, and the least and the greatest number of it."""
    fields = _fields(part)
    if part.kind in ("max_words", "min_words"):
        low, high = (0, fields["n"]) if part.kind == "max_words" else (fields["n"], inf)
        return ("words",), low, high
    of = tuple((k, _key(v)) for k, v in fields.items() if k not in _BESIDE)
    if "relation" in fields and "n" in fields:
        return (part.kind, *of), *_BOUNDS[fields["relation"]](fields["n"])
    if "min" in fields and "max" in fields:
        low = fields["min"] or 0
        high = inf if fields["max"] is None else fields["max"]
        return (part.kind, *of), low, high
    if part.kind == "responses":
        return (part.kind, *of), fields["n"], fields["n"]
    return None


def _key(value: Any) -> Any:
    return value.casefold() if isinstance(value, str) else repr(value)


def _no_common_count(one: Constraint, other: Constraint) -> str:
    mine = _counted(one)
    theirs = _counted(other)
    if mine is None or theirs is None or mine[0] != theirs[0]:
        return ""
    low = max(mine[1], theirs[1])
    high = min(mine[2], theirs[2])
    return f"at least {low:g} and at most {high:g}" if low > high else ""


def _asked(part: Constraint) -> tuple[str, ...]:
    """Literal text without which it does not hold."""
    if part.kind in ("section_order", "sections", "any", "at_least", "not"):
        return ()
    if part.kind == "keyword" and (_counted(part) or ("", 0, 0))[1] < 1:
        return ()
    return tuple(getattr(part, "markers", tuple)())


_REFUSING = ("forbids", "no_comma", "no_characters", "lowercase")


def _refuses_what_is_asked(one: Constraint, other: Constraint) -> str:
    """Whether ``one`` fails on every text that holds what ``other`` asks for."""
    counted = _counted(one) if one.kind in ("keyword", "letter") else None
    phrase = _fields(other).get("text", "") if _fields(other).get("case") else ""
    if one.kind in ("uppercase", "lowercase") and phrase and not one.check(Text(phrase)).satisfied:
        return f"one letter case, and {phrase!r:.60} is in another"
    if one.kind not in _REFUSING and (counted is None or counted[2] > 0):
        return ""
    if one.kind == "lowercase":
        fits = other.kind == "uppercase" or (other.kind == "capital_words" and _least(other) > 0)
        return "small letters and capitals" if fits else ""
    for mark in _asked(other):
        if not one.check(Text(mark)).satisfied:
            return f"one asks for {mark!r:.60}, the other refuses it"
    options = _fields(other).get("options", ()) if other.kind == "choice" else ()
    if options and not any(one.check(Text(option)).satisfied for option in options):
        return "every option is rejected"
    return ""


def _least(part: Constraint) -> float:
    return (_counted(part) or ("", 0, 0))[1]


def _other_edge(one: Constraint, other: Constraint) -> str:
    if one.kind != other.kind or one.kind not in ("starts_with", "ends_with"):
        return ""
    mine, theirs = (" ".join(_fields(part)["text"].casefold().split()) for part in (one, other))
    fits = mine.startswith(theirs) if one.kind == "starts_with" else mine.endswith(theirs)
    back = theirs.startswith(mine) if one.kind == "starts_with" else theirs.endswith(mine)
    return "" if fits or back else "two different ones"


def _other_alphabet(one: Constraint, other: Constraint) -> str:
    if one.kind != "language" or other.kind != "language":
        return ""
    return "two languages" if _fields(one) != _fields(other) else ""
