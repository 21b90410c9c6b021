"""What a comparison may be asked to allow, and what it answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from attrs import field, frozen
from attrs.validators import ge, in_, instance_of

Key: TypeAlias = "bytes | Callable[[], bytes]"  # a call where few decisions need it


@frozen
class Options:
    """How strictly two answers are compared.

    Args:
        tolerance: ``rounded`` accepts a decimal that is the other value correctly rounded to its
            last place when it shows at least ``digits`` significant digits, is not an integer, and
            the gold does not itself state more digits; ``none`` wants exact equality.
        digits: the fewest significant digits (1 or more) that a rounded decimal must show.
        rel_tol: accept numbers within this share of the gold (0 turns it off); for tasks that
            demand it.
        abs_tol: accept numbers within this distance of the gold (0 turns it off).
        require_unit: a gold with a unit is then not met by a bare number.
        percent: ``lenient`` lets ``10%`` and ``10`` stand for each other, ``exact`` reads ``10%``
            as 0.1 alone.
        symbolic: whether SymPy, in a worker process, may be asked about what is left undecided.
        seconds: CPU seconds that one such question may cost.
    """

    tolerance: str = field(default="rounded", validator=in_(("rounded", "none")))
    digits: int = field(default=6, validator=[instance_of(int), ge(1)])
    rel_tol: float = field(default=0.0, validator=ge(0.0))
    abs_tol: float = field(default=0.0, validator=ge(0.0))
    require_unit: bool = False
    percent: str = field(default="lenient", validator=in_(("lenient", "exact")))
    symbolic: bool = True
    seconds: float = field(default=0.5, validator=ge(0.0))


@frozen
class Decision:
    """Whether the answers are equal and which rung said so.

    ``how`` is ``text``, ``structure``, ``exact``, ``normal form``, ``numeric``, ``symbolic`` or
    ``undecided``; ``decided`` is False when a budget ended before the question was settled, and
    then ``equal`` is False.
    """

    equal: bool
    how: str
    decided: bool = True


DEFAULT = Options()
