"""Expressions to numbers, each with a bound on its error, on either kernel."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from rlenv_plugin_math.compare.arithmetic import Arithmetic, Measured
from rlenv_plugin_math.compare.exact import rational
from rlenv_plugin_math.compare.functions import FUNCTIONS
from rlenv_plugin_math.compare.kernels import Kernel
from rlenv_plugin_math.compare.modular import finite_terms
from rlenv_plugin_math.compare.points import Value
from rlenv_plugin_math.compare.walk import bind
from rlenv_plugin_math.compare.work import Case, Undefined
from rlenv_plugin_math.tree import (
    Add,
    Based,
    Big,
    Call,
    Const,
    Div,
    Logic,
    Mul,
    Neg,
    Node,
    Num,
    Piecewise,
    Pow,
    Quantity,
    Rel,
    Sym,
)


class Evaluator(Arithmetic):
    """Evaluates trees at one point; ``point`` gives exact values to the variables.

    With ``real`` an expression is undefined where any part of it leaves the reals.
    """

    def __init__(
        self, kernel: Kernel, point: Mapping[str, Value], case: Case, *, real: bool = False
    ) -> None:
        super().__init__(kernel)
        self.within_reals = real
        self.point = point
        self.case = case
        self.magnitude = (
            0  # the largest binary exponent met, of either sign; kept by precise kernels
        )

    def of(self, node: Node) -> Measured:
        """The value of ``node`` and a bound on its error.

        Raises:
            Undefined: a pole, an overflow, infinity, an unknown function, or no expression at all.
            Exhausted: when the budget is spent.
        """
        self.case.spend(self.kernel.cost)
        rule = _RULES.get(type(node))
        if rule is None:
            raise Undefined
        try:
            found = rule(self, node)
            if self.within_reals and self.kernel.is_complex(found[0]):
                raise Undefined
            if self.kernel.cost > 1:
                self.magnitude = max(self.magnitude, self.kernel.magnitude(found[0]))
            return found
        except (OverflowError, ZeroDivisionError, ValueError):
            raise Undefined from None

    def num(self, node: Num | Based) -> Measured:
        value = self.kernel.number(node.value)
        return value, abs(value) * self.eps

    def const(self, node: Const) -> Measured:
        if node.name == "i":
            return self.kernel.i, 0.0
        if node.name not in ("pi", "e"):
            raise Undefined
        value = self.kernel.pi if node.name == "pi" else self.kernel.e
        return value, value * self.eps

    def sym(self, node: Sym) -> Measured:
        if node.name not in self.point:
            raise Undefined
        value = self.point[node.name]
        if isinstance(value, tuple):
            real, imaginary = map(self.kernel.number, value)
            return real + imaginary * self.kernel.i, 0.0
        return self.kernel.number(value), 0.0

    def add(self, node: Add) -> Measured:
        total, error = self.of(node.args[0])
        for arg in node.args[1:]:
            value, slack = self.of(arg)
            total = total + value
            error = error + slack + abs(total) * self.eps
        return total, error

    def mul(self, node: Mul) -> Measured:
        total = self.of(node.args[0])
        for arg in node.args[1:]:
            total = self.times(total, self.of(arg))
        return total

    def neg(self, node: Neg) -> Measured:
        value, error = self.of(node.arg)
        return -value, error

    def div(self, node: Div) -> Measured:
        return self.over(self.of(node.top), self.of(node.bottom))

    def pow(self, node: Pow) -> Measured:
        exponent = rational(node.exponent, self.case)
        if exponent is None:
            return self.general(self.of(node.base), self.of(node.exponent))
        return self.fixed(self.of(node.base), exponent)

    def quantity(self, node: Quantity) -> Measured:
        value = self.of(node.value)
        if node.unit == (("%", 1),):
            return self.over(value, (self.kernel.number(Fraction(100)), 0.0))
        if node.unit == (("deg", 1),):
            return self.over(
                self.times(value, self.const(Const("pi"))), (self.kernel.number(Fraction(180)), 0.0)
            )
        raise Undefined

    def call(self, node: Call) -> Measured:
        rule = FUNCTIONS.get(node.name)
        if rule is None or not node.args:
            raise Undefined
        return rule(self, [self.of(arg) for arg in node.args])

    def piecewise(self, node: Piecewise) -> Measured:
        for value, when in node.branches:
            if when is None or self.holds(when):
                return self.of(value)
        raise Undefined

    def holds(self, when: Node) -> bool:
        """Whether a condition is true here; Undefined where rounding leaves it open."""
        if isinstance(when, Logic):
            parts = [self.holds(arg) for arg in when.args]
            return not parts[0] if when.op == "not" else (all if when.op == "and" else any)(parts)
        if not isinstance(when, Rel):
            raise Undefined
        links = enumerate(when.ops)
        return all(self._link(when.args[at], op, when.args[at + 1]) for at, op in links)

    def _link(self, left: Node, op: str, right: Node) -> bool:
        (a, da) = self.real(self.of(left))
        (b, db) = self.real(self.of(right))
        test = _TESTS.get(op)
        if self.kernel.is_complex(a) or self.kernel.is_complex(b):
            raise Undefined
        close = abs(a - b) <= da + db
        if test is None or (close and da + db > 0 and a != b):
            raise Undefined
        return test(0 if close else a - b)

    def big(self, node: Big) -> Measured:
        terms = finite_terms(self._pinned(node), self.case)
        if terms is None:
            raise Undefined
        one = self.kernel.number(Fraction(1))
        total: Measured = (one * (node.kind != "sum"), 0.0)
        for term in terms:
            value = self.of(term)
            if node.kind == "sum":
                total = (total[0] + value[0], total[1] + value[1] + abs(total[0]) * self.eps)
            else:
                total = self.times(total, value)
        return total

    def _pinned(self, node: Big) -> Big:
        low = node.low
        high = node.high
        for name, value in self.point.items():
            if isinstance(value, Fraction) and value.denominator == 1:
                low = None if low is None else bind(low, name, Num(value), self.case)
                high = None if high is None else bind(high, name, Num(value), self.case)
        return Big(node.kind, node.body, node.var, low, high)


_TESTS: dict[str, Callable[[Any], bool]] = {
    "<": lambda gap: bool(gap < 0),
    "<=": lambda gap: bool(gap <= 0),
    ">": lambda gap: bool(gap > 0),
    ">=": lambda gap: bool(gap >= 0),
    "=": lambda gap: bool(gap == 0),
    "!=": lambda gap: bool(gap != 0),
}
_RULES: dict[type, Callable[..., Measured]] = {
    Num: Evaluator.num,
    Based: Evaluator.num,
    Const: Evaluator.const,
    Sym: Evaluator.sym,
    Add: Evaluator.add,
    Mul: Evaluator.mul,
    Neg: Evaluator.neg,
    Div: Evaluator.div,
    Pow: Evaluator.pow,
    Call: Evaluator.call,
    Quantity: Evaluator.quantity,
    Big: Evaluator.big,
    Piecewise: Evaluator.piecewise,
}
