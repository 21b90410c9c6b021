"""Marks within marks: brackets, quotations and what follows them, punctuation."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import ClassVar

from attrs import field, frozen

from rlenv_plugin_constraints.constraint import Finding, positive
from rlenv_plugin_constraints.text import Text
from rlenv_plugin_constraints.views import Span

__all__ = ["NestedBrackets", "NestedQuotes", "PunctuationMarks", "QuotesExplained"]

_BRACKET = re.compile(r"[()\[\]{}]")
_MARK_OR_LINE = re.compile("[\"'\n]")
_CLOSES = {"(": ")", "[": "]", "{": "}"}
_QUOTATION = re.compile(r"\"([^\"\n]*)\"|“([^”]*)”|„([^“”]*)[“”]|«([^»]*)»")
_OPENS = re.compile('["“„«]')
_INTERROBANG = re.compile(r"\?!|!\?|‽")


@frozen
class NestedBrackets:
    """Brackets within brackets, ``depth`` deep, with something inside.

    Each is closed by its own kind.
    """

    kind: ClassVar[str] = "nested_brackets"
    depth: int = field(default=5, validator=positive)

    def check(self, text: Text) -> Finding:
        open_: list[list[int]] = []  # of each bracket: where it stands, and the depth below it
        deepest = 0
        place = (0, 0)
        for found in _BRACKET.finditer(text.raw):
            at = found.start()
            letter = found.group()
            if letter in "([{":
                open_.append([at, 0])
            else:
                if not open_ or _CLOSES[text.raw[open_[-1][0]]] != letter:
                    open_.clear()
                    continue
                start, below = open_.pop()
                if open_:
                    open_[-1][1] = max(open_[-1][1], below + 1)
                if below + 1 > deepest:
                    deepest = below + 1
                    place = (start, at + 1)
        says = any(map(str.isalnum, text.raw[place[0] : place[1]]))
        fits = deepest >= self.depth and says
        return Finding(fits, deepest, {"min": self.depth}, [place] if deepest else [])


@frozen
class NestedQuotes:
    """A quotation within a quotation, ``depth`` deep, each one closed.

    Double and single marks take turns.
    """

    kind: ClassVar[str] = "nested_quotes"
    depth: int = field(default=3, validator=positive)

    def check(self, text: Text) -> Finding:
        raw = text.raw.translate(str.maketrans("“”„‘’", '"""\'\''))
        open_: list[list[int]] = []
        deepest = 0
        place = (0, 0)
        for found in _MARK_OR_LINE.finditer(raw):
            at = found.start()
            letter = found.group()
            if letter == "\n":
                if raw[at + 1 : at + 2].strip() == "":
                    open_.clear()  # a quotation does not outlast its paragraph
                continue
            if _apostrophe(raw, at):
                continue
            inside = bool(open_) and raw[open_[-1][0]] == letter
            if not inside:
                open_.append([at, 0])
            elif _can_close(raw, at):
                start, below = open_.pop()
                if not any(map(str.isalnum, raw[start:at])):
                    continue
                if open_:
                    open_[-1][1] = max(open_[-1][1], below + 1)
                if below + 1 > deepest:
                    deepest = below + 1
                    place = (start, at + 1)
        fits = deepest >= self.depth
        return Finding(fits, deepest, {"min": self.depth}, [place] if deepest else [])


def _apostrophe(raw: str, at: int) -> bool:
    before = raw[at - 1 : at] if at else ""
    after = raw[at + 1 : at + 2]
    return raw[at] == "'" and before.isalnum() and after.isalnum()


def _can_close(raw: str, at: int) -> bool:
    return at > 0 and not raw[at - 1].isspace()


def _quotations(raw: str) -> Iterator[re.Match[str]]:
    """Quotations in order; marks that nothing closes from there on are passed over.  Linear."""
    last = {'"': len(raw), "“": raw.rfind("”"), "«": raw.rfind("»")}
    last["„"] = max(last["“"], raw.rfind("“"))
    place = 0
    while (opening := _OPENS.search(raw, place)) is not None:
        place = opening.end()
        closed = opening.start() < last[opening.group()]
        if closed and (found := _QUOTATION.match(raw, opening.start())) is not None:
            yield found
            place = found.end()


@frozen
class QuotesExplained:
    """There are quotations, and words without quotation marks follow each one."""

    kind: ClassVar[str] = "quotes_explained"

    def check(self, text: Text) -> Finding:
        quotations = [
            found for found in _quotations(text.raw) if any(map(str.isalnum, found.group()))
        ]
        bare: list[Span] = []
        ends = [found.start() for found in quotations[1:]] + [len(text.raw)]
        for found, end in zip(quotations, ends, strict=False):
            if not any(map(str.isalpha, text.raw[found.end() : end])):
                bare.append(found.span())
        odd = text.raw.count('"') % 2 == 1 or text.raw.count("“") != text.raw.count("”")
        note = "" if quotations else "nothing is quoted"
        fits = bool(quotations) and not bare
        if odd and fits:
            fits = False
            note = "a quotation is not closed"
        return Finding(fits, len(bare), {"max": 0}, bare[:100], note)


@frozen
class PunctuationMarks:
    """Every mark of punctuation is there.

    These are full stop, comma, exclamation mark, question mark, semicolon, colon, and an
    interrobang.
    """

    kind: ClassVar[str] = "punctuation_marks"

    def check(self, text: Text) -> Finding:
        bang = _INTERROBANG.search(text.raw)
        rest = text.raw if bang is None else text.raw[: bang.start()] + text.raw[bang.end() :]
        missing = [mark for mark in ".,!?;:" if mark not in rest]
        missing += [] if bang is not None else ["?!"]
        note = f"missing: {' '.join(missing)}" if missing else ""
        fits = not missing and bool(text.words)
        return Finding(fits, 7 - len(missing), 7, [bang.span()] if bang else [], note)
