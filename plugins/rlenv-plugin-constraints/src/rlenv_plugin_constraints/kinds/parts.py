"""The parts of a response: numbered sections, headings in their order, several responses in one."""

from __future__ import annotations

import re
from typing import Any, ClassVar

from attrs import field, frozen
from rlenv import ConfigError
from rlenv.authoring import Safe

from rlenv_plugin_constraints.constraint import Finding, Range, positive, shown
from rlenv_plugin_constraints.lazy import lazy
from rlenv_plugin_constraints.text import Text
from rlenv_plugin_constraints.views import UNSEEN, Span, even

__all__ = ["Responses", "SectionOrder", "Sections"]

_NUMBERS = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
    " sixteen seventeen eighteen nineteen twenty"
)
_NUMBERED = re.compile(rf"[\s#*_>{UNSEEN}]*(?:\d{{1,3}}[.)]|[ivxIVX]{{1,6}}[.)])?")
_LEAD = rf"[#*_>\-\s\"“(\[{UNSEEN}]*"


@frozen(slots=False)
class Sections(Range):
    """Sections that begin with a line ``Section 1``.

    The line is ``word``, in this case, and a number, a Roman one, or a letter; each number is there
    once, and each section has something in it.
    """

    kind: ClassVar[str] = "sections"
    word: Safe[str] = field(default="Section", validator=shown)

    @lazy
    def _head(self) -> re.Pattern[str]:
        spelled = r"\s+".join(map(re.escape, self.word.split()))
        words = _NUMBERS.replace(" ", "|")
        number = (
            rf"\d{{1,4}}(?![^\W_])"
            rf"|(?:[IVXLC]+|[ivxlc]+|(?i:{words})|[A-Za-z])(?=\s*(?:$|[.:)\-–—*_\]\"]))"
        )
        return re.compile(rf"{_LEAD}{spelled}[ \t]*[#:.]?[ \t]*({number})(?P<rest>.*)")

    def markers(self) -> tuple[str, ...]:
        return (self.word,)

    def check(self, text: Text) -> Finding:
        spans: dict[str, Span] = {}
        filled: set[str] = set()
        current = ""
        for start, end in text.line_spans:
            line = text.raw[start:end]
            head = self._head.fullmatch(line)
            if head is not None:
                current = head[1].casefold()
                spans.setdefault(current, (start, start + head.end(1)))
                line = head["rest"]
            if current and current not in filled and any(map(str.isalnum, line)):
                filled.add(current)
        kept = [span for number, span in spans.items() if number in filled]
        empty = len(spans) - len(kept)
        return self.found(len(kept), kept, f"{empty} sections are empty" if empty else "")


@frozen(slots=False)
class SectionOrder:
    """Every one of ``headings`` is a line of its own, once, in this order.

    It may be a Markdown heading, bold, numbered or with a colon, or plain; each has something below
    it.
    """

    kind: ClassVar[str] = "section_order"
    headings: Safe[tuple[str, ...]] = field()

    @headings.validator
    def _different(self, _: Any, value: tuple[str, ...]) -> None:
        names = [_heading(heading) for heading in value]
        if not names or not all(names) or len(set(names)) != len(names):
            raise ConfigError(f"headings are different ones, at least one, not {list(value)!r}")

    @lazy
    def _wanted(self) -> dict[str, int]:
        return {_heading(heading): at for at, heading in enumerate(self.headings)}

    def markers(self) -> tuple[str, ...]:
        return self.headings

    def check(self, text: Text) -> Finding:
        order: list[int] = []
        spans: list[Span] = []
        filled: list[bool] = []
        longest = max(map(len, self._wanted)) + 40
        for start, end in text.line_spans:
            line = text.raw[start:end]
            at = self._wanted.get(_heading(line)) if len(line) <= longest * 4 else None
            if at is not None:
                order.append(at)
                spans.append((start, end))
                filled.append(False)
            elif filled and any(map(str.isalnum, line)):
                filled[-1] = True
        right = order == list(range(len(self.headings)))
        fits = right and all(filled)
        note = "" if fits else self._wrong(order)
        found = [self.headings[at] for at in order]
        return Finding(fits, found[:50], list(self.headings), spans[:50], note)

    def _wrong(self, order: list[int]) -> str:
        if order == list(range(len(self.headings))):
            return "a section is empty"
        missing = [name for at, name in enumerate(self.headings) if at not in order]
        if missing:
            return f"missing: {', '.join(missing)}"[:300]
        return "a heading is there twice" if len(set(order)) < len(order) else "out of order"


def _heading(line: str) -> str:
    """A line without what marks a heading."""
    lead = _NUMBERED.match(line)
    return even(line[lead.end() :] if lead else line).strip("#*_: ")


@frozen
class Responses:
    """Exactly ``n`` different responses, with lines of nothing but ``separator`` between them."""

    kind: ClassVar[str] = "responses"
    n: int = field(default=2, validator=positive)
    separator: Safe[str] = field(default="******", validator=shown)

    def check(self, text: Text) -> Finding:
        parts: list[list[str]] = [[]]
        spans: list[Span] = []
        for (start, end), line in zip(text.line_spans, text.lines, strict=True):
            if line.strip() == self.separator.strip():
                parts.append([])
                spans.append((start, end))
            else:
                parts[-1].append(line)
        if len(parts) == 1 < self.n:
            return Finding(
                satisfied=False, measured=1, wanted={"exactly": self.n}, note="there is one"
            )
        said = [tuple(Text("\n".join(part)).lower_words) for part in parts]
        full = [words for words in said if words]
        different = len(set(full))
        empty = any(not words for words in said[1:-1])
        fits = different == len(full) == self.n and not empty
        note = ""
        if empty:
            note = "a response is empty"
        elif different != len(full):
            note = "two are the same"
        return Finding(fits, different, {"exactly": self.n}, spans[:50], note)
