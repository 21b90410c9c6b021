"""Words that mean mathematics: number words, set phrases, months, and what is a word at all."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from pathlib import Path

from .tree import Add, Clock, Div, Mul, Node, Num, Ratio


def _lists() -> dict[str, list[str]]:
    lines = Path(__file__).with_name("words.tsv").read_text("utf-8").splitlines()[1:]
    return {name: words.split() for name, words in (line.split("\t") for line in lines)}


def _pairs(entries: list[str]) -> dict[str, str]:
    return dict(entry.split(":") for entry in entries)


_LISTS = _lists()
SMALL = {word: value for value, word in enumerate(_LISTS["ones"])} | {
    word: 10 * value for value, word in enumerate(_LISTS["tens"], 2)
}
SCALES = {
    "hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12,
}  # fmt: skip
COUNTS = {"dozen": 12}
ORDINAL = {word: value for value, word in enumerate(_LISTS["ordinals"], 1)}
PARTS = {"half": 2, "halves": 2, "quarter": 4, "quarters": 4} | {
    word + end: value for word, value in ORDINAL.items() if value > 2 for end in ("", "s")
}
MONTHS = {name: int(value) for name, value in _pairs(_LISTS["months"]).items()}
STOP = frozenset(_LISTS["no_units"])  # so that "5 is the answer" is prose and not a quantity
TAILS = frozenset(_LISTS["tails"])
_IRREGULAR = _pairs(_LISTS["irregular"])
_SHORT_WORDS = frozenset(_LISTS["short"])
_PRODUCT_VOWELS = frozenset("aeiou")


def is_product(word: str) -> bool:
    """Whether a run of letters is rather a product of variables (``xy``, ``abc``) than a word."""
    if len(word) == 1:
        return word < "\u3040"
    if len(word) > 4 or word == "DNE" or not word.isascii() or word.lower() in _SHORT_WORDS:
        return False
    if len(word) == 2 or (word.isupper() and len(word) == 3):
        return True
    if word.isupper():
        return False  # a quadrilateral, an acronym
    if len(word) == 3 and word[1:].islower() and word[0].isupper():
        return False
    in_order = list(word) == sorted(set(word)) and (
        len(word) == 3 or ord(word[-1]) - ord(word[0]) == 3
    )
    return in_order or (len(word) == 3 and not _PRODUCT_VOWELS.intersection(word.lower()))


@lru_cache(1024)
def singular(word: str) -> str:
    """A word for one of it, in lower case: ``boxes`` → ``box``; good enough to compare two
    words.
    """
    low = word.lower()
    if low in _IRREGULAR:
        return _IRREGULAR[low]
    if len(low) <= 3 or not low.endswith("s") or low.endswith(("ss", "us", "is")):
        return low
    if low.endswith("ies"):
        return low[:-3] + "y"
    if low.endswith(("ches", "shes", "xes", "sses", "zes", "oes")):
        return low[:-2]
    return low[:-1]


def number(words: list[str]) -> tuple[Node, int] | None:
    """The number at the start of the words (lower case) and how many of them it takes.

    ``["twenty", "one", "apples"]`` gives 21 and 2; ``["two", "thirds"]`` 2/3; ``["two", "and", "a",
    "half"]`` 2 + 1/2.  None when no number starts there.
    """
    if words[0] in ("a", "an"):
        if len(words) > 1 and (words[1] in SCALES or words[1] in COUNTS or words[1] in PARTS):
            words = ["one", *words[1:]]
        else:
            return None
    if words[0] == "half":
        article = len(words) > 2 and words[1] in ("a", "an")
        return Div(Num(Fraction(1)), Num(Fraction(2))), 1 + article
    if words[0] in ORDINAL and words[0] != "second" and len(words) == 1:
        return Num(Fraction(ORDINAL[words[0]])), 1
    if words[0] in SCALES and len(words) == 1:
        return Num(Fraction(SCALES[words[0]])), 1
    whole, used = _whole(words)
    if not used:
        return None
    rest = words[used:]
    if rest and rest[0] in PARTS:
        return Div(Num(Fraction(whole)), Num(Fraction(PARTS[rest[0]]))), used + 1
    if rest and rest[0] in COUNTS:
        return Num(Fraction(whole * COUNTS[rest[0]])), used + 1
    if len(rest) > 2 and rest[0] == "and" and rest[2] in PARTS:
        part = 1 if rest[1] in ("a", "an") else SMALL.get(rest[1], 0)
        if part:
            fraction = Div(Num(Fraction(part)), Num(Fraction(PARTS[rest[2]])))
            return Add((Num(Fraction(whole)), fraction)), used + 3
    return Num(Fraction(whole)), used


def _whole(words: list[str]) -> tuple[int, int]:
    """The integer at the start, and the words it takes (0 when there is none)."""
    total = current = used = 0
    last = 1_000  # the next small number must be smaller than what it is added to
    for at, word in enumerate(words):
        value = SMALL.get(word)
        if value is not None:
            if (at and value == 0) or value >= last or (last >= 20 and last < 100 and value > 9):
                break
            current += value
            last = value if value >= 20 else 1
        elif word in SCALES and used:
            scale = SCALES[word]
            if scale == 100:
                current *= 100
                last = 100
            else:
                total += current * scale
                current = 0
                last = 1_000
        elif (
            word == "and"
            and used
            and last == 100
            and words[at + 1 : at + 2]
            and words[at + 1] in SMALL
        ):
            continue
        else:
            break
        used = at + 1
    return total + current, used


def as_clock(node: Node) -> Clock | None:
    """The time of day that a node may mean: a Clock itself, or a Ratio such as ``15:45``."""
    if isinstance(node, Clock):
        return node
    if not isinstance(node, Ratio) or len(node.items) not in (2, 3):
        return None
    parts = [n.value for n in node.items if isinstance(n, Num) and n.decimals is None]
    if len(parts) != len(node.items) or any(p.denominator != 1 for p in parts):
        return None
    hour, minute, second = (*map(int, parts), 0)[:3]
    if 0 <= hour < 24 and 0 <= minute < 60 and 0 <= second < 60:
        return Clock(3600 * hour + 60 * minute + second)
    return None


def scaled(node: Node, word: str) -> Node | None:
    """``node`` times a scale word such as "million" or "dozen", folded where it is a literal."""
    scale = SCALES.get(word) or COUNTS.get(word)
    if scale is None:
        return None
    if isinstance(node, Num):
        value = node.value * scale
        return Num(value, None if value.denominator == 1 else node.decimals)
    return Mul((node, Num(Fraction(scale))))
