"""How words are written: title case, no white space, an emoji at the end of sentences, one option."""

from __future__ import annotations

import re
from functools import cached_property, lru_cache
from typing import Any, ClassVar

from attrs import field, frozen

from rlenv_plugin_constraints.constraint import Finding
from rlenv_plugin_constraints.text import Text
from rlenv_plugin_constraints.unmet import unmet
from rlenv_plugin_constraints.views import plain
from rlenv_plugin_constraints.vocabulary import MINOR

__all__ = ["EmojiEnds", "NoWhitespace", "OneOption", "TitleCase"]

_SPACE = re.compile(
    "[\\s\u00ad\u115f\u1160\u180e\u200b-\u200f\u2028-\u202f\u205f-\u2064\u2800\u3164\ufeff\uffa0\x1c-\x1f]"
)
_PARTS = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_WRAPPERS = " \t\r\n\"'“”‘’*_`"


@frozen
class NoWhitespace:
    """No white space, nor a character that looks like some or like nothing."""

    kind: ClassVar[str] = "no_whitespace"

    def check(self, text: Text) -> Finding:
        spans = [found.span() for found in _SPACE.finditer(text.raw)]
        return Finding(bool(text.raw) and not spans, len(spans), {"max": 0}, spans[:100])


@frozen
class TitleCase:
    """Every word begins with a capital and goes on in small letters; articles, short prepositions and
    conjunctions may be small, except the first and the last word.  Acronyms and names such as McDonald count."""

    kind: ClassVar[str] = "title_case"

    def check(self, text: Text) -> Finding:
        words = list(_PARTS.finditer(text.plain))
        view = text.plain_view
        wrong = []
        for place, found in enumerate(words):
            word, start = found.group(), found.start()
            if not word[0].islower():
                continue
            edge = place in (0, len(words) - 1)
            ordinal = start > 0 and view.text[start - 1].isdigit()
            small = word.islower() and word in MINOR and not edge
            if not (
                word[0].isupper() or word[0].istitle() or small or ordinal or not word[0].islower()
            ):
                wrong.append(view.span(*found.span()))
        shouts = sum(len(f.group()) > 1 and f.group().isupper() for f in words)
        loud = len(words) > 2 and 2 * shouts > len(words)
        note = "most of it is in capitals" if loud else ""
        fits = bool(words) and not wrong and not loud
        return Finding(fits, len(wrong), {"max": 0}, wrong[:100], note)


@frozen(slots=False)
class OneOption:
    """The response is one of ``options`` and nothing else: "yes/no", "a), b)", "I know or I don't know"."""

    kind: ClassVar[str] = "option"
    is_answer: ClassVar[bool] = True
    options: str = field()

    @cached_property
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
        spans, count = [], 0
        for start, end in text.sentences:
            count += 1
            body = text.raw[start:end].rstrip("\"'”’»)]*_` \t\n")
            bare = body.rstrip(".!?…。！？‽ \"'”’»)]*_`")
            after = text.raw[start + len(body) :].lstrip(" \t\"'”’»)]*_`")
            if not (_ends_with(emoji, bare) or emoji.match(after)):
                spans.append((start, end))
        return Finding(count > 0 and not spans, len(spans), {"max": 0}, spans[:100])


def _ends_with(emoji: Any, text: str) -> bool:
    tail = text[-24:]
    return any(found.end() == len(tail) for found in emoji.finditer(tail))
