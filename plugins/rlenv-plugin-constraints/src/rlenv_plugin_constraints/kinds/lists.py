"""Lists with a right content: numbers, capitals of Europe, countries of Africa, questions with
options.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import ClassVar

from attrs import field, frozen

from rlenv_plugin_constraints.constraint import Finding, positive
from rlenv_plugin_constraints.geography import AFRICA, CAPITALS
from rlenv_plugin_constraints.text import Text, base
from rlenv_plugin_constraints.unmet import unmet

__all__ = ["AfricanCountries", "EuropeanCapitals", "MultipleChoice", "NumberList"]

_NUMBER = re.compile(r"[-−]?\d+(?:[.,]\d+)*")
_BULLET = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s+")
_NO_LETTERS = re.compile(r"[^a-z\n]+")
_QUESTION = re.compile(r"^[\s*_#>]*Question\b[\s*_]*(?:\d+)?[\s*_]*[.:;)|-]*[\s*_]*", re.M)
_CHOICE = re.compile(r"[\s*_(\-]*([A-Za-z])[\s*_]*[.):]\s*\S")


@frozen
class NumberList:
    """The numbers in the response are ``numbers``, in this order."""

    kind: ClassVar[str] = "number_list"
    is_answer: ClassVar[bool] = True
    numbers: tuple[int, ...]

    def check(self, text: Text) -> Finding:
        spaced = re.sub(r",(?!\d{3}\b)", ", ", text.plain)
        found = _NUMBER.findall(spaced)[:100]
        wanted = [str(number) for number in self.numbers]
        return Finding(found == wanted, found, wanted)


@frozen
class EuropeanCapitals:
    """Capitals of Europe north of 45 degrees, all and no others.

    They go from north to south, parted by commas.

    IFBench's own list lacks Kyiv; with and without it is right.
    """

    kind: ClassVar[str] = "european_capitals"
    is_answer: ClassVar[bool] = True

    def check(self, text: Text) -> Finding:
        body = re.sub(r",?\s+and\s+", ", ", text.raw.strip().rstrip("."))
        names = [" ".join(base(part).split()) for part in body.split(",")]
        known = [_capital(name) for name in names]
        without = [name for name in CAPITALS if name != "kyiv"]
        fits = known in (list(CAPITALS), without)
        return Finding(fits, names[:40], list(CAPITALS))


def _capital(name: str) -> str:
    others = {
        "kiev": "kyiv",
        "luxembourg city": "luxembourg",
        "berne": "bern",
        "kishinev": "chisinau",
    }
    return others.get(name, name)


@frozen
class AfricanCountries:
    """All countries of Africa, one on each line, from Z to A."""

    kind: ClassVar[str] = "african_countries"
    is_answer: ClassVar[bool] = True

    def check(self, text: Text) -> Finding:
        lines = [_BULLET.sub("", line).strip(" *_.,;`") for line in text.lines]
        small = _NO_LETTERS.sub(" ", base("\n".join(lines)))
        names = [" ".join(line.split()) for line in small.split("\n")]
        listed = [name for name in names if name]
        start = next((i for i, name in enumerate(listed) if name in AFRICA), 0)
        countries = [AFRICA.get(name, "") for name in listed[start:]]
        missing = set(AFRICA.values()) - set(countries) - {"western sahara", "somaliland"}
        ordered = all(a > b for a, b in pairwise(map(_sorted_as, listed[start:])))
        unknown = [
            name for name, country in zip(listed[start:], countries, strict=True) if not country
        ]
        fits = start <= 1 and not missing and not unknown and ordered
        note = f"missing: {', '.join(sorted(missing))}"[:200] if missing else ""
        return Finding(
            fits,
            len(countries),
            {"countries": 54},
            note=note or ("" if ordered else "another order"),
        )


def _sorted_as(name: str) -> str:
    return name.removeprefix("the ")


@frozen
class MultipleChoice:
    """So many questions, each after the word "Question" and longer than the one before.

    Each has so many options from A on; there is nothing before or after.
    """

    kind: ClassVar[str] = "multiple_choice"
    questions: int = field(validator=positive)
    options: int = field(validator=positive)

    def check(self, text: Text) -> Finding:
        raw = text.raw.strip()
        heads = list(_QUESTION.finditer(raw))
        wanted = {"questions": self.questions, "options": self.options}
        if len(heads) != self.questions or heads[0].start() != 0:
            return unmet(len(heads), wanted, note="other questions, or words before them")
        ends = [head.start() for head in heads[1:]] + [len(raw)]
        lengths = [self._length(raw[h.end() : end]) for h, end in zip(heads, ends, strict=True)]
        fits = all(lengths) and all(a < b for a, b in pairwise(lengths))
        note = "" if all(lengths) else "a question has other options, or more than options"
        return Finding(fits, lengths, wanted, note=note)

    def _length(self, block: str) -> int:
        """Letters of the question; 0 where its options are not as asked for."""
        lines = [line for line in block.splitlines() if line.strip().strip("*-_=#")]
        first = next((i for i, line in enumerate(lines) if _CHOICE.match(line)), len(lines))
        letters = [
            found.group(1).upper() for line in lines[first:] if (found := _CHOICE.match(line))
        ]
        wanted = [chr(65 + place) for place in range(self.options)]
        if letters != wanted or len(lines) - first != self.options:
            return 0
        return len(" ".join(line.strip() for line in lines[:first]))
