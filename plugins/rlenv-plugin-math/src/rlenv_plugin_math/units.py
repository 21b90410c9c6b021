"""Units: their names, dimensions and exact factors; percent, currencies and degrees are units too.

A unit is a sorted tuple of ``(canonical name, power)``: ``km/h`` is ``(("hour", -1), ("km", 1))``.
A name that the table does not know ("apple") is a dimension of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from functools import cache
from pathlib import Path

from .limits import words_of

Unit = tuple[tuple[str, int], ...]

_GLUED = words_of("""
    cm mm km dm nm kg mg lb lbs oz ft yd mi hr hrs min sec ml mL kW kWh kJ mph kph kmh Hz
    kHz MHz mol rad deg cc gal kPa rpm inch mins secs yds yrs yr GB MB KB kB TB USD
""")
_ALONE = frozenset("m g s h l L N J W V")
_SYMBOLS = frozenset("%$€£¥₹₩")


def _table() -> Iterator[tuple[str, list[str], list[str]]]:
    """Canonical name, factor and dimensions, other spellings of each unit."""
    for line in Path(__file__).with_name("units.tsv").read_text("utf-8").splitlines()[1:]:
        name, value, spellings = f"{line}\t".split("\t")[:3]
        yield name, value.split(), spellings.split()


@cache
def _names() -> dict[str, str]:
    """Every spelling, and the canonical name that it stands for."""
    return {spelling: name for name, _, more in _table() for spelling in (name, *more)}


@cache
def _values() -> dict[str, tuple[Fraction, tuple[tuple[str, int], ...]]]:
    """Factor to the base of its dimension, and the dimension, by canonical name."""
    return {
        name: (Fraction(value[0]), tuple(map(_dimension, value[1:]))) for name, value, _ in _table()
    }


def _dimension(word: str) -> tuple[str, int]:
    if word[0] in "LMTI" and word[1:].lstrip("-").isdigit():
        return word[0], int(word[1:])
    return word, 1


def lookup(word: str) -> str | None:
    """The canonical name of a unit's spelling (any case for whole words), or None."""
    names = _names()
    if word in names:
        return names[word]
    low = word.lower()
    if len(low) > 2:
        if low in names:
            return names[low]
        if low.endswith("s") and low[:-1] in names and len(low) > 3:
            return names[low[:-1]]
    return None


def glues(word: str) -> bool:
    """Whether the word is a unit even right behind a digit: ``5cm``."""
    return word in _GLUED


def stands_alone(letter: str) -> bool:
    """Whether one letter after a number and a space is read as a unit: ``5 m``."""
    return letter in _ALONE


def make(parts: Iterable[tuple[str, int]]) -> Unit:
    """The canonical unit of factors in any order; powers of one name add up."""
    powers: dict[str, int] = {}
    for name, power in parts:
        powers[name] = powers.get(name, 0) + power
    return tuple(sorted((name, power) for name, power in powers.items() if power))


def convert(unit: Unit) -> tuple[Fraction, Unit]:
    """``(factor, dimension)``: the unit is that factor times the base units of the dimension.

    Percent has factor 1/100 and no dimension.  Celsius and Fahrenheit are dimensions of their own,
    since their zeros differ; a name unknown to the table is a dimension of that name.
    """
    factor = Fraction(1)
    parts: list[tuple[str, int]] = []
    values = _values()
    for name, power in unit:
        one, dimension = values.get(name, (Fraction(1), ((name, 1),)))
        factor *= one**power
        parts += ((base, exponent * power) for base, exponent in dimension)
    return factor, make(parts)


def is_currency(unit: Unit) -> bool:
    """Whether the unit is money."""
    dimension = convert(unit)[1]
    return len(dimension) == 1 and dimension[0][0] in "$€£¥₹₩" and dimension[0][1] == 1
