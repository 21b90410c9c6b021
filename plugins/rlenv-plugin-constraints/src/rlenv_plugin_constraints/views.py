"""A text as it reads, and where each of its characters stands in the text as written."""

from __future__ import annotations

import re
import unicodedata
from typing import TypeAlias

from attrs import frozen

__all__ = [
    "LATIN",
    "UNSEEN",
    "Span",
    "View",
    "caseless",
    "look_alikes",
    "plain",
    "visible",
    "western",
]

Span: TypeAlias = tuple[int, int]  # characters of the response, from and to

# Format characters, variation selectors and fillers, as a range for a class: there, and not seen.
UNSEEN = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e01ef"
)
LATIN = "A-Za-z0-9\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u017f"
# Letters of Europe's west and the signs of its printers: what needs no table of all of Unicode.
_WESTERN = re.compile(
    f"[\x00-\x7f{LATIN}\u00a0-\u00a9\u00ab\u00b0\u00b7\u00bb\u00bf\u00d7\u00f7\u2010-\u2026\u2030-\u203a\u20ac\u2122\u2190-\u2193\u2212]*+"
)
_BEYOND_ASCII = re.compile("[^\x00-\x7f]")
_UNSEEN = re.compile(f"[{UNSEEN}]+")
_ALIKE = dict(zip("‘’‚‛ʼʹ′＇`´“”„‟″«»‐‑‒–—−", "''''''''''\"\"\"\"\"\"\"------", strict=True))
_QUOTES = str.maketrans(_ALIKE)
# Caseless letters of other alphabets that cannot be told from Latin ones.
_LATIN = str.maketrans(
    "аеорсухіјѕһԁԛԝӏьѵԍвкмнтпгαβεζηικμνορτυχωγϲϳıɑɡʟɩոսօցհհᴀʙᴄᴅᴇɢʜᴊᴋᴍɴᴏᴘʀᴛᴜᴠᴡʏᴢ",
    "aeopcyxijshdqwlbvgbkmhtnrabezhikmvoptuxwycjiaglinuoghhabcdeghjkmnoprtuvwyz",
)
_SMALL_CAPITALS = str.maketrans(
    "ᴀʙᴄᴅᴇɢʜᴊᴋʟᴍɴᴏᴘʀᴛᴜᴠᴡʏᴢɑɡ", "abcdeghjklmnoprtuvwyzag"
)  # Latin themselves
_DECORATION = re.compile("[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]+")  # fmt: skip
_ASCII_LETTER = re.compile("[a-z]", re.ASCII)


@frozen(eq=False)
class View:
    """A text derived from a response.

    Args:
        text: the text.
        places: offset in the response of each character and of the end; None where they are equal.
    """

    text: str
    places: list[int] | None = None

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The span of the response that ``text[start:end]`` was made of."""
        if self.places is None:
            return start, end
        first, last = self.places[start], self.places[max(start, end - 1)]
        while end < len(self.text) and self.places[end] == last:
            end += 1
        return first, self.places[end] if end > start else first


def western(raw: str) -> bool:
    """Whether it is made of Latin letters, digits and usual signs, without combining marks."""
    return _WESTERN.fullmatch(raw) is not None


def plain(raw: str) -> View:
    """As a reader sees it: compatibility forms composed (NFKC), invisible characters gone."""
    if raw.isascii() or (unicodedata.is_normalized("NFKC", raw) and _UNSEEN.search(raw) is None):
        return View(raw)
    return _simply_mapped(raw) if western(raw) else _mapped(raw)


def _simply_mapped(raw: str) -> View:
    """Where every character stands for itself, without marks to compose with."""
    pieces: list[str] = []
    places: list[int] = []
    end = 0
    for found in _BEYOND_ASCII.finditer(raw):
        start = found.start()
        seen = unicodedata.normalize("NFKC", found.group())
        pieces += [raw[end:start], seen]
        places += range(end, start)
        places += [start] * len(seen)
        end = start + 1
    places += range(end, len(raw) + 1)
    return View("".join([*pieces, raw[end:]]), places)


def _mapped(raw: str) -> View:
    import regex  # type: ignore[import-untyped]

    pieces: list[str] = []
    places: list[int] = []
    # Runs that cannot change, else a letter with its marks, or the parts of a Hangul syllable.
    parts = r"[\x00-\x7f]+(?![\p{M}])|[\u1100-\u1112][\u1161-\u1175][\u11a8-\u11c2]?\p{M}*|\P{M}\p{M}*|\p{M}+"
    for found in regex.finditer(parts, raw):
        piece, at = found.group(), found.start()
        if piece.isascii():
            pieces.append(piece)
            places.extend(range(at, at + len(piece)))
            continue
        seen = unicodedata.normalize("NFKC", _UNSEEN.sub("", piece))
        if seen:
            pieces.append(seen)
            places.extend([at] * len(seen))
    places.append(len(raw))
    return View("".join(pieces), places)


def visible(raw: str) -> str:
    """The text without format characters, variation selectors and fillers."""
    return raw if raw.isascii() else _UNSEEN.sub("", raw)


def caseless(view: View) -> View:
    """Without case, with one form of every quotation mark and hyphen."""
    if view.text.isascii():
        return View(view.text.lower().replace("`", "'"), view.places)
    text = view.text.translate(_QUOTES)
    folded = text.casefold()
    if len(folded) == len(text):
        return View(folded, view.places)
    places = view.places or range(len(text) + 1)
    spread = [place for place, c in zip(places, text, strict=False) for _ in c.casefold()]
    return View(folded, [*spread, places[-1]])


def _of_one_alphabet(found: re.Match[str]) -> str:
    word = found.group()
    return word.translate(_LATIN) if _ASCII_LETTER.search(word) else word


def look_alikes(view: View) -> View:
    """A caseless view with look-alikes of Latin letters as these, and marks that only decorate gone.

    In a text that is mostly of another alphabet only words of mixed alphabets change: there the other
    letters are themselves.
    """
    text = view.text
    if text.isascii():
        return view
    text = text.translate(_SMALL_CAPITALS)
    latin = len(_ASCII_LETTER.findall(text))
    foreign = sum(c.isalpha() and not c.isascii() for c in text)
    mostly = latin >= foreign
    text = text.translate(_LATIN) if mostly else re.sub(r"\w+", _of_one_alphabet, text)
    if _DECORATION.search(text) is None:
        return View(text, view.places)
    places = view.places or range(len(text) + 1)
    kept = [(c, place) for c, place in zip(text, places, strict=False) if not _DECORATION.match(c)]
    return View("".join(c for c, _ in kept), [*(place for _, place in kept), places[-1]])
