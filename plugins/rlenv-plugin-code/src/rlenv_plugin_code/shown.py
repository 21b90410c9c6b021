"""Values as short texts for a reader, whatever their size."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

__all__ = ["shown"]

_AROUND = {"list": "[]", "tuple": "()", "set": "{}", "frozenset": "{}", "dict": "{}"}


def shown(value: Any, width: int = 120, depth: int = 8) -> str:
    """A text of a plain value, of little more than ``width`` characters and ``depth`` levels."""
    kind = type(value).__name__
    if type(value) is int:
        bits = value.bit_length()
        return repr(value) if bits <= 256 else f"an integer of {bits} bits"
    if type(value) in (str, bytes):
        cut = len(value) > width
        return f"{value[:width]!r}… ({len(value)} characters)" if cut else repr(value)
    if kind in _AROUND and not depth:
        return "…".join(_AROUND[kind])
    depth -= 1
    if type(value) is dict:
        pairs = (f"{shown(k, width, depth)}: {shown(v, width, depth)}" for k, v in value.items())
        return _items(pairs, kind, width)
    if type(value) in (list, tuple, set, frozenset):
        return _items((shown(item, width, depth) for item in value), kind, width)
    if value is None or type(value) in (bool, float, complex):
        return repr(value)
    return f"something of type {kind}"


def _items(texts: Iterable[str], kind: str, width: int) -> str:
    parts: list[str] = []
    for text in texts:
        if len(text) > width:
            parts.append("…")
            break
        parts.append(text)
        width -= len(text) + 2
    around = _AROUND[kind]
    return around[0] + ", ".join(parts) + around[1]
