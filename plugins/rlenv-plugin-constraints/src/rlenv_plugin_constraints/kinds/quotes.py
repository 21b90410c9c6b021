"""Quotations that appear word for word in a source."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Literal

from attrs import field, frozen
from rlenv import ConfigError
from rlenv.authoring import Safe
from rlenv.text import fenced_blocks

from rlenv_plugin_constraints.constraint import Finding, Span, positive
from rlenv_plugin_constraints.lazy import lazy
from rlenv_plugin_constraints.text import Text
from rlenv_plugin_constraints.unmet import unmet

__all__ = ["VerbatimQuotes", "quotations"]

WORK = 100_000_000  # characters of sources looked through for one response
_PAIRS = {
    "“": "”“",
    "”": "”",
    "„": "“”‟",
    "‟": "”",
    "«": "»",
    "»": "«",
    "›": "‹",
    "‹": "›",
    "‘": "’",
    "‚": "‘’",
    "「": "」",
    "『": "』",
    "《": "》",
    "〝": "〞〟",
    "＂": "＂",
    "❝": "❞",
}
# A class comes first, which is what is searched for fastest; what must be around each sign after
# it.
_OPENING = re.compile(
    r"[“„‟«‹‘‚「『《〝＂❝\"'»›`<&](?:(?<=[“„‟«‹‘‚「『《〝＂❝])|(?<=[\"'])(?<![^\W_].)(?=[^\s\"'])"
    r"|(?<=')(?<![\w'].)'(?=\w)|(?<=[»›])(?<!\w.)(?=\w)|(?<=`)`(?=\w)"
    r"|(?<=<)(?:q|blockquote)>|(?<=&)(?:quot|ldquo|laquo|bdquo);)",
    re.IGNORECASE | re.DOTALL,
)
_MARKUP_CLOSES = re.compile(r"</(?:q|blockquote)>|&(?:quot|rdquo|raquo|ldquo);", re.IGNORECASE)
_PARAGRAPH = re.compile(r"\n[^\S\n]*\n")
_QUOTED_LINE = re.compile(r"\n[ \t]{0,3}>")
_QUOTED_LINES = re.compile(r"(?:^[ \t]{0,3}>[^\n]*(?:\n|\Z))+", re.MULTILINE)
_ELLIPSIS = re.compile(r"\[\s*(?:…|\.{3}|\. \. \.)\s*\]|…|\.{3,}|\. \. \.|\(\s*(?:…|\.{3})\s*\)")
_BRACKET = re.compile(r"\[[^\[\]\n]{0,80}\]")
_OUTER = re.compile(r"^(?![-+$€£¥−]?\d)\W+|(?<![%°\d])\W+$|(?<=\d)[^\w%°]+$")
_GAP = "\x00"
_ANY = "\x01"


def _texts(_: Any, __: Any, value: tuple[str, ...]) -> None:
    if not value or not all(text.strip() for text in value):
        raise ConfigError("sources is a list of at least one text, none of them empty")


def words_of(text: str) -> list[str]:
    """The words as compared: no signs around them, one form of apostrophes and hyphens.

    -5 is not 5.
    """
    flat = text.translate(_FLAT)
    found = [word if word.isalnum() else _OUTER.sub("", word) for word in flat.split()]
    return [word for word in found if word and word not in ("-", "+")]


_FLAT = str.maketrans(
    {
        "’": "'",
        "‘": "'",
        "‐": "-",
        "‑": "-",
        "–": " ",
        "—": " ",
        "*": None,
        "\u200b": None,
        "\u00ad": None,
        "\ufeff": None,
        "\u2060": None,
    }
)


def quotations(raw: str) -> Iterator[Span]:
    """Where quotations stand, without their marks: of every kind of marks, and lines that begin
    with ">".

    One that is never closed reaches to the end of its paragraph.  Linear.
    """
    holes = [block.outer for block in fenced_blocks(raw)]
    lines = _QUOTED_LINES.finditer(raw) if _QUOTED_LINE.search(f"\n{raw}") else ()
    quoted = [found.span() for found in lines]
    yield from quoted
    for begin, end in _between(sorted(holes + quoted), 0, len(raw)):
        cuts = [begin, *(m.start() for m in _PARAGRAPH.finditer(raw, begin, end)), end]
        for first, last in itertools.pairwise(cuts):
            yield from _in_paragraph(raw, first, last)


def _between(holes: Sequence[Span], start: int, end: int) -> Iterator[Span]:
    for hole in holes:
        if hole[0] > start:
            yield start, hole[0]
        start = max(start, hole[1])
    if start < end:
        yield start, end


def _in_paragraph(raw: str, begin: int, end: int) -> Iterator[Span]:
    place = begin
    lone: set[str] = set()  # apostrophes, which nothing closes from here on
    while opening := _OPENING.search(raw, place, end):
        inside = opening.end()
        close = None if opening[0] in lone else _closing(raw, opening[0], inside, end)
        if close is None and opening[0] in "'‘‚''":
            lone.add(opening[0])
            place = inside
            continue
        last = end if close is None else close
        yield inside, last
        place = last + 1


def _closing(raw: str, mark: str, begin: int, end: int) -> int | None:
    if mark in ("'", "‘", "‚"):
        closes = re.compile(r"['’](?!\w)" if mark != "‚" else r"[‘’](?!\w)")
    elif mark == '"':
        closes = re.compile(r"(?<!\s)\"(?![^\W_])|\"(?=\s|\Z)")
    elif mark[0] in "<&":
        closes = _MARKUP_CLOSES
    elif mark in ("''", "``"):
        closes = re.compile(r"''")
    else:
        closes = re.compile("[" + _PAIRS.get(mark, '"') + "]")
    found = closes.search(raw, begin, end)
    return None if found is None else found.start()


@frozen(slots=False)
class VerbatimQuotes:
    """Every quotation appears word for word, in order and letter case, in one of ``sources``.

    Quotation marks of all kinds count, and lines that begin with ">"; the first letter may change
    its case, and signs around words and line breaks do not count.  More than a budget allows is
    undecided.

    Args:
        sources: the texts.
        min_words: shorter quotations are single words and titles, and are let be.
        min: how many quotations there must be.
        ellipsis: "gap": … and [...] stand for what is left out, between pieces in order; "forbid"
            takes them as words.
        brackets: "word": [he] stands for one word of the source, or is added; "forbid" takes it as
            written.
    """

    kind: ClassVar[str] = "verbatim_quotes"
    sources: Safe[tuple[str, ...]] = field(validator=_texts, repr=False)
    min_words: int = field(default=4, validator=positive)
    min: int = 1
    ellipsis: Literal["gap", "forbid"] = "gap"
    brackets: Literal["word", "forbid"] = "word"

    @lazy
    def _known(self) -> list[str]:
        return [f" {' '.join(words_of(source))} " for source in self.sources]

    def check(self, text: Text) -> Finding:
        wanted = {"min": self.min, "min_words": self.min_words}
        budget = WORK
        good: list[Span] = []
        for begin, end in quotations(text.raw):
            pieces = self._pieces(text.raw[begin:end])
            if sum(len(piece) for piece in pieces) < self.min_words:
                continue
            budget -= sum(map(len, self._known)) * len(pieces) + end - begin
            if budget < 0:
                note = "undecided: too many quotations for texts of this length"
                return unmet(len(good), wanted, good[:50], note)
            short = min(map(len, pieces)) < min(2, self.min_words) and len(pieces) > 1
            if short or not any(_stands(pieces, source) for source in self._known):
                return unmet(len(good), wanted, [(begin, end)], "no source has these words")
            good.append((begin, end))
        note = "" if len(good) >= self.min else f"{len(good)} quotations"
        return Finding(not note, len(good), wanted, good[:50], note)

    def _pieces(self, quote: str) -> list[list[str]]:
        """The words between what is left out."""
        bare = re.sub(r"(?m)^[ \t]*>+[ \t]?", "", quote)
        bare = re.sub(r"\n[ \t]*[—–-]{1,2}[ \t]*[^\n]{1,80}\s*\Z", "", bare)
        if self.ellipsis == "gap":
            bare = _ELLIPSIS.sub(f" {_GAP} ", bare)
        if self.brackets == "word":
            bare = _BRACKET.sub(f" {_ANY} ", bare)
        pieces: list[list[str]] = [[]]
        for part in re.split(f"([{_GAP}{_ANY}])", bare):
            if part == _GAP:
                pieces.append([])
            elif part == _ANY:
                pieces[-1].append(_ANY)
            else:
                pieces[-1] += words_of(part)
        return [piece for piece in pieces if any(word != _ANY for word in piece)]


def _stands(pieces: list[list[str]], source: str) -> bool:
    place = 0
    for number, piece in enumerate(pieces):
        end = _find(piece, source, place, first=number == 0)
        if end is None:
            return False
        place = end
    return True


def _find(piece: list[str], source: str, place: int, *, first: bool) -> int | None:
    """Where the piece ends in the source, from ``place`` on.

    The source has a space around each word.
    """
    head, *rest = piece
    swapped = head[:1].swapcase() + head[1:] if first else head
    for start in dict.fromkeys((head, swapped)):
        if _ANY in piece:
            found = _pattern([start, *rest]).search(source, place)
            if found is not None:
                return found.end()
        else:
            wanted = f" {' '.join([start, *rest])} "
            at = source.find(wanted, place)
            if at >= 0:
                return at + len(wanted) - 1
    return None


def _pattern(words: list[str]) -> re.Pattern[str]:
    parts = [r"(?: \S+)?+" if word == _ANY else f" {re.escape(word)}" for word in words]
    return re.compile("".join(parts).replace("?+", "?") + "(?= )")
