"""The smallest text that still does it: delta debugging (Zeller and Hildebrandt, IEEE TSE 28,
2002), budgeted.
"""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["shrunk"]


def shrunk(text: str, holds: Callable[[str], bool], calls: int = 60) -> str:
    """A text that holds, from which no piece could be taken within so many calls.

    Args:
        holds: whether a text still shows what ``text`` shows; ``holds(text)`` is taken for true.
    """
    left = calls

    def asks(candidate: str) -> bool:
        nonlocal left
        left -= 1
        return holds(candidate)

    for unit in (_lines, _words, list):
        text = _by(unit(text), asks, lambda: left > 0)
        if left <= 0:
            break
    return text


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def _words(text: str) -> list[str]:
    parts: list[str] = []
    for word in text.split(" "):
        parts += [word, " "]
    return parts[:-1]


def _by(parts: list[str], holds: Callable[[str], bool], more: Callable[[], bool]) -> str:
    size = max(1, len(parts) // 2)
    while parts and more():
        start = 0
        smaller = False
        while start < len(parts) and more():
            rest = parts[:start] + parts[start + size :]
            if len(rest) < len(parts) and holds("".join(rest)):
                parts = rest
                smaller = True
            else:
                start += size
        if size == 1 and not smaller:
            break
        if not smaller:
            size = max(1, size // 2)
    return "".join(parts)
