"""Units: their names, dimensions and exact factors; percent, currencies and degrees are units too.

A unit is a sorted tuple of ``(canonical name, power)``: ``km/h`` is ``(("hour", -1), ("km", 1))``.
A name that the table does not know ("apple") is a dimension of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import cache

from .limits import words_of

Unit = tuple[tuple[str, int], ...]

# canonical name: "factor dimension…", then its other spellings; plurals in -s need no entry
_TABLE = """
m: 1 L; meter metre
km: 1000 L; kilometer kilometre
dm: 1/10 L; decimeter decimetre
cm: 1/100 L; centimeter centimetre
mm: 1/1000 L; millimeter millimetre
um: 1/1000000 L; micrometer micron
nm: 1/1000000000 L; nanometer nanometre
inch: 127/5000 L; inches in in.
foot: 381/1250 L; feet ft ft.
yard: 1143/1250 L; yd yds
mile: 201168/125 L; mi
nautical_mile: 1852 L; nmi
light_year: 9460730472580800 L; ly
furlong: 201168/1000 L;
fathom: 1143/625 L;
g: 1 M; gram gm
kg: 1000 M; kilogram kilo
mg: 1/1000 M; milligram
ug: 1/1000000 M; microgram
tonne: 1000000 M; t
pound: 45359237/100000 M; lb lbs lb.
ounce: 45359237/1600000 M; oz oz.
ton: 90718474/100 M;
stone: 31751465900/5000000 M;
second: 1 T; s sec secs sec.
minute: 60 T; min mins min.
hour: 3600 T; h hr hrs hr.
day: 86400 T;
week: 604800 T; wk wks
fortnight: 1209600 T;
month: 2629746 T; mo mos
year: 31556952 T; yr yrs
decade: 315569520 T;
century: 3155695200 T; centuries
ms: 1/1000 T; millisecond
us: 1/1000000 T; microsecond
ns: 1/1000000000 T; nanosecond
L: 1/1000 L3; liter litre l
mL: 1/1000000 L3; ml milliliter millilitre cc
cL: 1/100000 L3; cl centiliter
dL: 1/10000 L3; dl deciliter
gallon: 473176473/125000000000 L3; gal gals
quart: 473176473/500000000000 L3; qt qts
pint: 473176473/1000000000000 L3; pt pts
cup: 473176473/2000000000000 L3;
fluid_ounce: 473176473/16000000000000 L3; fl_oz
tablespoon: 473176473/32000000000000 L3; tbsp
teaspoon: 157725491/32000000000000 L3; tsp
acre: 316160658/78125 L2;
hectare: 10000 L2; ha
mph: 1397/3125 L T-1;
kph: 5/18 L T-1; kmh kmph
knot: 463/900 L T-1;
N: 1000 M L T-2; newton
J: 1000 M L2 T-2; joule
kJ: 1000000 M L2 T-2; kilojoule
cal: 4184 M L2 T-2; calorie
kcal: 4184000 M L2 T-2; kilocalorie
eV: 801088317/5000000000000000000000000 M L2 T-2;
W: 1000 M L2 T-3; watt
kW: 1000000 M L2 T-3; kilowatt
MW: 1000000000 M L2 T-3; megawatt
kWh: 3600000000 M L2 T-2;
Pa: 1000 M L-1 T-2; pascal
kPa: 1000000 M L-1 T-2; kilopascal
atm: 101325000 M L-1 T-2; atmosphere
Hz: 1 T-1; hertz
kHz: 1000 T-1; kilohertz
MHz: 1000000 T-1; megahertz
rpm: 1/60 cycle T-1;
A: 1 I; amp ampere
mA: 1/1000 I; milliamp
C: 1 I T; coulomb
V: 1000 M L2 T-3 I-1; volt
ohm: 1000 M L2 T-3 I-2;
mol: 1 mol; mole
K: 1 K; kelvin
degC: 1 degC; celsius centigrade
degF: 1 degF; fahrenheit
deg: 1 deg; degree
arcminute: 1/60 deg; arcmin
arcsecond: 1/3600 deg;
rad: 1 rad; radian
rev: 1 cycle; revolution
%: 1/100; percent pct percentage
bit: 1 bit;
byte: 8 bit; B
KB: 8000 bit; kilobyte kB
MB: 8000000 bit; megabyte
GB: 8000000000 bit; gigabyte
TB: 8000000000000 bit; terabyte
$: 1 $; dollar usd buck
cent: 1/100 $; penny pennies
nickel: 1/20 $;
dime: 1/10 $;
€: 1 €; euro eur
£: 1 £; gbp quid
pence: 1/100 £; p.
¥: 1 ¥; yen jpy yuan cny rmb
₹: 1 ₹; rupee inr rs Rs
₩: 1 ₩; won krw
unit: 1 unit;
sq: 1; square
"""
_GLUED = words_of(
    """
    cm mm km dm nm kg mg lb lbs oz ft yd mi hr hrs min sec ml mL kW kWh kJ mph kph kmh Hz
    kHz MHz mol rad deg cc gal kPa rpm inch mins secs yds yrs yr GB MB KB kB TB USD
    """
)
_ALONE = frozenset("m g s h l L N J W V")
_SYMBOLS = frozenset("%$€£¥₹₩")


@cache
def _names() -> dict[str, str]:
    """Every spelling, and the canonical name that it stands for."""
    names: dict[str, str] = {}
    for line in _TABLE.strip().splitlines():
        name, _, rest = line.partition(": ")
        for spelling in (name, *rest.partition(";")[2].split()):
            names[spelling] = name
    return names


@cache
def _values() -> dict[str, tuple[Fraction, tuple[tuple[str, int], ...]]]:
    """Factor to the base of its dimension, and the dimension, by canonical name."""
    values = {}
    for line in _TABLE.strip().splitlines():
        name, _, rest = line.partition(": ")
        factor, *dimensions = rest.partition(";")[0].split()
        values[name] = Fraction(factor), tuple(_dimension(word) for word in dimensions)
    return values


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
