"""Values as short texts for a reader, whatever their size."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

__all__ = ["shown"]

_AROUND = {"list": "[]", "tuple": "()", "set": "{}", "frozenset": "{}", "dict": "{}"}


def shown(value: Any, width: int = 120) -> str:
    """A text of a plain value, of little more than ``width`` characters."""
    kind = type(value).__name__
    if type(value) is int:
        return (
            repr(value) if value.bit_length() <= 256 else f"an integer of {value.bit_length()} bits"
        )
    if type(value) in (str, bytes):
        return (
            repr(value) if len(value) <= width else f"{value[:width]!r}… ({len(value)} characters)"
        )
    if type(value) is dict:
        return _items(
            (f"{shown(k, width)}: {shown(v, width)}" for k, v in value.items()), kind, width
        )
    if type(value) in (list, tuple, set, frozenset):
        return _items((shown(item, width) for item in value), kind, width)
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
