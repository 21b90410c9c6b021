"""Schemas of the simplest keywords as plain functions that are sure of what fits.

Of the rest they say nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sized
from operator import ge, le
from typing import Any, TypeAlias

__all__ = ["keywords", "sure"]

Check: TypeAlias = Callable[[Any], bool]

_NOTES = frozenset(
    (
        "$schema",
        "$id",
        "$comment",
        "$defs",
        "definitions",
        "title",
        "description",
        "default",
        "examples",
        "format",
        "readOnly",
        "writeOnly",
        "deprecated",
    )
)
_TYPES: Mapping[str, tuple[type, ...]] = {
    "object": (dict,), "array": (list,), "string": (str,), "integer": (int,),
    "number": (int, float), "boolean": (bool,), "null": (type(None),),
}  # fmt: skip
_SIZES: Mapping[str, tuple[Any, Any]] = {
    "minLength": (str, ge), "maxLength": (str, le), "minItems": (list, ge), "maxItems": (list, le),
    "minProperties": (dict, ge), "maxProperties": (dict, le),
}  # fmt: skip


def sure(schema: Any) -> Check | None:
    """Whether a value surely fits, by every draft; a False says nothing.

    None for a schema with other keywords.
    """
    if schema is True or schema == {}:
        return lambda _: True
    if not isinstance(schema, dict):
        return None
    checks: list[Check] = []
    for name, wanted in schema.items():
        if name in _NOTES or (name == "properties" and "additionalProperties" in schema):
            continue
        check = _members(schema) if name == "additionalProperties" else _of(name, wanted)
        if check is None:
            return None
        checks.append(check)
    if len(checks) == 1:
        return checks[0]
    return lambda value: all(check(value) for check in checks)


def keywords(schema: Any) -> int:
    """How many keywords one value can meet, at most."""
    if isinstance(schema, dict):
        return max(len(schema), max(map(keywords, schema.values()), default=0))
    return max(map(keywords, schema), default=0) if isinstance(schema, list) else 0


def _of(name: str, wanted: Any) -> Check | None:
    if name == "type":
        return _typed(wanted)
    if name in ("enum", "const"):
        known = {(type(v), v) for v in (wanted if name == "enum" else [wanted]) if _plain(v)}
        return lambda value: _plain(value) and (type(value), value) in known
    if name == "required":
        names = frozenset(wanted)
        return lambda value: type(value) is not dict or names <= value.keys()
    if name == "items" and isinstance(wanted, dict):
        return _items(wanted)
    if name == "properties":
        return _members({"properties": wanted})
    if name in _SIZES:
        return _sized(*_SIZES[name], wanted)
    return _bounded(name, wanted)


def _plain(value: Any) -> bool:
    return type(value) in (str, int, bool, type(None))


def _typed(wanted: Any) -> Check | None:
    names = [wanted] if isinstance(wanted, str) else wanted
    if not all(isinstance(name, str) and name in _TYPES for name in names):
        return None
    types = frozenset(kind for name in names for kind in _TYPES[name])
    return lambda value: type(value) in types


def _items(wanted: Any) -> Check | None:
    each = sure(wanted)
    return None if each is None else lambda value: type(value) is not list or all(map(each, value))


def _members(schema: Mapping[str, Any]) -> Check | None:
    """``properties`` and ``additionalProperties``, which only make sense together."""
    own = {name: sure(below) for name, below in schema.get("properties", {}).items()}
    others = schema.get("additionalProperties", True)
    rest = (lambda _: False) if others is False else sure(others)
    if rest is None or None in own.values():
        return None
    known = {name: check for name, check in own.items() if check is not None}
    return lambda value: (
        type(value) is not dict
        or all(known.get(name, rest)(below) for name, below in value.items())
    )


def _sized(kind: type[Sized], right: Callable[[int, float], bool], size: float) -> Check:
    def check(value: Any) -> bool:
        return not isinstance(value, kind) or right(len(value), size)

    return check


def _bounded(name: str, bound: Any) -> Check | None:
    if type(bound) not in (int, float):  # the drafts differ
        return None
    if name == "minimum":
        return lambda value: type(value) not in (int, float) or value >= bound
    if name == "maximum":
        return lambda value: type(value) not in (int, float) or value <= bound
    return None
