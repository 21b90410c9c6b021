"""Plain values as JSON text and back, exact in type and value.

null, true, false, text, lists, integers below 2**53 in size and finite floats are themselves;
everything else is an object with exactly one key:

    {"i": hex}  integer        {"f": "nan" | "inf" | "-inf"}   {"c": [re, im]}  complex
    {"t": [..]} tuple          {"d": [[key, value], ..]} dict  {"b": base64}    bytes
    {"s": [..]} set            {"z": [..]} frozenset

Texts compose: the encoding of a list is the encodings of its items between brackets.  Both sides
use this module; it needs only the standard library of any CPython from 3.8.
"""

from __future__ import annotations

import json
import re
from binascii import a2b_base64, b2a_base64
from math import isfinite

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["BRACKETS", "DEPTH", "MAX_BYTES", "BadFrame", "Unencodable", "decode", "encode"]

MAX_BYTES = 8 << 20  # of one text
DEPTH = 200  # brackets inside one another: a list is one, a tuple two, a dict three
BRACKETS = 1 << 20  # of one text, opening ones; bounds the memory that a text can claim
DIGITS = 308  # of a number written in decimal
TWINS = 32  # keys of one set or dict whose hashes are those of others

_SAFE = 1 << 53
_ATOMS: frozenset[type] = frozenset((str, bool, type(None)))
_FLAT = _ATOMS | {float}
_FLAT_INT = _FLAT | {int}


class BadFrame(ValueError):
    """Bytes that encode no value."""


class Unencodable(TypeError):
    """A value that has no encoding; the message names its type or the limit it breaks."""


# -- encoding ------------------------------------------------------------------------------------


_dumps = json.JSONEncoder(
    ensure_ascii=False, check_circular=False, allow_nan=False, separators=(",", ":")
).encode


def encode(value: Any) -> bytes:
    """The text of a value, as UTF-8 (lone surrogates as they are).

    Subclasses of the plain types count as these.

    Raises:
        Unencodable: for a type that is none of these, or a value too deep or too large.
    """
    try:
        text = _dumps(_pack(value, DEPTH, _FLAT))
    except ValueError:  # a float that is not finite
        text = _dumps(_pack(value, DEPTH, _ATOMS))
    data = text.encode("utf-8", "surrogatepass")
    if len(data) > MAX_BYTES:
        raise Unencodable(f"a value whose text is {len(data)} bytes; {MAX_BYTES} are allowed")
    return data


def _pack(value: Any, left: int, flat: frozenset[type]) -> Any:
    """``value`` in JSON's types; ``flat`` are the types taken as they are, ``left`` the levels
    allowed.
    """
    kind = type(value)
    if kind in flat:
        return value
    if kind is int:
        return value if -_SAFE < value < _SAFE else {"i": f"{value:x}"}
    if kind is list:
        return _pack_list(value, left, flat)
    tag = _TAGS.get(kind)
    if tag is not None:
        return {tag: _pack_list(list(value), left - 1, flat)}
    if kind is dict:
        return _pack_dict(value, left, flat)
    scalar = _SCALARS.get(kind)
    return scalar(value) if scalar is not None else _pack(_plain(value, kind), left, flat)


def _pack_list(values: list[Any], left: int, flat: frozenset[type]) -> list[Any]:
    if left < 1:
        raise Unencodable(f"a value nested more than {DEPTH} levels deep")
    kinds = set(map(type, values))
    if kinds <= flat:
        return values
    if int in kinds and kinds <= _FLAT_INT and (flat is _FLAT or float not in kinds):
        whole = values if len(kinds) == 1 else [v for v in values if type(v) is int]
        if min(whole) > -_SAFE and max(whole) < _SAFE:
            return values
    return [_pack(value, left - 1, flat) for value in values]


def _pack_dict(value: dict[Any, Any], left: int, flat: frozenset[type]) -> dict[str, Any]:
    if left < 3:
        raise Unencodable(f"a value nested more than {DEPTH} levels deep")
    left -= 3
    return {"d": [[_pack(k, left, flat), _pack(v, left, flat)] for k, v in value.items()]}


def _pack_float(value: float) -> Any:
    if isfinite(value):
        return value
    return {"f": str(value)}


def _pack_complex(value: complex) -> dict[str, Any]:
    return {"c": [_pack_float(value.real), _pack_float(value.imag)]}


def _pack_bytes(value: bytes) -> dict[str, str]:
    return {"b": b2a_base64(value, newline=False).decode("ascii")}


_TAGS: dict[type, str] = {tuple: "t", set: "s", frozenset: "z"}
_SCALARS: dict[type, Any] = {float: _pack_float, complex: _pack_complex, bytes: _pack_bytes}
_BASES: dict[type, Any] = {  # the base type's own methods, so that an override has no say
    int: int.__pos__,
    float: float.__pos__,
    str: str.__str__,
    bytes: lambda value: bytes.__getitem__(value, slice(None)),
    complex: complex.__pos__,
    list: lambda value: list(list.__iter__(value)),
    tuple: lambda value: tuple(tuple.__iter__(value)),
    dict: lambda value: dict(dict.items(value)),
    set: lambda value: set(set.__iter__(value)),
    frozenset: lambda value: frozenset(frozenset.__iter__(value)),
}


