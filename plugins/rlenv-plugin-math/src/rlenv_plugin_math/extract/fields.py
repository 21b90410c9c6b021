"""Answers in the field of a JSON object: ``{"steps": […], "answer": 42}``."""

from __future__ import annotations

import json

from .found import Claim
from .marks import MOST
from .patterns import pattern
from .sentences import REACH

_field = pattern(r'(?<=[{,\n ])"(?:(?:[a-z]{1,10}[_ ]?)?answer|(result|solution))"\s*:\s*')


def fields(text: str, start: int, end: int) -> list[Claim]:
    """The values of the fields named for an answer, in order; null and an object are an empty
    text.
    """
    if "{" not in text or '":' not in text:
        return []
    every = list(_field().finditer(text, start, end))[-MOST:]
    marks = [mark for mark in every if not mark[1]] or every
    return [
        Claim(*_value(text, mark.end(), min(end, mark.end() + REACH)), "json") for mark in marks
    ]


def _value(text: str, at: int, end: int) -> tuple[str, int, int]:
    """(the value as text, where it begins, where it ends)."""
    try:
        value, length = json.JSONDecoder().raw_decode(text[at:end])
    except (ValueError, RecursionError):
        return "", at, at
    if isinstance(value, list) and all(isinstance(item, (str, int, float)) for item in value):
        value = ", ".join(map(str, value))
    if value is None or isinstance(value, (list, dict)):
        value = ""
    return (value if isinstance(value, str) else text[at : at + length]).strip(), at, at + length
