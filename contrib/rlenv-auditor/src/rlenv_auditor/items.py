"""The items of an answer that is a list, and the lists, options and grids that a prompt shows."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from attrs import frozen
from rlenv.text import visible

__all__ = ["Items", "named", "place_of", "plain", "shown"]

MOST = 60  # items of a list
PHRASE = r"\S+(?:\s+\S+){0,5}"  # an item: what has more words is prose
SIGNS = (r"\n", ";", r"\|", "(?:->|→|=>|>)", ",")
# Between blanks, only numbers and single letters: words are prose.
GLUES = {rf"\s*{sign}\s*": PHRASE for sign in SIGNS} | {r"[ \t]+": r"-?[\d.]+|\w"}
# Where a right response says its answer; the last of them counts.
PLACE = re.compile(
    r"(?s)<(\w+)>\s*([^<>]+?)\s*</\1>|\\boxed\{([^{}]+)\}|```\w*\n(.+?)\n?```|(?i:answer)["
    r" \w]*[:=][ *]*([^\n]+)"
)
ROWS = (  # labels and texts of options: lines with a mark before them, and "(A) 12 (B) 14"
    re.compile(r"(?m)^[ \t]*(?:[-*•]|\(?(\w{1,2})[.):\]])[ \t]+(\S.*?)[ \t]*$"),
    re.compile(r"\(([A-Z])\)[ \t]*([^()\n]+?)(?=[ \t,;]*(?:\([A-Z]\)|[?\n]|\.(?:\s|$)|$))"),
)
QUOTED = re.compile(r"(?<!\w)[\"'\u201c`]([^\"'\u201c\u201d`\n]{1,60})[\"'\u201d`](?!\w)")
CHOICE = re.compile(r"\b[\w-]+(?:, [\w-]+)*,? or [\w-]+\b")  # "red, green or blue"


def plain(item: str) -> str:
    """An item without signs and letter case."""
    return re.sub(r"\W+", "", item).casefold()


def place_of(gold: str, wanted: str | None) -> tuple[str, str, str]:
    """A right response as what comes before its answer, the answer, and what comes after; its
    thought is no place of an answer.
    """
    if wanted and wanted in gold:
        return gold.rpartition(wanted)
    said = max(0, gold.rfind(visible(gold)))
    found = list(PLACE.finditer(gold, said))
    rest = gold[said:]
    prose = re.search(r"[.!?。](\s|$)", rest)
    alone = plain(wanted) == plain(rest) if wanted else not prose
    start, stop = (
        found[-1].span(found[-1].lastindex or 0) if found else (said, len(gold) if alone else said)
    )
    return gold[:start], gold[start:stop], gold[stop:]


@frozen
class Items:
    """The items of a text, with the brackets around them and what is between two of them."""

    items: tuple[str, ...]
    glue: str = ", "
    opening: str = ""
    closing: str = ""

    @classmethod
    def of(cls, text: str) -> Items | None:
        """None where a text lists nothing."""
        found = re.fullmatch(r"(?s)\s*([\[({]?)(.*?)([\])}]?)\s*", text)
        for sign, item in GLUES.items() if found else ():
            parts = re.split(sign, found[2])  # type: ignore[index]
            if 1 < len(parts) <= MOST and all(re.fullmatch(item, one) for one in parts):
                glue = re.search(sign, found[2])  # type: ignore[index]
                return cls(tuple(parts), glue[0], found[1], found[3])  # type: ignore[index]
        return None

    def text(self, items: Sequence[str]) -> str:
        """Other items in the same dress."""
        return f"{self.opening}{self.glue.join(items)}{self.closing}"


def named(prompt: str, items: Collection[str]) -> set[str]:
    """Labels and texts of the options that these are."""
    rows = [row for pattern in ROWS for row in pattern.findall(prompt)]
    return {one for row in rows if not {*items}.isdisjoint(row) for one in row}


def shown(prompt: str, answer: str) -> Iterator[tuple[str, ...]]:
    """Lists of a prompt: options, lines, what commas separate, and all that has the form of an item
    of the answer.
    """
    for pattern in ROWS:
        rows = pattern.findall(prompt)
        yield from zip(*rows, strict=True)
    for part in re.split(r"[:?\n]\s|[.?](?=\s|$)", prompt):
        if made := Items.of(re.sub(r",? (?:and|or) ", ", ", part)):
            yield made.items
    quoted = tuple(dict.fromkeys(QUOTED.findall(prompt)))
    if len(quoted) > 1:
        yield quoted
    yield from (tuple(re.split(r",? or |, ", found[0])) for found in CHOICE.finditer(prompt))
    listed = Items.of(answer)
    form = re.escape((listed.items if listed else (answer,))[0].strip("'\"-"))
    if re.search(r"[0-9]", form):
        form = re.sub(r"[0-9]+", "[0-9]+", form)
        yield tuple(re.findall(rf"(?<![\w.-])-?{form}(?![\w-]|[.][0-9])", prompt))
    lines = prompt.split("\n")
    shape = [len(line.split()) for line in answer.split("\n")]
    for n in range(len(lines) - len(shape) + 1 if len(shape) > 1 else 0):
        if [len(line.split()) for line in lines[n : n + len(shape)]] == shape:
            yield tuple(lines[n : n + len(shape)])
