"""Numbers and days within a range, and lines in order."""

from __future__ import annotations

import re
import unicodedata
from datetime import date
from decimal import Decimal, InvalidOperation
from itertools import pairwise
from operator import gt, lt
from typing import Any, ClassVar, Literal

from attrs import field, frozen
from rlenv import ConfigError
from rlenv.authoring import Safe

from rlenv_plugin_constraints.constraint import Finding, Range, in_order, positive
from rlenv_plugin_constraints.text import Text, base
from rlenv_plugin_constraints.unmet import unmet

__all__ = ["IsoDates", "NumberInRange", "SortedLines"]

_DATE = re.compile(r"[0-9](?<![\w.+-].)[0-9]{3}-[0-9]{2}-[0-9]{2}(?![\w+-]|\.\d)")
_DATES = re.compile(rf"\s*{_DATE.pattern}(?:\s*,\s*{_DATE.pattern})*\s*\.?\s*")
_TWO_DIGITS = re.compile(r"\d\d")
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_OTHER_DATE = re.compile(
    r"(?<!\d)(?:\d{4}[-./]\d{1,2}[-./]\d{1,2}|\d{1,2}[-./]\d{1,2}[-./]\d{4}|\d{1,2}/\d{1,2}/\d{2})(?!\d)"
    rf"|\b{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?,? \d{{4}}"
    rf"|\b\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTH},? \d{{4}}",
    re.IGNORECASE,
)
# A sign or digit first, which is searched for fastest.
_NUMBER = re.compile(
    r"[-−+0-9](?<![\w.,].)(?:(?<=[0-9])|(?=[0-9]))"
    r"(?:(?:(?<=[0-9])[0-9]{0,2}|(?<![0-9])[0-9]{1,3})(?:,[0-9]{3})++|[0-9]*+)"
    r"(?:\.[0-9]++)?(?:[eE][-+]?[0-9]++)?(?![\w/^]|[.,:-]\w)"
)
_NO_NUMBER = re.compile(r"∞|\b(?:nan|inf|infinity)\b", re.IGNORECASE)
_DASHES = tuple("-−–—‐‑－﹣")
_WORD = re.compile(r"[^\W_]+")
_FENCE = re.compile(r"\s*(?:```|~~~)")
_MARKER = re.compile(r"\s*(?:[-*+•]\s+|\d{1,9}[.)]\s+)?")


def _day(_: Any, attribute: Any, value: str) -> None:
    try:
        date.fromisoformat(value if _DATE.fullmatch(value) else "")
    except ValueError:
        raise ConfigError(f"{attribute.name} is a day as YYYY-MM-DD, not {value!r}") from None


@frozen
class IsoDates(Range):
    """Days of the calendar as YYYY-MM-DD, and no date in another form.

    There are at least ``min`` different ones (1 where nothing is given), at most ``max``, each from
    ``first`` to ``last``; with ``whole``, commas between them and nothing else, and no day twice.
    """

    kind: ClassVar[str] = "iso_dates"
    first: Safe[str] = field(default="0001-01-01", validator=_day)
    last: Safe[str] = field(default="9999-12-31", validator=_day)
    whole: bool = False

    def __attrs_post_init__(self) -> None:
        if self.min is not None or self.max is not None:
            in_order("min", "max", self.min, self.max)
        if self.last < self.first:
            raise ConfigError(f"last = {self.last} is before first = {self.first}")

    @property
    def is_answer(self) -> bool:
        """Whether the response needs no words beside it."""
        return self.whole

    def check(self, text: Text) -> Finding:
        days = list(_DATE.finditer(text.raw))
        wrong = [day.group() for day in days if not self._right(day.group())]
        without = Text(_DATE.sub("", text.raw)).plain
        other = _TWO_DIGITS.search(without) and _OTHER_DATE.search(without)
        different = {day.group() for day in days}
        spans = [day.span() for day in days]
        if wrong or other:
            note = f"no such day in the range: {wrong[0]}" if wrong else "a date in another form"
            return unmet(len(different), self._wanted(), spans[:100], note)
        if self.whole and (len(different) < len(days) or not _DATES.fullmatch(text.raw)):
            return unmet(len(different), self._wanted(), spans[:100], "something else is there")
        return self.found(len(different), spans) if different else unmet(0, self._wanted())

    def _wanted(self) -> dict[str, Any]:
        return {"format": "YYYY-MM-DD", "first": self.first, "last": self.last}

    def _right(self, day: str) -> bool:
        try:
            date.fromisoformat(day)
        except ValueError:
            return False
        return self.first <= day <= self.last


