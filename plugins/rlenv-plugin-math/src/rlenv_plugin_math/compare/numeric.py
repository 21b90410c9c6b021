"""Agreement of two expressions as numbers: refutes in microseconds, confirms at 30 and then 60
digits.

Variables are real unless ``i`` or a complex function occurs: points where a side is not real are
outside its domain and prove nothing, unless no others are left.  Digits grow with the magnitudes
met on the way, so that ``sqrt(10^200+1)`` is told from ``10^100``.
"""

from __future__ import annotations

from enum import Enum
from functools import lru_cache
from threading import local
from typing import Any

from rlenv_plugin_math.compare.arithmetic import Measured
from rlenv_plugin_math.compare.evaluate import Evaluator
from rlenv_plugin_math.compare.kernels import Precise, floats
from rlenv_plugin_math.compare.points import WANTED, Point, breaks, points, whole_names
from rlenv_plugin_math.compare.walk import Facts
from rlenv_plugin_math.compare.work import Case, Undefined
from rlenv_plugin_math.tree import Node, Piecewise

_MOST_DIGITS = 1200
COMPLEX_CALLS = frozenset(("re", "im", "conj", "arg"))
_machines = local()


class State(Enum):
    """What one point says."""

    DIFFER = 0
    AGREE = 1
    UNCLEAR = 2
    UNDEFINED = 3


def precise(digits: int) -> Precise:
    """This thread's mpmath machine of at least ``digits`` digits."""
    if not hasattr(_machines, "known"):
        _machines.known = lru_cache(maxsize=8)(Precise)
    machine: Precise = _machines.known(-(-digits // 30) * 30)
    return machine


def agree(left: Node, right: Node, known: Facts, case: Case) -> bool | None:
    """Whether both sides have the same value wherever both have one; None where that stays open.

    Raises:
        Exhausted: when the budget is spent.
    """
    if not known.names:
        return Trial(left, right, known, case, real=False).constant()
    free = "i" in known.constants or bool(known.calls & COMPLEX_CALLS)
    verdict = None if free else Trial(left, right, known, case, real=True).identity()
    return (
        verdict if verdict is not None else Trial(left, right, known, case, real=False).identity()
    )


def agree_beyond(left: Node, right: Node, known: Facts, case: Case) -> bool | None:
    """The same at the points where a part of a side is not real: ``ln x`` is not ``ln |x|``
    there.
    """
    return Trial(left, right, known, case, real=False).identity()


class Trial:
    """Two expressions at one point after another; ``real`` leaves out what is not real."""

    def __init__(self, left: Node, right: Node, known: Facts, case: Case, *, real: bool) -> None:
        self.left = left
        self.right = right
        self.known = known
        self.case = case
        self.real = real
        self.magnitude = 0

    def constant(self) -> bool | None:
        """Both sides without variables."""
        self.case.reached("numeric")
        if self._floats({}) is State.DIFFER:
            return False
        state = self._precise({}, 30)
        digits = 60
        while state in (State.AGREE, State.UNCLEAR):
            needed = max(digits, 60 + self.known.digits + self.magnitude)
            if needed > _MOST_DIGITS:
                return None
            state = self._precise({}, needed, absolute=True)
            if state is State.AGREE:
                return True
            digits = 2 * needed
        return False if state is State.DIFFER else None

    def identity(self) -> bool | None:
        """Both sides as functions of their variables."""
        self.case.reached("numeric")
        valid: list[Point] = []
        complexes = bool(self.known.calls & COMPLEX_CALLS)
        whole = whole_names(self.left, self.right)
        for point in points(self.known, self.case.key, whole, complexes=complexes):
            state = self._floats(point)
            if state is State.DIFFER:
                return False
            if state is not State.UNDEFINED:
                valid.append(point)
        if len(valid) < WANTED or not self._meets_breaks():
            return None if len(valid) < WANTED else False
        states = [self._settled(point) for point in valid[:WANTED]]
        if State.DIFFER in states:
            return False
        return True if all(state is State.AGREE for state in states) else None

    def _meets_breaks(self) -> bool:
        """Piecewise functions also agree at the ends of their pieces, and are defined at the same
        ones.
        """
        if Piecewise not in self.known.kinds:
            return True
        for value in breaks(self.left, self.right):
            point: Point = dict.fromkeys(self.known.names, value)
            at = Evaluator(floats(), point, self.case, real=True)
            defined = [self._defined(at, node) for node in (self.left, self.right)]
            if defined[0] != defined[1] or self._floats(point) is State.DIFFER:
                return False
        return True

    def _defined(self, at: Evaluator, node: Node) -> bool:
        try:
            return at.kernel.finite(at.of(node)[0])
        except Undefined:
            return False

    def _settled(self, point: Point) -> State:
        state = self._precise(point, 30)
        digits = 60
        if state in (State.DIFFER, State.UNDEFINED):
            return state
        needed = max(digits, 60 + self.known.digits + self.magnitude)
        while needed <= _MOST_DIGITS:
            state = self._precise(point, needed)
            if state is not State.UNCLEAR:
                return state
            needed *= 2
        return State.UNCLEAR

    def _floats(self, point: Point) -> State:
        at = Evaluator(floats(), point, self.case, real=self.real)
        return self._compare(at, 1e-9, absolute=False)

    def _precise(self, point: Point, digits: int, *, absolute: bool = False) -> State:
        at = Evaluator(precise(digits), point, self.case, real=self.real)
        state = self._compare(at, 10.0**-18, absolute=absolute)
        self.magnitude = max(self.magnitude, 2 * at.magnitude * 3 // 10)
        return state

    def _compare(self, at: Evaluator, fine: float, *, absolute: bool) -> State:
        try:
            return self._judge(
                at, at.real(at.of(self.left)), at.real(at.of(self.right)), fine, absolute=absolute
            )
        except (Undefined, OverflowError):
            return State.UNDEFINED

    def _judge(
        self, at: Evaluator, left: Measured, right: Measured, fine: float, *, absolute: bool
    ) -> State:
        (a, da) = left
        (b, db) = right
        kernel = at.kernel
        if not (kernel.finite(a) and kernel.finite(b)):
            return State.UNDEFINED
        error: Any = da + db
        if abs(a - b) > error:
            return State.DIFFER
        size = max(abs(a), abs(b))
        scale = min(size, 1) if absolute else size
        if size <= error:
            scale = fine
        return State.AGREE if error <= fine * scale else State.UNCLEAR
