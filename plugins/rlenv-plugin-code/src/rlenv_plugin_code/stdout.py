"""Whether a program wrote what was expected: by lines, blanks at their ends and empty lines at the
end ignored.
"""

from __future__ import annotations

import re

from .compare import Difference, Rules, near
from .shown import shown

__all__ = ["MARGIN", "decoded", "output_difference", "same_output"]

MARGIN = 1 << 20  # bytes beyond the expected output; a longer output is wrong without being read
_BLANKS = " \t\r"
_number = re.compile(
    r"[+-]?(?:[0-9]{1,400}(?:\.[0-9]{0,400})?|\.[0-9]{1,400})(?:[eE][+-]?[0-9]{1,3})?"
)
_whole = re.compile(r"[+-]?[0-9]+")


def decoded(data: bytes) -> str | None:
    """The text of an output, None where it is no strict UTF-8."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return None


def same_output(
    expected: str, got: str, *, rtol: float = 0.0, atol: float = 0.0, unordered: bool = False
) -> bool:
    """Whether an output is the expected one."""
    return output_difference(expected, got, Rules(rtol, atol, unordered)) is None


def output_difference(expected: str, got: str, rules: Rules) -> Difference | None:
    """The first line that differs, None when none does.

    With a tolerance the words of a line, set apart by blanks, are compared one by one: two numbers
    of which at least one is written with a point or an exponent may be off, all else is exact.
    """
    if len(got) > len(expected) + MARGIN:
        return Difference("", f"{len(expected)} characters", f"{len(got)}")
    want = _lines(expected)
    have = _lines(got)
    if rules.unordered:
        want = sorted(want)
        have = sorted(have)
    if want == have:
        return None
    for number, (wanted, given) in enumerate(zip(want, have, strict=False), 1):
        if wanted != given and not (rules.tolerant and _words_near(wanted, given, rules)):
            return Difference(f"line {number}", shown(wanted), shown(given))
    if len(want) == len(have):
        return None
    number = min(len(want), len(have)) + 1
    return Difference(f"line {number}", f"{len(want)} lines", f"{len(have)} lines")


def _lines(text: str) -> list[str]:
    lines = [line.rstrip(_BLANKS) for line in text.split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def _words_near(expected: str, got: str, rules: Rules) -> bool:
    want = _words(expected)
    have = _words(got)
    if len(want) != len(have):
        return False
    return all(w == h or _word_near(w, h, rules) for w, h in zip(want, have, strict=True))


def _words(line: str) -> list[str]:
    return [word for word in re.split(r"[ \t]+", line) if word]


def _word_near(expected: str, got: str, rules: Rules) -> bool:
    if _number.fullmatch(expected) is None or _number.fullmatch(got) is None:
        return False
    if _whole.fullmatch(expected) and _whole.fullmatch(got):
        return False
    return near(float(expected), float(got), rules)