@frozen
class NumberInRange:
    """There is exactly one number, in ASCII digits, and it is from ``min`` to ``max``.

    Either may be left out.

    1,000.5 and 1e3 are one number each; a fraction, a time, the digits of B12 and a sign apart from
    its number are none that could be read, and with one of these nothing holds.  What a number is
    of, ``%`` or a word, is not looked at, nor are numbers in words.

    Args:
        min, max: its bounds, which belong to the range.
        integer: whether it must be one.
        every: whether there may be several numbers, all within the bounds.
    """

    kind: ClassVar[str] = "number_in_range"
    is_answer: ClassVar[bool] = True
    min: float | None = None
    max: float | None = None
    integer: bool = False
    every: bool = False

    def __attrs_post_init__(self) -> None:
        in_order("min", "max", self.min, self.max)

    def check(self, text: Text) -> Finding:
        wanted = {k: v for k, v in (("min", self.min), ("max", self.max)) if v is not None}
        found = list(_NUMBER.finditer(text.raw))
        spans = [number.span() for number in found][:100]
        left = _NUMBER.sub("", text.raw)
        if _NO_NUMBER.search(left) or any(
            unicodedata.category(sign)[0] == "N" for sign in set(left)
        ):
            return unmet(len(found), wanted, spans, "a number that cannot be read for sure")
        if not found or (len(found) > 1 and not self.every):
            return unmet(len(found), wanted, spans, f"there are {len(found)} numbers")
        if any(
            text.raw[max(0, start - 4) : start].rstrip(" \t").endswith(_DASHES)
            for start, _ in spans
        ):
            return unmet(len(found), wanted, spans, "a dash before a number may be its sign")
        values = [_value(number.group()) for number in found]
        fits = all(value is not None and self._within(value) for value in values)
        return Finding(fits, found[0].group()[:80], wanted, spans)

    def _within(self, value: Decimal) -> bool:
        whole = not self.integer or value == value.to_integral_value()
        return (
            whole
            and (self.min is None or value >= self.min)
            and (self.max is None or value <= self.max)
        )


def _value(said: str) -> Decimal | None:
    try:
        return Decimal(said.replace(",", "").replace("−", "-"))
    except InvalidOperation:
        return None


@frozen
class SortedLines:
    """The lines, ``min`` of them at least and none twice, are in order.

    Blank lines, fences and the marks of a list are not looked at.

    Words are in the order of a dictionary: case and accents make no difference, so two lines that
    differ in
    nothing else are one line twice.

    Args:
        order: "ascending", from A to Z, or "descending".
        by: "words", or "numbers" where each line is a number.
        min: how many lines there are at least.
    """

    kind: ClassVar[str] = "sorted_lines"
    order: Literal["ascending", "descending"] = "ascending"
    by: Literal["words", "numbers"] = "words"
    min: int = field(default=2, validator=positive)

    def check(self, text: Text) -> Finding:
        words = self.by == "words"
        lines = base(text.skeleton).splitlines() if words else text.lines
        items = [_MARKER.sub("", line, count=1) for line in lines]
        keys = [
            (_WORD.findall(item) if words else _number(item.strip()), span)
            for item, span in zip(items, text.line_spans, strict=False)
            if _WORD.search(item) and not _FENCE.match(item)
        ]
        before = lt if self.order == "ascending" else gt
        wrong = [
            span
            for (one, _), (other, span) in pairwise(keys)
            if one is None or other is None or not before(one, other)
        ]
        note = "out of order, twice, or no number" if wrong else ""
        if len(keys) < self.min:
            note = f"there are {len(keys)} lines"
        return Finding(
            not note, len(keys), {"order": self.order, "min": self.min}, wrong[:100], note
        )


def _number(line: str) -> Decimal | None:
    return _value(line) if _NUMBER.fullmatch(line) else None
