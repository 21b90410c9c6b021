"""A text as it reads, and where each of its characters is in the text as written."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache, partial
from typing import TypeAlias

from attrs import frozen

from rlenv_plugin_constraints.lazy import lazy

__all__ = [
    "LATIN",
    "UNSEEN",
    "Span",
    "View",
    "beyond_ascii",
    "caseless",
    "even",
    "look_alikes",
    "plain",
    "replaced",
    "rest",
    "same_letters",
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
_ASCII = bytes(range(128))
_NO_SMALL = bytes(set(range(128)) - set(b"abcdefghijklmnopqrstuvwxyz"))
_SIGNS = 100  # different ones that are replaced one after another, each in the whole text
_UNSEEN = re.compile(f"[{UNSEEN}]+")
_ALIKE = dict(zip("‘’‚‛ʼʹ′＇`´“”„‟″«»‐‑‒–—−", "''''''''''\"\"\"\"\"\"\"------", strict=True))
# Caseless letters of other alphabets that cannot be told from Latin ones.
_ALPHABETS = dict(
    zip(
        "аеорсухіјѕһԁԛԝӏьѵԍвкмнтпгαβεζηικμνορτυχωγϲϳıɑɡʟɩոսօցհհᴀʙᴄᴅᴇɢʜᴊᴋᴍɴᴏᴘʀᴛᴜᴠᴡʏᴢ",
        "aeopcyxijshdqwlbvgbkmhtnrabezhikmvoptuxwycjiaglinuoghhabcdeghjkmnoprtuvwyz",
        strict=True,
    )
)
_LATIN = str.maketrans(_ALPHABETS)
_SMALL_CAPITALS = dict(
    zip("ᴀʙᴄᴅᴇɢʜᴊᴋʟᴍɴᴏᴘʀᴛᴜᴠᴡʏᴢɑɡ", "abcdeghjklmnoprtuvwyzag", strict=True)
)  # Latin themselves
_DECORATION = re.compile(
    "[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]+"
)
_ASCII_LETTER = re.compile("[a-z]", re.ASCII)


def _odd(signs: Iterable[str]) -> frozenset[str]:
    return frozenset(sign for sign in signs if sign > "\x7f")


@frozen(eq=False, slots=False)
class View:
    """A text derived from a response.

    Args:
        text: the text.
        odd: its characters beyond ASCII.
        placed: gives the offset in the response of each character and of the end; None where they
            are equal.
    """

    text: str
    odd: frozenset[str] = frozenset()
    placed: Callable[[], Sequence[int]] | None = None

    @lazy
    def places(self) -> Sequence[int] | None:
        return None if self.placed is None else self.placed()

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The span of the response that ``text[start:end]`` was made of."""
        places = self.places
        if places is None:
            return start, end
        first = places[start]
        last = places[max(start, end - 1)]
        while end < len(self.text) and places[end] == last:
            end += 1
        return first, places[end] if end > start else first

    def read_as(self, text: str, odd: frozenset[str]) -> View:
        """Another text, each of whose characters is where this one's does."""
        return View(text, odd, None if self.placed is None else partial(getattr, self, "places"))

    def every_place(self) -> Sequence[int]:
        return range(len(self.text) + 1) if self.places is None else self.places


def beyond_ascii(text: str) -> frozenset[str]:
    """The characters of a text that are not ASCII."""
    return frozenset() if text.isascii() else frozenset(rest(text))


def rest(text: str) -> str:
    """The text without its ASCII."""
    return (
        text.encode("utf-8", "surrogatepass")
        .translate(None, _ASCII)
        .decode("utf-8", "surrogatepass")
    )


def replaced(text: str, signs: Mapping[str, str]) -> str:
    """``translate``, much faster for a few signs, none of which another one becomes."""
    if len(signs) > _SIGNS:
        return text.translate({ord(sign): other for sign, other in signs.items()})
    for sign, other in signs.items():
        text = text.replace(sign, other)
    return text


def western(raw: str) -> bool:
    """Whether it is made of Latin letters, digits and usual signs, without combining marks."""
    return _WESTERN.fullmatch(raw) is not None


def plain(raw: str, odd: frozenset[str] | None = None) -> View:
    """As a reader sees it: compatibility forms composed (NFKC), invisible characters gone.

    Args:
        raw: the text.
        odd: its characters beyond ASCII, where they are known.
    """
    if raw.isascii():
        return View(raw)
    odd = beyond_ascii(raw) if odd is None else odd
    if len(odd) > _SIGNS or any(_reading(sign) is None for sign in odd):
        return _composed(raw, odd)
    changed = {sign: seen for sign in odd if (seen := _reading(sign) or "") != sign}
    if not changed:
        return View(raw, odd)
    unseen_first = dict(sorted(changed.items(), key=lambda item: item[1] != ""))
    left = _odd(c for sign in odd for c in changed.get(sign, sign))
    return View(replaced(raw, unseen_first), left, partial(_places, raw, changed))


@lru_cache(maxsize=4096)
def _reading(sign: str) -> str | None:
    """What a sign reads as wherever it stands; None for what joins what is before it."""
    if _UNSEEN.match(sign):
        return ""
    if unicodedata.category(sign)[0] == "M" or "\u1100" <= sign <= "\u11ff":
        return None
    return unicodedata.normalize("NFKC", sign)


