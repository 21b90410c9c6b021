r"""Gold answers as they are in data sets: ``18``, ``"\boxed{18}"``, ``"… #### 18"``, ``"$18$"``, a
list of any of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from math import isfinite
from typing import TYPE_CHECKING, Any

from rlenv_plugin_math.held import frozen
from rlenv_plugin_math.languages import read

if TYPE_CHECKING:
    from .tree import Node


@frozen
class Gold:
    """One acceptable answer: its text, and the same as a canonical plain number where it is one."""

    text: str
    plain: str | None

    def node(self) -> Node:
        """The parsed answer.

        Raises:
            Unparsed: when the text is not an answer that can be read.
        """
        return _node(self.text)


@lru_cache(maxsize=8192)
def _node(text: str) -> Node:
    from .parser import parse_cached

    changed = read(text)
    return parse_cached(changed.text if changed else text)


def golds(answer: Any) -> tuple[Gold, ...]:
    """The acceptable answers that a task's ``answer`` names; any one of them is right.

    Raises:
        ValueError: when it names none, or something that is neither text nor a number.
    """
    if isinstance(answer, (str, int)):
        return (_gold(answer),) if type(answer) is not bool else (_gold(str(answer)),)
    if isinstance(answer, Iterable) and not isinstance(answer, (bytes, dict)):
        every = tuple(gold for item in answer for gold in golds(item))
        if every:
            return every
    elif hasattr(answer, "__float__"):
        return (_number(answer),)
    raise ValueError(
        f"expected a text, a number or a list of them, not {type(answer).__name__} {answer!r:.60}"
    )


@lru_cache(maxsize=8192)
def _gold(answer: str | int) -> Gold:
    text = _stated(str(answer))
    if not text:
        raise ValueError("the gold answer is empty")
    return Gold(text, plain_number(text))


def _number(answer: Any) -> Gold:
    value = float(answer)
    if not isfinite(value):
        raise ValueError(f"the gold answer is {value}, which no response can state")
    return _gold(str(answer))


def _stated(text: str) -> str:
    """The answer itself, out of a solution that ends in one."""
    from .extract.boxes import boxes

    text = text.strip()
    if "box" in text:
        claims, _ = boxes(text, 0, len(text))
        if claims:
            return ", ".join(dict.fromkeys(c.text for c in claims))
    if "####" in text:
        text = text[text.rfind("####") + 4 :].strip()
    elif "nswer" in text:
        from .extract import FOUND, extract

        announced = extract(text, "statement")
        if announced.state == FOUND:
            text = announced.answers[0]
    return undollared(text)


def undollared(text: str) -> str:
    """Without the delimiters of a formula that is the whole text."""
    for opening, closing in (("$$", "$$"), ("$", "$"), ("\\(", "\\)"), ("\\[", "\\]")):
        if (
            len(text) > len(opening + closing)
            and text.startswith(opening)
            and text.endswith(closing)
        ):
            inner = text[len(opening) : -len(closing)]
            if opening not in inner and closing not in inner and inner[-1:] != "\\":
                return inner.strip()
    return text


def plain_number(text: str) -> str | None:
    """``text`` in canonical form when it is an integer or a decimal in plain digits, else None.

    Two canonical forms are equal exactly when the numbers are.
    """
    digits = text[1:] if text[:1] == "-" else text
    sign = "-" if text[:1] == "-" else ""
    if not digits.isascii():
        return None
    if digits.isdigit():
        if digits[0] == "0" and len(digits) > 1:
            return None
        return "0" if digits == "0" else sign + digits
    whole, point, rest = digits.partition(".")
    if not (point and whole.isdigit() and rest.isdigit()) or (whole[0] == "0" and len(whole) > 1):
        return None
    rest = rest.rstrip("0")
    value = f"{whole}.{rest}" if rest else whole
    return "0" if value == "0" else sign + value
