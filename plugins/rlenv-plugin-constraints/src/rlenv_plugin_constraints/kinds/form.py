"""Forms within a response: a title, bullets, highlights, placeholders, a choice."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, ClassVar

from attrs import field, frozen
from rlenv import ConfigError
from rlenv.authoring import Safe

from rlenv_plugin_constraints.constraint import Finding, Range
from rlenv_plugin_constraints.lazy import lazy
from rlenv_plugin_constraints.phrases import Phrase
from rlenv_plugin_constraints.text import Text
from rlenv_plugin_constraints.views import UNSEEN, Span, even, letters

__all__ = ["Bullets", "Choice", "Highlights", "Placeholders", "Title"]

_TITLE = re.compile(rf"""[#*_>\s"“”«{UNSEEN}]*<<([^<>\n]+)>>[*_\s"”»{UNSEEN}]*""")
_BULLET = re.compile(rf"[ \t>{UNSEEN}]*(?:[-*+][ \t]+|[•‣◦▪●·⁃∙][ \t]*)(?P<item>.*)")
_HIGHLIGHT = re.compile(r"(?<![*\\\w])(\*{1,3})(?![\s*])([^*\n]+)(?<![\s\\])\1(?![*\w])")
_PLACEHOLDER = re.compile(r"(?<![!\w\[\\])\[([^\[\]\n\"]+)\](?![(\]])")
_SHOWN = 100


@frozen
class Title:
    """The first line is a title ``<<so written>>``, alone on it, with a word in it.

    Where the response begins with the task's prompt, the first line behind that.
    """

    kind: ClassVar[str] = "title"

    def check(self, text: Text) -> Finding:
        raw = text.raw
        before = ""
        note = "there is none"
        for start, end in text.line_spans:
            line = raw[start:end]
            found = _TITLE.fullmatch(line) if "<<" in line else None
            if found is not None and any(map(str.isalnum, found[1])):
                fits = not before or even(before) in even(text.prompt)
                note = "" if fits else "it is not the first line"
                at = start + found.start(1) - 2
                span = (at, start + found.end(1) + 2)
                return Finding(fits, found[1].strip(), "<<title>> on the first line", [span], note)
            before += line + " " if line.strip() and len(before) <= len(text.prompt) + 100 else ""
        return Finding(satisfied=False, wanted="<<title>> on the first line", note=note)


@frozen
class Bullets(Range):
    """Lines that begin with a bullet (``*``, ``-``, ``+``, ``•``) and a space, and have a word.

    Rules (``---``), bold lines, numbered items and what is between code fences are none.
    """

    kind: ClassVar[str] = "bullets"

    def check(self, text: Text) -> Finding:
        spans = []
        fenced = False
        for start, end in text.line_spans:
            line = text.raw[start:end]
            if line.lstrip().startswith(("```", "~~~")):
                fenced = not fenced
            found = None if fenced else _BULLET.fullmatch(line)
            if found is not None and any(map(str.isalnum, found["item"])):
                spans.append((start, end))
        return self.found(len(spans), spans)


@frozen
class Highlights(Range):
    """Different stretches between asterisks, ``*so*`` or ``**so**``.

    Each is on one line and has a word in it.
    """

    kind: ClassVar[str] = "highlights"

    def check(self, text: Text) -> Finding:
        return self.found(*_distinct(_HIGHLIGHT.finditer(text.raw), 2))


@frozen
class Placeholders(Range):
    """Different names in square brackets, ``[address]``.

    Links, check boxes, numbers, code and empty brackets are none.
    """

    kind: ClassVar[str] = "placeholders"

    def check(self, text: Text) -> Finding:
        found = (
            match
            for match in _PLACEHOLDER.finditer(text.raw)
            if any(map(str.isalpha, match[1])) and match[1].strip().casefold() != "x"
        )
        return self.found(*_distinct(found, 1))


def _distinct(matches: Iterable[re.Match[str]], group: int) -> tuple[int, list[Span], str]:
    """How many different ones with a word in them, and where each is first."""
    spans: dict[str, Span] = {}
    repeated = 0
    for match in matches:
        name = " ".join(word.casefold() for word in Text(match[group]).plain.split())
        if any(map(str.isalnum, name)):
            repeated += name in spans
            spans.setdefault(name, match.span())
    note = f"{repeated} more are repetitions" if repeated else ""
    return len(spans), list(spans.values()), note


@frozen(slots=False)
class Choice:
    """Exactly one of ``options`` is there, whole; with ``case``, in its letter case.

    With ``whole``, and nothing else is there.
    """

    kind: ClassVar[str] = "choice"
    is_answer: ClassVar[bool] = True
    options: Safe[tuple[str, ...]] = field()
    whole: bool = False
    case: bool = False

    @options.validator
    def _different(self, _: Any, value: tuple[str, ...]) -> None:
        different = {even(option) for option in value}
        if len(different) < 2 or len(different) != len(value):
            raise ConfigError(f"options are at least two different ones, not {list(value)!r}")
        for option in value:
            Phrase(option)

    @lazy
    def _phrases(self) -> tuple[Phrase, ...]:
        return tuple(map(Phrase, sorted(self.options, key=len, reverse=True)))

    def check(self, text: Text) -> Finding:
        view = text.caseless_view
        taken: list[Span] = []
        chosen: list[str] = []
        for option in self._phrases:  # an option that contains another goes first
            places = [
                place
                for place in option.find(view, _SHOWN)
                if not any(a <= place[0] and place[1] <= b for a, b in taken)
            ]
            taken += places
            chosen += [option.text] if places else []
        spans = [view.span(*place) for place in taken[:_SHOWN]]
        fits = len(chosen) == 1
        note = "" if fits else f"{len(chosen)} of the options are there"
        if fits and self.whole and even(text.raw) != even(chosen[0]):
            fits = False
            note = "there is more than the option"
        if self.case and any(letters(text.raw[a:b]) != letters(chosen[0]) for a, b in spans):
            fits = False
            note = "in another letter case"
        return Finding(fits, chosen, list(self.options), spans, note)
