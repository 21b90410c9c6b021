"""Inputs drawn for golden tasks, from a schema and a key that no policy can predict.

    ["bool"]                        ["choice", [v, ..]]             one of these values
    ["int", lo, hi]                 ["str", alphabet, lo, hi]       of lo to hi characters
    ["float", lo, hi]               ["list", schema, lo, hi]        of lo to hi items
    ["tuple", schema, ..]           ["set", schema, lo, hi]         of at most hi items
    ["dict", key, value, lo, hi]

Bounds are included.  One draw in four of a number or a length is a bound, or is next to zero, since
mistakes live there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from random import Random
from typing import Any, TypeAlias

__all__ = ["SCHEMAS", "as_text", "check_schema", "draw", "inputs"]

Schema: TypeAlias = Sequence[Any]
MAX_ITEMS = 1_000_000  # plain values of one input
_EDGES = 0.25


def inputs(schemas: Sequence[Schema], count: int, key: bytes) -> list[tuple[Any, ...]]:
    """``count`` tuples of arguments; the same key gives the same arguments."""
    return [
        tuple([draw(schema, rng) for schema in schemas])
        for rng in (Random(key + n.to_bytes(4, "little")) for n in range(count))  # noqa: S311
    ]


def draw(schema: Schema, rng: Random) -> Any:
    """One value of a schema that ``check_schema`` accepts."""
    return _DRAWN[schema[0]](rng, *schema[1:])


def as_text(arguments: Sequence[Any]) -> str:
    """Arguments as a program reads them: a line each, items apart by blanks, a list of lists a line
    per item.
    """
    return "".join(f"{_lines(value)}\n" for value in arguments)


def _lines(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        nested = any(isinstance(item, (list, tuple)) for item in value)
        return ("\n" if nested else " ").join(_lines(item) for item in value)
    return str(value)


def _int(rng: Random, lo: int, hi: int) -> int:
    if rng.random() < _EDGES:
        return rng.choice([lo, hi, *(n for n in (-1, 0, 1) if lo <= n <= hi)])
    return rng.randint(lo, hi)


def _float(rng: Random, lo: float, hi: float) -> float:
    if rng.random() < _EDGES:
        return float(rng.choice([lo, hi, *(n for n in (-1.0, 0.0, 1.0) if lo <= n <= hi)]))
    return min(max(lo + (hi - lo) * rng.random(), lo), hi)


def _bool(rng: Random) -> bool:
    return rng.random() < 0.5


def _str(rng: Random, alphabet: str, lo: int, hi: int) -> str:
    return "".join(rng.choices(alphabet, k=_int(rng, lo, hi))) if alphabet else ""


def _list(rng: Random, item: Schema, lo: int, hi: int) -> list[Any]:
    return [draw(item, rng) for _ in range(_int(rng, lo, hi))]


def _tuple(rng: Random, *items: Schema) -> tuple[Any, ...]:
    return tuple([draw(item, rng) for item in items])


def _set(rng: Random, item: Schema, lo: int, hi: int) -> set[Any]:
    return set(_list(rng, item, lo, hi))


def _dict(rng: Random, key: Schema, value: Schema, lo: int, hi: int) -> dict[Any, Any]:
    return {draw(key, rng): draw(value, rng) for _ in range(_int(rng, lo, hi))}


def _choice(rng: Random, values: Sequence[Any]) -> Any:
    return rng.choice(values)


_DRAWN: dict[str, Callable[..., Any]] = {
    "int": _int,
    "float": _float,
    "bool": _bool,
    "str": _str,
    "list": _list,
    "tuple": _tuple,
    "set": _set,
    "dict": _dict,
    "choice": _choice,
}
SCHEMAS = tuple(_DRAWN)


# -- checking ------------------------------------------------------------------------------------


class BadSchema(ValueError):
    """A schema that cannot be drawn from; ``path`` leads to the part that is wrong."""

    def __init__(self, path: str, message: str) -> None:
        self.path = path
        super().__init__(message)


def check_schema(schema: Any, path: str = "", *, hashable: bool = False, depth: int = 0) -> int:
    """How many plain values a draw has at most.

    Raises:
        BadSchema: naming what is wrong, and where.
    """
    if not isinstance(schema, (list, tuple)) or not schema or schema[0] not in SCHEMAS:
        raise BadSchema(path, f"expected [kind, ..] with a kind of {', '.join(SCHEMAS)}")
    if depth > 50:
        raise BadSchema(path, "nested more than 50 levels deep")
    kind = schema[0]
    rest = list(schema[1:])
    form, inner, bounds = _FORMS[kind]
    if inner is not None and len(rest) != inner + bounds:
        raise BadSchema(path, f"expected {form}")
    if hashable and kind in ("list", "set", "dict"):
        raise BadSchema(path, f"a {kind} can be no key of a dict and no item of a set")
    if kind in ("int", "float"):
        _check_range(rest, path, form, whole=kind == "int")
        return 1
    if kind == "choice":
        return _check_choice(rest[0], path, form)
    if kind == "str" and not isinstance(rest[0], str):
        raise BadSchema(path, f"expected {form}")
    return _check_parts(kind, rest, path, depth, hashable=hashable)


def _check_parts(kind: str, rest: list[Any], path: str, depth: int, *, hashable: bool) -> int:
    form, inner, bounds = _FORMS[kind]
    most = 1
    if bounds:
        lo, hi = _check_range(rest[-2:], path, form, whole=True)
        if lo < 0 or hi > MAX_ITEMS:
            raise BadSchema(path, f"a length is between 0 and {MAX_ITEMS}")
        if kind == "str" and hi and not rest[0]:
            raise BadSchema(path, "text of an empty alphabet has no characters")
        most = int(hi)
    parts = rest[:inner]
    if inner is not None and kind in ("str", "bool"):
        parts = []  # their parts are no schemas
    total = 0
    for place, part in enumerate(parts, 1):
        keyed = hashable or kind == "set" or (kind == "dict" and place == 1)
        total += check_schema(part, f"{path}[{place}]", hashable=keyed, depth=depth + 1)
    size = max(total, 1) * max(most, 1)
    if size > MAX_ITEMS:
        raise BadSchema(path, f"may hold {size} values, {MAX_ITEMS} are allowed")
    return size


def _check_choice(values: Any, path: str, form: str) -> int:
    if not isinstance(values, (list, tuple)) or not values:
        raise BadSchema(path, f"expected {form}, with one value at least")
    return 1


def _check_range(bounds: list[Any], path: str, form: str, *, whole: bool) -> tuple[float, float]:
    types = (int,) if whole else (int, float)
    if any(type(b) not in types or not math.isfinite(b) for b in bounds) or bounds[0] > bounds[1]:
        raise BadSchema(path, f"expected {form} with lo <= hi")
    return bounds[0], bounds[1]


_FORMS: dict[str, tuple[str, int | None, int]] = {  # how it is written, inner parts, bounds
    "int": ('["int", lo, hi]', 0, 2),
    "float": ('["float", lo, hi]', 0, 2),
    "bool": ('["bool"]', 0, 0),
    "str": ('["str", alphabet, lo, hi]', 1, 2),
    "list": ('["list", schema, lo, hi]', 1, 2),
    "tuple": ('["tuple", schema, ..]', None, 0),
    "set": ('["set", schema, lo, hi]', 1, 2),
    "dict": ('["dict", key, value, lo, hi]', 2, 2),
    "choice": ('["choice", [value, ..]]', 1, 0),
}
