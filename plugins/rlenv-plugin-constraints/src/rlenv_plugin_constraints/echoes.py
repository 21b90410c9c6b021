"""Responses made of their prompt: its words in another order or case, with some left out, and
courtesies added.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from attrs import frozen

from .lists import words
from .text import Text
from .vocabulary import STOP_STEMS, STOP_WORDS

__all__ = ["echoes"]

_LEAST = 3  # words of the prompt; fewer may well be an answer
_IDLE = STOP_STEMS | STOP_WORDS | words("fillers") | words("courtesies")
_INSTRUCTING = words("instructing")
_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”|(?<!\w)'[^'\n]*'(?!\w)")


@frozen
class _Prompt:
    """The words of a prompt that mean something, and those of them, outside of quotations, that
    instruct.
    """

    said: frozenset[str]
    instructs: frozenset[str]


def echoes(said: Iterable[str], prompt: str) -> bool:
    """Whether a response says again what the prompt asks for, with few words of its own.

    A text of the prompt that was rewritten is no echo: it has few of the words that instruct
    ("capitals", "commas").  Word order and how often a word is there make no difference.

    Args:
        said: the words of the response, caseless, without those that it was asked to have.
        prompt: what it was asked.
    """
    asked = _read(prompt)
    meant = _meaning(said)
    again = len(meant & asked.said)
    told = len(meant & asked.instructs)
    own = len(meant) - again
    if again < _LEAST or own > again:
        return False
    if own == 0:
        return (
            told >= 2
            or (told == 1 and 3 * again >= len(asked.said))
            or 6 * again >= 5 * len(asked.said)
        )
    return 3 * again >= len(asked.said) and own <= told * (told - 1)


@lru_cache(maxsize=64)  # many responses have one prompt
def _read(prompt: str) -> _Prompt:
    bare = _QUOTED.sub(" ", prompt)
    every, outside = (_meaning(Text(text).even_words) for text in (prompt, bare))
    return _Prompt(every, outside & _INSTRUCTING)


def _meaning(said: Iterable[str]) -> frozenset[str]:
    return frozenset(word.removesuffix("s") for word in set(said) - _IDLE if len(word) > 1)
