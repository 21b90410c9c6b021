"""Values as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import repeat
from math import isfinite
from typing import TypeAlias, Union

Json: TypeAlias = Union[str, float, list["Json"], dict[str, "Json"], None]

LONGEST_INT = 14_000  # bits; Python writes some 4,300 digits
# Levels of lists and dicts, and values in all: a response that made more could not be sent on, and
# be unscored.
DEEPEST = 200
MOST = 500_000
FEW = 32
WIDE = 1 << 62


def dumps(value: object) -> str:
    """One line of ASCII JSON.

    A lone surrogate survives as its escape, what is no JSON becomes its text.

    Two surrogates that meet are read back as the one character they make: JSON cannot tell.
    """
    try:
        return json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return json.dumps(_plain(value, (), iter(int, 1)), allow_nan=False)  # room without end


def plain(value: object) -> Json:
    """The nearest JSON value: tuples and sets become lists, other objects their text, NaN becomes
    "nan".

    Integers too long for decimal digits become hexadecimal text; what holds itself, or is nested
    deeper than DEEPEST, becomes "...".  Beyond MOST values the rest is left out.
    """
    if type(value) is dict and len(value) <= FEW:
        for key, item in value.items():
            if type(key) is not str or not (type(item) is str or _is_plain(item)):
                break
        else:  # as with most outcomes
            return {key: item.copy() if type(item) is list else item for key, item in value.items()}
    return _plain(value, (), iter(range(MOST)))


def _is_plain(value: object, most: int = FEW) -> bool:
    """Whether JSON has it as it is: a number, a text or a short list of such, which can be told at
    once.
    """
    if type(value) is int or type(value) is float:
        return -WIDE < value < WIDE
    if type(value) is list:
        return len(value) <= most and all(map(_is_plain, value, repeat(-1)))
    return type(value) is str or value is None or type(value) is bool


def _plain(value: object, above: tuple[int, ...], room: Iterator[int]) -> Json:
    if isinstance(value, str):
        return str.__str__(value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return int.__index__(value) if value.bit_length() <= LONGEST_INT else hex(value)
    if isinstance(value, float):
        return float.__float__(value) if isfinite(value) else str(value)
    if isinstance(value, (dict, list, tuple, set, frozenset, Mapping)):
        if id(value) in above or len(above) == DEEPEST:
            return "..."
        above = *above, id(value)
        if isinstance(value, (dict, Mapping)):
            pairs = zip(value.items(), room, strict=False)
            return {str(key): _plain(item, above, room) for (key, item), _ in pairs}
        items = [_plain(item, above, room) for item, _ in zip(value, room, strict=False)]
        return items if isinstance(value, (list, tuple)) else sorted(items, key=repr)
    name = getattr(value, "__qualname__", None)
    if name is not None:  # a class or function: its place, not its address
        return f"{getattr(value, '__module__', '')}:{name}"
    return str(value).partition(" at 0x")[0]
