"""The parts of an answer: of a list, of labeled lines, of a text with several numbers, of a
document.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from attrs import frozen

from .items import Items

__all__ = ["SPECIALS", "Part", "alone", "parts", "special_documents", "specials"]

MOST = 4  # parts of one answer, the last among them
# What compares strangely: as a number, or as no value at all.
SPECIALS = ("nan", "inf", "-inf", "-0", "1e400", "None", "")
LEAVES: tuple[Any, ...] = (float("nan"), float("inf"), float("-inf"), None, "", [], {}, "nan")
NUMBER = re.compile(r"(?<![\w.])[-\u2212]?\d+(?:\.\d+)?(?![\w.]*\w)")
LABEL = re.compile(r"\s*[\w ]{1,30}[:=]\s*(?=\S)")
DECODER = json.JSONDecoder()


@frozen
class Part:
    """One part of an answer: what is before it, the part, and what is after it."""

    before: str
    text: str
    after: str

    def replaced(self, other: str) -> str:
        """The answer with another text in the place of this part."""
        return f"{self.before}{other}{self.after}"


def parts(answer: str) -> list[Part]:
    """The parts of an answer: its numbers, or the items of a list without their labels; the whole
    where it has none.
    """
    spans = [found.span() for found in NUMBER.finditer(answer)] or list(_items(answer))
    if not spans:
        spans = [(0, len(answer))]
    chosen = [*spans[: MOST - 1], spans[-1]]
    return [
        Part(answer[:start], answer[start:stop], answer[stop:])
        for start, stop in dict.fromkeys(chosen)
    ]


def _items(answer: str) -> Iterator[tuple[int, int]]:
    """Where the items of a list are in it."""
    listed = Items.of(answer)
    at = 0
    for item in listed.items if listed else ():
        at = answer.find(item, at)
        if at < 0:
            return
        label = LABEL.match(item)
        yield at + (label.end() if label else 0), at + len(item)
        at += len(item)


def alone(answer: str) -> Iterator[tuple[str, str]]:
    """(name, text) of single parts of an answer that has several, as they are and without a
    label.
    """
    listed = Items.of(answer)
    numbers = [found[0] for found in NUMBER.finditer(answer)]
    several = listed.items if listed else tuple(numbers)
    if len(several) < 2:
        return
    for name, text in (("first", several[0]), ("last", several[-1])):
        yield f"only the {name} part of the answer", text
        if listed and (label := LABEL.match(text)):
            yield f"only the {name} part of the answer, without its label", text[label.end() :]
    if listed and listed.opening:
        yield "only the first part of the answer, in brackets", listed.text(several[:1])


def specials(answer: str) -> Iterator[tuple[str, str]]:
    """(name, text) of an answer with a special value in the place of one part."""
    for part in parts(answer):
        for value in SPECIALS:
            if value != part.text and not (value == "-0" and _is_zero(part.text)):
                yield f"{value or 'nothing'} for a part of the answer", part.replaced(value)


def _is_zero(text: str) -> bool:
    return re.fullmatch(r"[-\u2212+]?0*\.?0*", text) is not None


def special_documents(text: str) -> Iterator[tuple[str, str]]:
    """(name, text) of a text that holds a JSON object or list, with a special value in the place of
    one leaf.
    """
    start = min((text.find(sign) for sign in "{[" if sign in text), default=-1)
    if start < 0:
        return
    try:
        value, stop = DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        return
    if not isinstance(value, (dict, list)):
        return
    for path in list(_leaves(value, ()))[:MOST]:
        for other in LEAVES:
            changed = json.dumps(_with(value, path, other), ensure_ascii=False)
            name = json.dumps(other)
            if changed != json.dumps(value, ensure_ascii=False):
                yield f"{name} in {path[-1]}", text[:start] + changed + text[stop:]


def _leaves(value: Any, path: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, Mapping) and len(path) < MOST:
        for key, inner in value.items():
            yield from _leaves(inner, (*path, key))
    elif isinstance(value, list) and len(path) < MOST:
        for place, inner in enumerate(value):
            yield from _leaves(inner, (*path, place))
    elif path:
        yield path


def _with(value: Any, path: tuple[Any, ...], other: Any) -> Any:
    """The document with another value at a path."""
    if not path:
        return other
    first, *rest = path
    if isinstance(value, Mapping):
        return {
            key: _with(inner, tuple(rest), other) if key == first else inner
            for key, inner in value.items()
        }
    return [
        _with(inner, tuple(rest), other) if n == first else inner for n, inner in enumerate(value)
    ]
