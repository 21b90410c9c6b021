"""How a response is laid out: lines, indents, bullets of a kind, italics, a template."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any, ClassVar

from attrs import field, frozen
from rlenv.authoring import Safe

from rlenv_plugin_constraints.constraint import Finding, shown
from rlenv_plugin_constraints.kinds.sentence_shapes import kind_of
from rlenv_plugin_constraints.text import Text
from rlenv_plugin_constraints.unmet import unmet

__all__ = [
    "ItalicThesis",
    "ListMarker",
    "SentencesThenBullets",
    "Stairs",
    "SubBullets",
    "Template",
    "WordPerLine",
]

_BULLET = re.compile(r"[^\S\n]*\*[^\S\n]+(?=.*[^\W_])\S")
_SUB = re.compile(r"[^\S\n]*[-–][^\S\n]+\S")
_OTHER_BULLET = re.compile(r"[^\S\n]*(?:[-*+•]|\d{1,3}[.)])\s+\S")
_HEADING = re.compile(
    r"^[^\S\n]*(?:#{1,6}[^\S\n]+.+|<h[1-6][^>]*>.*?</h[1-6]>|\*\*[^*\n]+\*\*:?|section\s+\w+\b[^.\n]*)[^\S\n]*$",
    re.M | re.I,
)
_THESIS = re.compile(
    r"(?:\s|</?(?:p|div|section|article|body|html|main|li|ul|br|span|strong|b)\b[^>]*>|[*_>-]+\s)*<(i|em)\b[^>]*>(.*?)</(i|em)>",
    re.I | re.S,
)
_TAG = re.compile(r"<[^>]*>")


@frozen
class WordPerLine:
    """Each line has one word."""

    kind: ClassVar[str] = "word_per_line"

    def check(self, text: Text) -> Finding:
        counts = [len(text.words_within(*span)) for span in text.line_spans]
        many = [s for s, n in zip(text.line_spans, counts, strict=True) if n > 1]
        return Finding(sum(counts) > 0 and not many, len(many), {"max": 0}, many[:100])


@frozen
class Stairs:
    """Each line is indented more than the one before.

    There are two at least, blank ones left out.
    """

    kind: ClassVar[str] = "stairs"

    def check(self, text: Text) -> Finding:
        lines = [
            (line.expandtabs(4), span)
            for line, span in zip(text.lines, text.line_spans, strict=True)
            if line.strip() and line.strip() not in ("```", "```text")
        ]
        indents = [len(line) - len(line.lstrip()) for line, _ in lines]
        wrong = [i for i, (a, b) in enumerate(pairwise(indents), 1) if b <= a]
        spans = [lines[i][1] for i in wrong[:100]]
        return Finding(len(lines) > 1 and not wrong, len(wrong), {"max": 0}, spans)


@frozen
class ListMarker:
    """A list of two items at least, each on a line that begins with ``marker``.

    There are no other bullets.
    """

    kind: ClassVar[str] = "list_marker"
    marker: Safe[str] = field(validator=shown)

    def markers(self) -> tuple[str, ...]:
        return (self.marker,)

    def check(self, text: Text) -> Finding:
        items = []
        others = []
        for line, span in zip(text.lines, text.line_spans, strict=True):
            body = line.strip()
            if body.startswith(self.marker):
                if any(map(str.isalnum, body[len(self.marker) :])):
                    items.append(span)
            elif _OTHER_BULLET.match(line) is not None:
                others.append(span)
        note = "there are other bullets" if others else ""
        fits = len(items) >= 2 and not others
        return Finding(fits, len(items), {"min": 2, "marker": self.marker}, others or items, note)


@frozen
class SubBullets:
    """Bullets with ``*``, and under each one at least one with ``-``."""

    kind: ClassVar[str] = "sub_bullets"

    def check(self, text: Text) -> Finding:
        bullets: list[list[Any]] = []
        for line, span in zip(text.lines, text.line_spans, strict=True):
            if _BULLET.match(line) is not None:
                bullets.append([span, 0])
            elif bullets and _SUB.match(line) is not None and any(map(str.isalnum, line)):
                bullets[-1][1] += 1
        bare = [span for span, below in bullets if not below]
        return Finding(bool(bullets) and not bare, len(bare), {"max": 0}, bare[:100])


@frozen
class SentencesThenBullets:
    """Two sentences at least, and after them two bullets with ``*`` at least.

    The sentences end in a full stop.
    """

    kind: ClassVar[str] = "sentences_then_bullets"

    def check(self, text: Text) -> Finding:
        lines = zip(text.lines, text.line_spans, strict=True)
        bullets = [span for line, span in lines if _BULLET.match(line) is not None]
        first = bullets[0][0] if bullets else 0
        before = Text(text.raw[:first])
        stated = sum(kind_of(before.raw[a:b]) == "statement" for a, b in before.sentences)
        measured = {"sentences": stated, "bullets": len(bullets)}
        return Finding(stated >= 2 and len(bullets) >= 2, measured, {"min": 2}, bullets[:100])


@frozen
class ItalicThesis:
    """Each section begins with a statement in HTML's italics.

    Where there is no heading, the response does.
    """

    kind: ClassVar[str] = "italic_thesis"

    def check(self, text: Text) -> Finding:
        raw = text.raw
        heads = [f.span() for f in _HEADING.finditer(raw) if "<i>" not in f.group().lower()]
        starts = [end for _, end in heads] or [0]
        ends = [start for start, _ in heads[1:]] + [len(raw)]
        wrong = [
            (start, end)
            for start, end in zip(starts, ends, strict=True)
            if not _has_thesis(raw[start:end])
        ]
        return Finding(not wrong, len(wrong), {"max": 0}, wrong[:100])


def _has_thesis(section: str) -> bool:
    found = _THESIS.match(section)
    if found is None or found.group(1).lower() != found.group(3).lower():
        return False
    says = any(map(str.isalpha, _TAG.sub("", found.group(2))))
    return says and any(map(str.isalpha, _TAG.sub("", section[found.end() :])))


@frozen
class Template:
    """Begins with the first of ``labels``; each is there once, in order, with content after it."""

    kind: ClassVar[str] = "template"
    labels: Safe[tuple[str, ...]]

    def markers(self) -> tuple[str, ...]:
        return self.labels

    def check(self, text: Text) -> Finding:
        raw = text.raw
        places = [raw.find(label) for label in self.labels]
        once = all(raw.count(label) == 1 for label in self.labels)
        if not once or places != sorted(places):
            return unmet(places, list(self.labels), note="each once, in this order")
        ends = [*places[1:], len(raw)]
        parts = [
            raw[p + len(label) : e] for p, label, e in zip(places, self.labels, ends, strict=True)
        ]
        empty = [i for i, part in enumerate(parts) if not _filled(part)]
        first = not any(map(str.isalnum, raw[: places[0]]))
        spans = [(p, p + len(label)) for p, label in zip(places, self.labels, strict=True)]
        note = "" if not empty else f"nothing after {self.labels[empty[0]]!r}"
        note = note if first else "something is before it"
        return Finding(first and not empty, len(empty), {"max": 0}, spans, note)


def _filled(part: str) -> bool:
    part = part.strip(" \t\r\n*_#")
    return any(map(str.isalnum, part)) and re.fullmatch(r"\[\w+\]\.?", part) is None
