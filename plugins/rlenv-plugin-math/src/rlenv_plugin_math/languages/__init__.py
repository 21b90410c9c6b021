"""A response in any language, read as the English in which the grammar of answers is written.

How a language announces, denies, doubts and takes back an answer is data: one pack each, beside
this file.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from functools import cache

from rlenv_plugin_math.held import frozen
from rlenv_plugin_math.limits import words_of

from .packs import DATA, Pack, english_list, pack

__all__ = [
    "UNCOVERED",
    "Read",
    "denials_uncovered",
    "holds_any",
    "pack",
    "read",
    "rejects_uncovered",
    "spoken",
    "unhidden",
    "words_in",
    "words_listed",
]

_Edit = tuple[int, int, str]
_HIDDEN = (
    "[\u00ad\u064b-\u0652\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]|[a-zA-Z][\u0300-\u036f]+"
)
_SMALL_LETTERS = (ord(chr(b).lower()) if chr(b).isalpha() else 32 for b in range(128))
_BLANKS = bytes((*_SMALL_LETTERS, *range(128, 256)))
_UNSPACED = "[ぁ-ヿ㐀-鿿가-힣]"
_SEAM = rf"(?<={_UNSPACED})(?=[0-9A-Za-z０-９$\\(−-])|(?<=[0-9A-Za-z０-９$)}}])(?={_UNSPACED})"
_SEAM += rf"|(?<=[,;:)])(?={_UNSPACED})"
_CHINESE = re.compile("[这個这為错錯对們们嗎吗还還是不]|答案")  # what no Japanese text is without
_READ = 200_000  # characters at the end of a text that are read in other languages than English
UNCOVERED = "uncovered"
_NOUNS = words_of("answer result option total correct_answer correct_option final_answer")
_VALUE = (
    r"\s*(?:[—–-]\s+)?(?=\$|\\[(\[a-z]|[-−+]?\d+(?![\d:)])|[A-J]\b(?![:)])|\([A-J]\)|[a-z]\s?=)"
)


class Read:
    """A text as it is read, and where each part of it was."""

    __slots__ = ("before", "commas", "ins", "is_covered", "outs", "text")

    def __init__(
        self,
        text: str,
        edits: list[_Edit],
        before: Read | None = None,
        *,
        commas: bool = False,
        is_covered: bool = True,
    ) -> None:
        self.commas = commas
        self.before = before
        self.is_covered = is_covered
        self.outs = [0]
        self.ins = [0]
        pieces: list[str] = []
        length = at = 0
        for start, end, english in edits:
            pieces += text[at:start], english
            length += start - at
            self.outs += length, length + len(english)
            self.ins += start, end
            length = length + len(english)
            at = end
        self.text = "".join(pieces) + text[at:]

    def back(self, at: int) -> int:
        """Index in the text as it was of an index in the text as it is read."""
        part = bisect_right(self.outs, at) - 1
        was = self.ins[part] + at - self.outs[part]
        was = min(was, self.ins[part + 1]) if part + 1 < len(self.ins) else was
        return self.before.back(was) if self.before else was


def read(text: str) -> Read | None:
    """The text with its wording in English; None where it is in English already.

    A text in a language without a pack is left as it is, and marked as not covered.
    """
    start = max(0, len(text) - _READ)
    found = spoken(text[start:])
    if not found:
        return None
    if found == [UNCOVERED]:
        return Read(text, [], is_covered=False)
    packs = [pack(name) for name in found if name != "en"]
    signs = [(m.start(), m.end(), "%") for m in re.finditer("％", text)]
    counted = Read(
        text, list(_apart(text, signs + [edit for one in packs for edit in _numbers(text, one)]))
    )
    text = counted.text
    edits = [edit for one in packs for edit in _edits(text, start, one, alone=one.name == found[0])]
    if not all(one.spaced for one in packs):
        edits += ((m.start(), m.start(), " ") for m in re.compile(_SEAM).finditer(text, start))
    commas = any(one.decimal_comma for one in packs)
    return Read(text, list(_apart(text, edits)), counted, commas=commas)


def unhidden(text: str) -> Read | None:
    """The text without what cannot be seen, letters and accents joined; None where there is
    none.
    """
    if text.isascii() or not re.search(_HIDDEN, text):
        return None
    edits = [
        (m.start(), m.end(), unicodedata.normalize("NFC", m[0]) if m[0][1:] else "")
        for m in re.finditer(_HIDDEN, text)
    ]
    return Read(text, edits)


def spoken(text: str) -> list[str]:
    """The languages of a text, the most used first; none where it is all English, ``UNCOVERED``
    where it has no pack.
    """
    known = _recognized()
    written = words_in(text)
    if text.isascii() and known.foreign.isdisjoint(written):
        return []
    hits: Counter[str] = Counter()
    if re.search("|".join(known.scripts.values()), text, re.IGNORECASE):
        for name, script in known.scripts.items():
            if found := re.findall(script, text, re.IGNORECASE):
                hits[name] = 1 + len(found) // 2
        if "ja" in hits and not re.search(_CHINESE, text):
            del hits["zh"]
    for word in set(written):
        hits.update(known.words.get(word, ()))
    for name, losers, script in known.over:
        if not hits.keys().isdisjoint(losers) and re.search(script, text):
            hits[name] += sum(hits.pop(loser, 0) for loser in losers)
    uncovered = [(hits.pop(name), name) for name in known.uncovered & hits.keys()]
    if uncovered and max(uncovered)[0] >= max([2, *hits.values()]):
        return [UNCOVERED]
    return [name for name, _ in hits.most_common()] if hits.keys() - {"en"} else []


def denials_uncovered(text: str) -> list[int]:
    """Where a sentence in a language without a pack has words that deny."""
    return _places(text, _recognized().uncovered_words["denies"])


def rejects_uncovered(sentence: str) -> bool:
    """Whether a sentence in a language without a pack, which names no value, says that something is
    wrong or unsure.
    """
    words = _recognized().uncovered_words
    if _places(sentence, words["wrong"]):
        return not _places(sentence, words["denies"] - words["wrong"])
    return bool(_places(sentence, words["denies"]) and _places(sentence, words["credence"]))


def _places(text: str, words: frozenset[str]) -> list[int]:
    """Where a text has one of some words; in scripts that do not part words, anywhere."""
    found = [m.start() for m in re.finditer(r"[^\W\d_]+", text) if m[0].lower() in words]
    if text.isascii():
        return found
    unspaced = [word for word in words if word[0] > "\u0590"]
    return found + [at for word in unspaced if (at := text.find(word)) >= 0]


def holds_any(kind: str, text: str) -> bool:
    """Whether an English text has one of the words without which nothing is taken back, or
    doubted.
    """
    return not _recognized().needed[kind].isdisjoint(words_in(text))


@cache
def words_listed(name: str) -> frozenset[str]:
    """The words of one list of English, and of the lists of that name of other languages."""
    return frozenset(english_list(name)) | _recognized().affirmative.get(name, frozenset())


def words_in(text: str) -> list[bytes]:
    """The words of a text in lower case."""
    if text.isascii():
        return text.encode().translate(_BLANKS).split()
    return " ".join(re.findall(r"[^\W\d_]+", text.lower())).encode("utf-8", "replace").split()


@frozen
class _Recognized:
    """Languages by a word that tells them, the characters that tell others, and words of English.

    ``over`` are languages that share the script of others, and what only they write; ``uncovered``
    are those without a pack.
    """

    words: dict[bytes, list[str]]
    scripts: dict[str, str]
    foreign: frozenset[bytes]
    needed: dict[str, frozenset[bytes]]
    over: tuple[tuple[str, tuple[str, ...], str], ...]
    uncovered: frozenset[str]
    uncovered_words: dict[str, frozenset[str]]
    affirmative: dict[str, frozenset[str]]


@cache
def _recognized() -> _Recognized:
    words: dict[bytes, list[str]] = {}
    kinds: dict[str, dict[str, str]] = {}
    for line in (DATA / "recognized.txt").read_text("utf-8").splitlines()[1:]:
        head, _, rest = line.partition(": ")
        name, kind = head.split()
        kinds.setdefault(kind, {})[name] = rest
    for name, rest in (*kinds["words"].items(), *kinds["unread"].items()):
        for word in rest.encode().split():
            words.setdefault(word, []).append(name)
    foreign = frozenset(word for word, names in words.items() if "en" not in names)
    needed = {
        kind: frozenset(kinds[kind]["en"].encode().split())
        for kind in ("takeback", "doubt", "denial", "mention")
    }
    over = tuple(
        (name, tuple(losers.split(",")), script)
        for name, rest in kinds["over"].items()
        for losers, _, script in (rest.partition(" "),)
    )
    uncovered = frozenset(kinds["unread"]) | frozenset(kinds["letters"])
    return _Recognized(
        words=words,
        scripts=kinds["script"] | kinds["letters"],
        foreign=foreign,
        needed=needed,
        over=over,
        uncovered=uncovered | {name for name, _, _ in over if not (DATA / f"{name}.toml").exists()},
        uncovered_words={
            kind: frozenset(kinds[kind]["xx"].split()) for kind in ("denies", "wrong", "credence")
        },
        affirmative={
            kind: frozenset(" ".join(kinds[kind].values()).split())
            for kind in ("affirming", "linking", "opening", "leading")
        },
    )


def _numbers(text: str, one: Pack) -> Iterator[_Edit]:
    """The numbers of a text that are in words, or in numerals that are not digits."""
    from .numbers import in_digits

    start = max(0, len(text) - _READ)
    for mark in one.numerals.finditer(text, start) if one.numerals else ():
        yield mark.start(), mark.end(), in_digits(mark[0])
    yield from one.places["numbers"].edits(text, start)


def _edits(text: str, start: int, one: Pack, *, alone: bool) -> Iterator[_Edit]:
    """What one language makes of a text; ``alone`` is the language that most of the text is in."""
    for place in ("behind", "between", *["beside"] * alone):
        yield from one.places[place].edits(text, start)
    for at, end, english in one.places["anywhere"].edits(text, start):
        noun = english.replace(" ", "_") in _NOUNS
        value = re.compile(_VALUE).match(text, end) if noun else None
        yield (at, value.end(), f"{english} is") if value else (at, end, english)


def _apart(text: str, edits: list[_Edit]) -> Iterator[_Edit]:
    """The edits in order, the longest of those that overlap, with spaces around words."""
    at = -1
    last = ""
    for start, end, english in sorted(edits, key=lambda edit: (edit[0], -edit[1])):
        if start < at or start == end == at:
            continue
        before = last if start == at else text[start - 1 : start]
        after = text[end : end + 1]
        opens = text[max(0, start - 3) : start].rstrip(" \n*")[-1:] in (*".!?۔।",)
        lead = "" if not before or before in ' \n\t({[$*"' or english[:1] in ",;:?. " else " "
        closed = not after or after in ' \n\t.,;:!?)}]。，！？*"' or english[-1:] == " "
        tail = "" if closed else " "
        yield start, end, lead + (english[:1].upper() + english[1:] if opens else english) + tail
        at = end
        last = tail or english[-1:]
