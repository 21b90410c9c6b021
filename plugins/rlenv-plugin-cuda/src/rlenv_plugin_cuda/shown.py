"""What a policy may read of a run: the line and the kind of a mistake, and no number that tells a
hidden shape.
"""

from __future__ import annotations

import re

__all__ = ["at_line", "hushed", "printable"]

CHARACTERS = 240
_NUMBER = re.compile(r"(?<![A-Za-z_\d.])-?\d[\d.]*(?:[eE][+-]?\d+)?(?![A-Za-z_])")
_KNOWN = frozenset(("32", "64", "1024", "65535", "49152", "48", "256"))  # a device's, not a task's


def at_line(line: int, said: str) -> str:
    """With the line of the response before it, where there is one."""
    return f"line {line}: {said}" if line else said


def hushed(said: str, response: str, line: int) -> str:
    """What a run said of a line of the response, in one printable line.

    Of its numbers those that are small, or are there.

    A run meets hidden shapes, and an index that is out of bounds tells one.
    """

    def told(match: re.Match[str]) -> str:
        number = match[0].rstrip(".")
        plain = number.lstrip("-")
        known = len(plain) == 1 or plain in _KNOWN or plain in own
        return match[0] if known else "…" + match[0][len(number) :]

    lines = response.replace("\r\n", "\n").replace("\r", "\n").split("\n") if line else []
    spoken = "".join(lines[line - 1 : line])
    own = {found.lstrip("-").rstrip(".") for found in _NUMBER.findall(spoken)}
    return _NUMBER.sub(told, printable(said))


def printable(said: str) -> str:
    """In one line, cut short."""
    return "".join(letter if letter.isprintable() else " " for letter in said[:CHARACTERS]).strip()
