"""How words are written: title case, no white space, an emoji at the end of sentences, one
option.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any, ClassVar

from attrs import field, frozen
from rlenv.authoring import Safe

from rlenv_plugin_constraints.constraint import Finding
from rlenv_plugin_constraints.lazy import lazy
from rlenv_plugin_constraints.text import Text
from rlenv_plugin_constraints.unmet import unmet
from rlenv_plugin_constraints.views import View, plain, same_letters
from rlenv_plugin_constraints.vocabulary import MINOR
from rlenv_plugin_constraints.words import LETTERS, spans_of

__all__ = ["SPACE", "EmojiEnds", "NoWhitespace", "OneOption", "TitleCase"]

SPACE = re.compile(
    "[\\s\u00ad\u115f\u1160\u180e\u200b-\u200f\u2028-\u202f\u205f-\u2064\u2800\u3164\ufeff\uffa0\x1c-\x1f]"
)
_PARTS = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_NUMBERED = re.compile(r"[0-9](?=[^\W\d_])")  # "1st"
_CLOSERS = re.compile(r"[ \t\"'”’»)\]*_`]*")
_WRAPPERS = " \t\r\n\"'“”‘’*_`"


@frozen
class NoWhitespace:
    """No white space, nor a character that looks like some or like nothing."""

    kind: ClassVar[str] = "no_whitespace"

    def check(self, text: Text) -> Finding:
        spans = [found.span() for found in SPACE.finditer(text.raw)]
        return Finding(bool(text.raw) and not spans, len(spans), {"max": 0}, spans[:100])


@frozen
class TitleCase:
    """Every word begins with a capital and goes on in small letters.

    Articles, short prepositions and conjunctions may be small, except the first and the last word.
    Acronyms and names such as McDonald count.
    """

    kind: ClassVar[str] = "title_case"

    def check(self, text: Text) -> Finding:
        view = View(text.raw, text.odd) if same_letters(text.odd) else text.plain_view
        seen = view.text
        flat = LETTERS.flat(seen, view.odd)
        words = _PARTS.findall(seen) if flat is None else flat.split()
        last = len(words) - 1
        different = set(words)
        small = {word for word in different if word[0].islower()}
        minor = small & MINOR
        odd = [
            place
            for place, word in enumerate(words)
            if word in small and not (word in minor and 0 < place < last)
        ]
        if odd and (_NUMBERED.search(seen) or any(map(str.isdigit, view.odd))):
            starts = [start for start, _ in spans_of(seen, words, odd)]
            behind = [at > 0 and seen[at - 1].isdigit() for at in starts]
            odd = [place for place, digit in zip(odd, behind, strict=True) if not digit]
        spans = [view.span(*span) for span in spans_of(seen, words, odd[:100])]
        shouted = {word for word in different if len(word) > 1 and word.isupper()}
        shouts = sum(word in shouted for word in words) if shouted else 0
        loud = len(words) > 2 and 2 * shouts > len(words)
        note = "most of it is in capitals" if loud else ""
        fits = bool(words) and not odd and not loud
        return Finding(fits, len(odd), {"max": 0}, spans, note)


@frozen(slots=False)
class OneOption:
    """The response is one of ``options`` and nothing else.

    Options are such as "yes/no", "a), b)", "I know or I don't know".
    """

    kind: ClassVar[str] = "option"
    is_answer: ClassVar[bool] = True
    options: Safe[str] = field()

    @lazy
    def _each(self) -> tuple[str, ...]:
        if "/" in self.options:
            between = "/"
        else:
            between = r",\s*(?:or\s+)?" if "," in self.options else r"\s+or\s+"
        return tuple(part.strip() for part in re.split(between, self.options) if part.strip())

    def check(self, text: Text) -> Finding:
        given = _even(text.raw)
        letters = all(re.fullmatch(r"\(?[a-z][).]", _even(option)) for option in self._each)
        for option in self._each:
            wanted = _even(option)
            if given == wanted or (not letters and given.rstrip(".!") == wanted.rstrip(".!")):
                whole = (0, len(text.raw))
                return Finding(
                    satisfied=True, measured=option, wanted=list(self._each), spans=[whole]
                )
        return unmet(text.raw.strip()[:80], list(self._each))


def _even(text: str) -> str:
    seen = plain(text).text.replace("’", "'").replace("‘", "'")
    return " ".join(seen.strip(_WRAPPERS).casefold().split())


@lru_cache(maxsize=1)
def _emoji() -> Any:
    import regex  # type: ignore[import-untyped]

    one = (
        r"(?:\p{Regional_Indicator}{2}|[0-9#*]\uFE0F?\u20E3"
        r"|(?:\p{Emoji_Presentation}|\p{Extended_Pictographic})[\uFE0E\uFE0F\p{Emoji_Modifier}]*"
        r"(?:\u200D(?:\p{Emoji_Presentation}|\p{Extended_Pictographic})[\uFE0E\uFE0F\p{Emoji_Modifier}]*)*)"
    )
    signs = r"(?<![©®™‼⁉ℹ])"
    return regex.compile(one + signs)


@frozen
class EmojiEnds:
    """Every sentence ends with an emoji, right before its closing mark or right after it."""

    kind: ClassVar[str] = "emoji_ends"

    def check(self, text: Text) -> Finding:
        emoji = _emoji()
        spans = []
        count = 0
        for start, end in text.sentences:
            count += 1
            body = text.raw[start:end].rstrip("\"'”’»)]*_` \t\n")
            bare = body.rstrip(".!?…。！？‽ \"'”’»)]*_`")
            after = start + len(body)
            rest = _CLOSERS.match(text.raw, after)
            after = rest.end() if rest else after
            if not (_ends_with(emoji, bare) or _begins_with(emoji, text.raw, after)):
                spans.append((start, end))
        return Finding(count > 0 and not spans, len(spans), {"max": 0}, spans[:100])


def _begins_with(emoji: Any, text: str, place: int) -> bool:
    near = text[place : place + 24]  # no emoji is longer
    return _may_be_emoji(near[:2]) and emoji.match(near) is not None


def _may_be_emoji(letters: str) -> bool:
    """Whether it is worth the look: most of a text is ASCII, and of that only a keycap's digit
    begins one.
    """
    return not letters.isascii()


def _ends_with(emoji: Any, text: str) -> bool:
    tail = text[-24:]
    if not _may_be_emoji(tail):
        return False
    return any(found.end() == len(tail) for found in emoji.finditer(tail))