def same_letters(odd: frozenset[str]) -> bool:
    """Whether a text with these characters beyond ASCII has the letters and digits of its plain
    view, as they stand.
    """
    return len(odd) <= _SIGNS and all(map(_stays, odd))


@lru_cache(maxsize=4096)
def _stays(sign: str) -> bool:
    seen = _reading(sign)
    return seen == sign or (bool(seen) and not any(c.isalnum() or c in "'’" for c in seen or ""))


def _places(raw: str, changed: Mapping[str, str]) -> list[int]:
    places: list[int] = []
    end = 0
    for found in re.finditer(f"[{re.escape(''.join(changed))}]", raw):
        start = found.start()
        places += range(end, start)
        places += [start] * len(changed[found.group()])
        end = start + 1
    places += range(end, len(raw) + 1)
    return places


def _composed(raw: str, odd: frozenset[str]) -> View:
    """Where marks join letters, or parts of a syllable each other."""
    if unicodedata.is_normalized("NFKC", raw) and _UNSEEN.search(raw) is None:
        return View(raw, odd)
    import regex  # type: ignore[import-untyped]

    pieces: list[str] = []
    places: list[int] = []
    # Runs that cannot change, else a letter with its marks, or the parts of a Hangul syllable.
    parts = (
        r"[\x00-\x7f]+(?![\p{M}])"
        r"|[\u1100-\u1112][\u1161-\u1175][\u11a8-\u11c2]?\p{M}*"
        r"|\P{M}\p{M}*|\p{M}+"
    )
    for found in regex.finditer(parts, raw):
        piece = found.group()
        at = found.start()
        if piece.isascii():
            pieces.append(piece)
            places.extend(range(at, at + len(piece)))
            continue
        seen = unicodedata.normalize("NFKC", _UNSEEN.sub("", piece))
        if seen:
            pieces.append(seen)
            places.extend([at] * len(seen))
    places.append(len(raw))
    text = "".join(pieces)
    return View(text, beyond_ascii(text), lambda: places)


def visible(raw: str) -> str:
    """The text without format characters, variation selectors and fillers."""
    return raw if raw.isascii() else _UNSEEN.sub("", raw)


def caseless(view: View) -> View:
    """Without case, with one form of every quotation mark and hyphen."""
    if view.text.isascii():
        return view.read_as(view.text.lower().replace("`", "'"), view.odd)
    signs = {sign: _ALIKE[sign] for sign in (*view.odd, "`") if sign in _ALIKE}
    text = replaced(view.text, signs)
    folded = text.casefold()
    odd = _odd(c for sign in view.odd - signs.keys() for c in sign.casefold())
    if len(folded) == len(text):
        return view.read_as(folded, odd)
    return View(folded, odd, lambda: _spread(view.every_place(), text))


def letters(text: str) -> str:
    """Its letters as read, in their case and without what is between them."""
    return "".join(filter(str.isalpha, plain(text).text))


def even(text: str) -> str:
    """Caseless as read, with single spaces and none at the ends."""
    seen = text.lower().replace("`", "'") if text.isascii() else caseless(plain(text)).text
    return " ".join(seen.split())


def _spread(places: Sequence[int], text: str) -> list[int]:
    """The places of what ``text`` becomes without case."""
    spread = [place for place, c in zip(places, text, strict=False) for _ in c.casefold()]
    return [*spread, places[-1]]


def _of_one_alphabet(found: re.Match[str]) -> str:
    word = found.group()
    return word.translate(_LATIN) if _ASCII_LETTER.search(word) else word


def look_alikes(view: View) -> View:
    """A caseless view with look-alikes of Latin letters as these, and marks that only decorate
    gone.

    In a text that is mostly of another alphabet only words of mixed alphabets change: there the
    other letters are themselves.
    """
    if view.text.isascii():
        return view
    small = {sign: _SMALL_CAPITALS[sign] for sign in view.odd & _SMALL_CAPITALS.keys()}
    text = replaced(view.text, small)
    odd = view.odd - small.keys()
    alike = {sign: _ALPHABETS[sign] for sign in odd & _ALPHABETS.keys()}
    if alike:
        text = (
            replaced(text, alike) if _mostly_latin(text) else re.sub(r"\w+", _of_one_alphabet, text)
        )
        odd = beyond_ascii(text)
    if not any(map(_DECORATION.match, odd)):
        return view.read_as(text, odd)
    left = frozenset(sign for sign in odd if not _DECORATION.match(sign))
    return View(_DECORATION.sub("", text), left, lambda: _kept(view.every_place(), text))


def _mostly_latin(text: str) -> bool:
    small = text.encode("ascii", "ignore").translate(None, _NO_SMALL)
    return len(small) >= sum(map(str.isalpha, rest(text)))


def _kept(places: Sequence[int], text: str) -> list[int]:
    """The places of what is no decoration in ``text``."""
    kept = [place for c, place in zip(text, places, strict=False) if not _DECORATION.match(c)]
    return [*kept, places[-1]]
