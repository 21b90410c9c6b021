"""Times of day: ``3:45 pm``, ``07:05``, ``10:20:30``."""

from __future__ import annotations

from rlenv_plugin_math.tree import Clock

from .engine import Parser

_MERIDIEM = frozenset("ap")


def clock(p: Parser, text: str) -> Clock | None:
    """``3:45 pm``, ``07:05``, ``10:20:30``, ``3 pm``; without a sign of time it stays a ratio."""
    pos = p.pos - 1
    parts = [text]
    while (
        p.kinds[pos + 1] == ":"
        and p.kinds[pos + 2] == "num"
        and not p.gaps[pos + 1]
        and not p.gaps[pos + 2]
        and len(parts) < 3
    ):
        parts.append(p.texts[pos + 2])
        pos += 2
    if any(len(part) != 2 or not part.isdigit() for part in parts[1:]) or len(text) > 2:
        return None
    half, pos = _meridiem(p, pos + 1)
    zero = any(part[0] == "0" and len(part) == 2 for part in parts)
    if not half and (len(parts) == 1 or not (zero or len(parts) == 3)):
        return None
    hour, minute, second = (*map(int, parts), 0, 0)[:3]
    if hour > 23 or minute > 59 or second > 59 or (half and not 1 <= hour <= 12):
        return None
    if half:
        hour = hour % 12 + 12 * (half == "pm")
    p.pos = pos
    return Clock(3600 * hour + 60 * minute + second, half)


def _meridiem(p: Parser, pos: int) -> tuple[str, int]:
    """ "am" or "pm" and the place behind it, or "" and the same place."""
    kinds = p.kinds
    texts = p.texts
    word = texts[pos].lower()
    if kinds[pos] in ("word", "letter") and word in ("am", "pm"):
        return word, pos + 1
    if kinds[pos] in ("letter", "const") and word in _MERIDIEM:
        after = pos + 1 + (kinds[pos + 1] == ".")
        if texts[after].lower() == "m" and kinds[after] == "letter":
            after += 1
            return word + "m", after + (kinds[after] == ".")
    return "", pos