def _plain(value: Any, kind: type) -> Any:
    """The value as its plain base type; NumPy's scalars are numbers."""
    for base, convert in _BASES.items():
        if issubclass(kind, base):
            return convert(value)
    if any(base.__module__ == "numpy" and base.__name__ == "generic" for base in kind.__mro__):
        plain = value.item()
        if type(plain) in _FLAT_INT or type(plain) in _SCALARS:
            return plain
    raise Unencodable(str(kind.__name__))


# -- decoding ------------------------------------------------------------------------------------


def _shape(byte: int) -> int:
    if byte in b"0123456789+":
        return 48  # "0"
    return 101 if byte in b"eE" else 32  # "e", " "


_NOT_BRACKETS = bytes(b for b in range(256) if b not in b"[]{}")
_STEP = {91: 1, 123: 1, 93: -1, 125: -1}
_SHAPES = bytes(map(_shape, range(256)))
_LONG = b"0" * (DIGITS + 1)


def decode(data: bytes) -> Any:
    """The value of a text.

    Raises:
        BadFrame: for everything that is not the text of exactly one value within the limits.
    """
    if len(data) > MAX_BYTES:
        raise BadFrame(f"longer than {MAX_BYTES} bytes")
    try:
        _check_brackets(data)
        text = data.decode("utf-8", "surrogatepass")
        return (_careful if _may_overflow(data) else _loads)(text)
    except BadFrame:
        raise
    except (ValueError, TypeError, OverflowError, RecursionError, MemoryError) as error:
        raise BadFrame(f"no value: {type(error).__name__}") from None


def _check_brackets(data: bytes) -> None:
    """Refuse what is too deep, before it is read."""
    if data.count(b"[") + data.count(b"{") <= DEPTH:
        return
    if b'"' in data:
        bare = data.replace(b"\\\\", b"").replace(b'\\"', b"").split(b'"')
        data = b"".join(bare[::2])
    data = data.translate(None, _NOT_BRACKETS)
    if len(data) > 2 * BRACKETS:
        raise BadFrame(f"more than {BRACKETS} brackets")
    depth = 0
    for bracket in data:
        depth += _STEP[bracket]
        if depth > DEPTH:
            raise BadFrame(f"nested more than {DEPTH} levels deep")


def _may_overflow(data: bytes) -> bool:
    """Whether a number could be beyond the range of a float, or cost too much to read."""
    if len(data) <= DIGITS and b"e" not in data and b"E" not in data:
        return False
    shapes = data.translate(_SHAPES)
    return b"0e0" in shapes or _LONG in shapes


def _object(pairs: list[tuple[str, Any]]) -> Any:
    if len(pairs) != 1:
        raise BadFrame("an object has exactly one key")
    tag, body = pairs[0]
    kind, maker = _MAKERS.get(tag, (None, None))
    if maker is None:
        raise BadFrame("an unknown tag")
    if type(body) is not kind:
        raise BadFrame("a tag with a body of the wrong type")
    return maker(body)


_is_hex = re.compile(r"-?[0-9a-f]+").fullmatch


def _integer(text: str) -> int:
    if _is_hex(text) is None:
        raise BadFrame("an integer that is not hexadecimal")
    return int(text, 16)


def _odd_float(text: str) -> float:
    if text not in ("nan", "inf", "-inf"):
        raise BadFrame("a float that is none of nan, inf, -inf")
    return float(text)


def _hashable(keys: list[Any]) -> None:
    """Refuse keys made to collide: the work of a set or dict is then the square of its size."""
    if len(keys) > TWINS and len(keys) - len(set(map(hash, keys))) > TWINS:
        raise BadFrame("keys that collide")


def _set(items: list[Any]) -> set[Any]:
    _hashable(items)
    made = set(items)
    if len(made) != len(items):
        raise BadFrame("a set with an item twice")
    return made


def _frozenset(items: list[Any]) -> frozenset[Any]:
    return frozenset(_set(items))


def _dict(pairs: list[Any]) -> dict[Any, Any]:
    for pair in pairs:
        if type(pair) is not list or len(pair) != 2:
            raise BadFrame("a dict is a list of [key, value]")
    _hashable([pair[0] for pair in pairs])
    made = dict(pairs)
    if len(made) != len(pairs):
        raise BadFrame("a dict with a key twice")
    return made


def _bytes(text: str) -> bytes:
    made = a2b_base64(text.encode("ascii"))
    if b2a_base64(made, newline=False).decode("ascii") != text:
        raise BadFrame("bytes that are not base64")
    return made


def _complex(parts: list[Any]) -> complex:
    if len(parts) != 2 or type(parts[0]) is not float or type(parts[1]) is not float:
        raise BadFrame("a complex number is two floats")
    return complex(parts[0], parts[1])


_MAKERS: dict[str, tuple[type, Any]] = {
    "i": (str, _integer),
    "f": (str, _odd_float),
    "t": (list, tuple),
    "d": (list, _dict),
    "s": (list, _set),
    "z": (list, _frozenset),
    "b": (str, _bytes),
    "c": (list, _complex),
}


def _constant(name: str) -> Any:
    raise BadFrame(f"{name} is no JSON")


def _short_int(text: str) -> int:
    if len(text) > DIGITS + 1:
        raise BadFrame(f"a number of more than {DIGITS} digits")
    return int(text)


def _finite(text: str) -> float:
    value = float(text)
    if not isfinite(value):
        raise BadFrame("a float that is not finite")
    return value


_loads = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_constant).decode
_careful = json.JSONDecoder(
    object_pairs_hook=_object,
    parse_constant=_constant,
    parse_int=_short_int,
    parse_float=_finite,
).decode
