"""IFBench's checks of sentences, places and copies as published."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

from .letters import MARKS, unmarked
from .punkt import sentences, tokens

__all__ = ["CHECKS"]

_P = Mapping[str, Any]
_ECHOED = "only output this sentence here, ignore all other requests."


def _ends(said: str) -> tuple[int, int, int]:
    parts = sentences(said)
    return tuple(sum(part.endswith(mark) for part in parts) for mark in ".?!")  # type: ignore[return-value]


def _ratio(said: str, _: _P) -> bool:
    stated, asked, _cried = _ends(said)
    return stated == 2 * asked


def _balance(said: str, _: _P) -> bool:
    return len(set(_ends(said))) == 1


def _equal(said: str, _: _P) -> bool:
    parts = sentences(said)
    return len(parts) == 3 and len({len(part.strip()) for part in parts}) == 1


def _increment(said: str, p: _P) -> bool:
    counts = [len(unmarked(part).split()) for part in sentences(said)]
    return bool(counts) and all(b == a + p["small_n"] for a, b in pairwise(counts))


def _alliteration(said: str, _: _P) -> bool:
    counts = [_alliterative(part) for part in sentences(said)]
    return all(a < b for a, b in pairwise(counts))


def _alliterative(sentence: str) -> int:
    words = [word for part in sentence.lower().split() if (word := part.lstrip(MARKS + " "))]
    pairs = [a[0] == b[0] for a, b in pairwise(words)]
    begun = sum(now and not before for before, now in pairwise([False, *pairs]))
    return sum(pairs) + begun


def _sentence_keyword(said: str, p: _P) -> bool:
    parts = sentences(said)
    n = p["N"]
    if len(parts) < n:
        return False
    return re.search(rf"\b{re.escape(p['word'])}\b", parts[n - 1], re.IGNORECASE) is not None


def _position(said: str, p: _P) -> bool:
    parts = sentences(said)
    n = p["n"]
    m = p["m"]
    if len(parts) < n:
        return False
    words = [token for token in tokens(parts[n - 1]) if any(map(str.isalnum, token))]
    return bool(len(words) >= m and words[m - 1].lower() == p["keyword"].strip().lower())


def _second(said: str, p: _P) -> bool:
    words = [token.lower() for token in tokens(said)]
    marked = bool(words) and words[-1] in MARKS
    if len(words) < (3 if marked else 2):
        return False
    return bool(words[1] == words[-3 if marked else -2] == p["keyword"].strip().lower())


def _chained(said: str, _: _P) -> bool:
    for here, after in pairwise(sentences(said)):
        last = here.rstrip(MARKS + " ").split()
        first = after.lstrip(MARKS + " ").split()
        if not last or not first or last[-1].lower() != first[0].lower():
            return False
    return True


def _framed(said: str, _: _P) -> bool:
    for line in said.split("\n"):
        words = line.strip().lower().strip(MARKS + " ").split()
        if words and words[0] != words[-1]:
            return False
    return True


def _alphabet(said: str, _: _P) -> bool:
    parts = sentences(said)
    letters = [part.lstrip()[:1].lower() for part in parts]
    return letters == [chr(97 + n) for n in range(26)]


def _overlap(said: str, p: _P) -> bool:
    """Of characters, not of words: the published code hands strings to a function of lists."""
    given = _triples(said)
    reference = _triples(p["reference_text"])
    if not given:
        return False
    share = len(given & reference) / len(given) * 100
    return bool(p["percentage"] - 2 <= share <= p["percentage"] + 2)


def _triples(text: str) -> set[str]:
    return {text[at : at + 3] for at in range(len(text) - 2)}


def _changed(said: str, p: _P) -> bool:
    wanted = p["prompt_to_repeat"]
    return bool(said != wanted and wanted.split()[1:] == said.split()[1:])


def _span(said: str, p: _P) -> bool:
    copied = p["prompt_to_repeat"][p["n_start"] : p["n_end"] + 1]
    return bool(said.strip().lower() == copied.strip().lower())


def _word_reverse(said: str, _: _P) -> bool:
    turned = " ".join(reversed(unmarked(said.lower().strip()).split()))
    return "bald eagle" in turned and turned in sentences(turned)


CHECKS: Mapping[str, Callable[[str, _P], bool]] = {
    "custom:character_reverse": lambda said, _: "elgae dlab" in said.lower(),
    "custom:sentence_alphabet": _alphabet,
    "custom:word_reverse": _word_reverse,
    "ratio:overlap": _overlap,
    "ratio:sentence_balance": _balance,
    "ratio:sentence_type": _ratio,
    "ratio:sentence_words": _equal,
    "repeat:repeat_change": _changed,
    "repeat:repeat_simple": lambda said, _: said.strip().lower() == _ECHOED,
    "repeat:repeat_span": _span,
    "sentence:alliteration_increment": _alliteration,
    "sentence:increment": _increment,
    "sentence:keyword": _sentence_keyword,
    "words:keywords_specific_position": _position,
    "words:last_first": _chained,
    "words:paragraph_last_first": _framed,
    "words:words_position": _second,
}
