"""Values of test data: JSON, and what JSON lacks as an object with one key that begins with ``$``.

    {"$tuple": [..]}  {"$set": [..]}  {"$frozenset": [..]}  {"$dict": [[key, value], ..]}
    {"$float": "nan" | "inf" | "-inf"}  {"$complex": [re, im]}  {"$bytes": base64}  {"$int":
    decimal}

Any other object is a dict with text as keys.  Tasks made in Python may hold such values as they
are.
"""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Callable
from typing import Any

from .codec import Unencodable, decode, encode
from .shown import shown

__all__ = ["TAGS", "BadValue", "plain", "value_of"]


class BadValue(ValueError):
    """Test data that stands for no value; ``path`` leads to the part that is wrong."""

    def __init__(self, path: str, message: str) -> None:
        self.path = path
        super().__init__(message)


_SCALARS = frozenset((str, int, float, bool, type(None)))


def value_of(data: Any, path: str = "", depth: int = 0) -> Any:
    """The value that test data stands for.

    Raises:
        BadValue: for an unknown or malformed tag, and for a value that cannot be handed to a
            program.
    """
    kind = type(data)
    if kind in _SCALARS:
        return data
    if depth > 200:
        raise BadValue("", "a value nested more than 200 levels deep")
    if kind is list:
        if _SCALARS.issuperset(map(type, data)):
            return data
        return [value_of(item, f"{path}[{i}]", depth + 1) for i, item in enumerate(data)]
    if kind is dict:
        if len(data) == 1:
            tag, body = next(iter(data.items()))
            if type(tag) is str and tag.startswith("$"):
                return _tagged(tag, body, path, depth)
        made = {key: value_of(v, f"{path}[{key!r}]", depth + 1) for key, v in data.items()}
        return made if all(type(key) is str for key in made) else plain(made, path)
    return plain(data, path)


def plain(value: Any, path: str = "") -> Any:
    """The value in exactly the builtin types, as it arrives beyond the boundary.

    Raises:
        BadValue: it cannot cross.
    """
    try:
        return decode(encode(value))
    except Unencodable as error:
        said = str(error)
        said = said if " " in said else f"a value of type {said}"
    except RecursionError:
        said = "a value nested too deeply"
    raise BadValue(
        path,
        f"{said} cannot be handed to a program; values are null, bool, int, float, complex, str,"
        " bytes, list, tuple, dict, set and frozenset",
    )


def _tagged(tag: str, body: Any, path: str, depth: int) -> Any:
    maker = TAGS.get(tag)
    where = f"{path}[{tag!r}]"
    if maker is None:
        raise BadValue(
            where,
            f"unknown tag {tag!r}: expected one of {', '.join(TAGS)}; "
            f'a dict with this key is written {{"$dict": [[{tag!r}, ..]]}}',
        )
    inner = value_of(body, where, depth + 1) if type(body) in (list, dict) else body
    try:
        return maker(inner)
    except (TypeError, ValueError, KeyError) as error:
        said = f"{shown(body)} is no body of {tag}: {error}"
        raise BadValue(where, said) from None


def _items(body: Any) -> list[Any]:
    if type(body) is not list:
        raise TypeError("expected a list")
    return body


def _unique(body: Any) -> set[Any]:
    made = set(_items(body))
    if len(made) != len(body):
        raise ValueError("an item appears twice")
    return made


def _pairs(body: Any) -> dict[Any, Any]:
    if any(type(pair) not in (list, tuple) or len(pair) != 2 for pair in _items(body)):
        raise TypeError("expected a list of [key, value]")
    made = {key: value for key, value in body}  # noqa: C416 - lists are no pairs for dict()
    if len(made) != len(body):
        raise ValueError("a key appears twice")
    return made


_FLOATS = {"nan": float("nan"), "inf": float("inf"), "-inf": float("-inf")}


def _float(body: Any) -> float:
    if body not in _FLOATS:
        raise ValueError('expected "nan", "inf" or "-inf"')
    return _FLOATS[body]


def _complex(body: Any) -> complex:
    if type(body) is not list or len(body) != 2 or any(type(b) not in (int, float) for b in body):
        raise TypeError("expected [re, im]")
    return complex(float(body[0]), float(body[1]))


def _int(body: Any) -> int:
    if type(body) is not str or re.fullmatch(r"-?[0-9]{1,4300}", body) is None:
        raise ValueError("expected an integer as text, of at most 4300 digits")
    return int(body)


def _bytes(body: Any) -> bytes:
    if type(body) is not str:
        raise TypeError("expected base64 as text")
    return b64decode(body, validate=True)


TAGS: dict[str, Callable[[Any], Any]] = {
    "$tuple": lambda body: tuple(_items(body)),
    "$set": _unique,
    "$frozenset": lambda body: frozenset(_unique(body)),
    "$dict": _pairs,
    "$float": _float,
    "$complex": _complex,
    "$int": _int,
    "$bytes": _bytes,
}
