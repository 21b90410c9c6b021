"""The value of an expression in the field: the normal form of rational functions and radicals.

A symbol becomes a random element.  What is no field operation (``sin``, a
power with a symbolic exponent) becomes an *atom*: a random element named by the function and the
values of its arguments, so ``sin(2x+1)`` and ``sin(1+2x)`` are one atom.  Equal values therefore
prove equality; different values disprove it only where no atom was used.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from rlenv_plugin_math.compare.exact import factors, rational
from rlenv_plugin_math.compare.field import field
from rlenv_plugin_math.compare.walk import addends, bind, summand
from rlenv_plugin_math.compare.work import Case, Undefined
from rlenv_plugin_math.tree import (
    Add,
    Based,
    Big,
    Call,
    Const,
    Div,
    Mul,
    Neg,
    Node,
    Num,
    Pow,
    Quantity,
    Sym,
)

_MOST_TERMS = 400
_FACTOR_BITS = 512


class Residues:
    """Evaluates trees; ``opaque`` tells whether an atom was used since it was built."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.field = field()
        self.modulus = self.field.modulus
        self.opaque = False
        self._seen: set[str] = set()

    def of(self, node: Node) -> int:
        """The residue of ``node``.

        Raises:
            Undefined: division by zero, infinity, or a node that is no expression.
            Exhausted: when the budget is spent.
        """
        self.case.spend(1)
        rule = _RULES.get(type(node))
        if rule is None:
            raise Undefined
        return rule(self, node)

    def fraction(self, value: Fraction) -> int:
        """The residue of a rational."""
        if value.denominator == 1:
            return value.numerator % self.modulus
        return value.numerator * self.inverse(value.denominator) % self.modulus

    def inverse(self, value: int) -> int:
        """``1 / value``; raises Undefined for zero."""
        self.case.spend(6)
        value %= self.modulus
        if value == 0:
            raise Undefined
        return pow(value, -1, self.modulus)

    def atom(self, *name: object) -> int:
        """A random element for what is not free to be random: disagreement then proves nothing."""
        self.case.spend(3)
        self.opaque = True
        return self.field.atom(repr(name))

    def _transcendental(self, name: str) -> int:
        self._seen.add(name)
        self.opaque = self.opaque or len(self._seen) > 1
        return self.field.element("constant " + name)

    def num(self, node: Num) -> int:
        return self.fraction(node.value)

    def const(self, node: Const) -> int:
        if node.name == "i":
            return self.field.sqrt(-1) or 0
        if node.name == "inf":
            raise Undefined
        return self._transcendental(node.name)

    def sym(self, node: Sym) -> int:
        return self.field.element("symbol " + node.name)

    def add(self, node: Add) -> int:
        return sum(map(self.of, node.args)) % self.modulus

    def mul(self, node: Mul) -> int:
        total = 1
        for arg in node.args:
            total = total * self.of(arg) % self.modulus
        return total

    def neg(self, node: Neg) -> int:
        return -self.of(node.arg) % self.modulus

    def div(self, node: Div) -> int:
        bottom = self.of(node.bottom)
        return self.of(node.top) * self.inverse(bottom) % self.modulus

    def pow(self, node: Pow) -> int:
        return self.power(node.base, node.exponent)

    def power(self, base: Node, exponent: Node) -> int:
        """``base ** exponent`` for any exponent."""
        exact = rational(exponent, self.case)
        if exact is None:
            return self._exponential(base, exponent)
        if exact.denominator == 1:
            return self._raise(self.of(base), exact.numerator)
        value = rational(base, self.case)
        if value is not None:
            return self._surd(value, exact)
        atom = self.atom("root", self.of(base), exact.denominator)
        return self._raise(atom, exact.numerator)

    def _raise(self, value: int, exponent: int) -> int:
        self.case.spend(2 + exponent.bit_length() // 8)
        if value == 0 and exponent <= 0:
            raise Undefined
        return pow(value, exponent, self.modulus)

    def _surd(self, base: Fraction, exponent: Fraction) -> int:
        if base == 0:
            if exponent <= 0:
                raise Undefined
            return 0
        sign = 1
        if base < 0:
            sign = self._unit_root(exponent)
        top = self._positive_surd(abs(base.numerator), exponent)
        return sign * top * self._positive_surd(base.denominator, -exponent) % self.modulus

    def _unit_root(self, exponent: Fraction) -> int:
        if exponent.denominator % 2:
            return -1 if exponent.numerator % 2 else 1
        if exponent.denominator == 2:
            return self._raise(self.field.sqrt(-1) or 0, exponent.numerator)
        return self._raise(self.atom("root", -1, exponent.denominator), exponent.numerator)

    def _positive_surd(self, base: int, exponent: Fraction) -> int:
        powers, rest = factored(base)
        total = 1 if rest == 1 else self._radical(rest, exponent, prime=False)
        for prime, times in powers:
            total = total * self._radical(prime, exponent * times, prime=True) % self.modulus
        return total

    def _radical(self, base: int, exponent: Fraction, *, prime: bool) -> int:
        whole, left = divmod(exponent.numerator, exponent.denominator)
        total = self._raise(base, whole)
        if left == 0:
            return total
        root = self.field.sqrt(base) if prime and exponent.denominator == 2 else None
        if root is None:
            root = self.atom("root", base, exponent.denominator)
        return total * self._raise(root, left) % self.modulus

    def _exponential(self, base: Node, exponent: Node) -> int:
        """Split ``b^(m+n)`` into ``b^m b^n`` and a rational ``b`` into primes: ``4^n`` is
        ``(2^n)^2``.
        """
        total = 1
        for factor, times in self._bases(base):
            for weight, rest in addends(exponent, self.case):
                part = self._one_power(factor, weight * times, rest)
                total = total * part % self.modulus
        return total

    def _bases(self, base: Node) -> list[tuple[int | Node, int]]:
        value = rational(base, self.case)
        if value is None or value == 0:
            return [(base, 1)]
        top, top_rest = factored(abs(value.numerator))
        bottom, bottom_rest = factored(value.denominator)
        found: list[tuple[int | Node, int]] = [*top, *((prime, -times) for prime, times in bottom)]
        found += [(top_rest, 1)] if top_rest > 1 else []
        found += [(bottom_rest, -1)] if bottom_rest > 1 else []
        return [*found, (-1, 1)] if value < 0 else found

    def _one_power(self, base: int | Node, weight: Fraction, rest: Node | None) -> int:
        if rest is None:
            plain = Num(Fraction(base)) if isinstance(base, int) else base
            return self.power(plain, Num(weight))
        name = ("prime", base) if isinstance(base, int) else ("value", self.of(base))
        atom = self.atom("power", name, self.of(rest), weight.denominator)
        return self._raise(atom, weight.numerator)

    def quantity(self, node: Quantity) -> int:
        value = rational(node, self.case)
        if value is None:
            raise Undefined
        return self.fraction(value)

    def call(self, node: Call) -> int:
        exact = rational(node, self.case)
        if exact is not None:
            return self.fraction(exact)
        if node.name in ("sqrt", "root") and node.args:
            degree = node.args[1] if len(node.args) > 1 else Num(Fraction(2))
            return self.power(node.args[0], Div(Num(Fraction(1)), degree))
        if node.name == "exp" and len(node.args) == 1:
            return self.power(Const("e"), node.args[0])
        if node.name == "ln" and len(node.args) == 1:
            return self._log(node.args[0])
        if node.name == "log" and len(node.args) == 2:
            return self._log(node.args[0]) * self.inverse(self._log(node.args[1])) % self.modulus
        return self.atom("call", node.name, *map(self.of, node.args))

    def _log(self, node: Node) -> int:
        if node == Const("e"):
            return 1
        value = rational(node, self.case)
        if value is None or value <= 0:
            return self.atom("ln", self.of(node))
        total = 0
        for part, sign in ((value.numerator, 1), (value.denominator, -1)):
            powers, rest = factored(part)
            total += sum(sign * times * self.atom("ln", prime) for prime, times in powers)
            total += sign * self.atom("ln", rest) if rest > 1 else 0
        return total % self.modulus

    def big(self, node: Big) -> int:
        terms = finite_terms(node, self.case)
        if terms is not None:
            return self._folded(node.kind, terms)
        body = bind(summand(node), node.var, Sym("\0bound"), self.case)
        ends = (
            self.of(end) if end is not None and end != _INFINITE else repr(end)
            for end in (node.low, node.high)
        )
        return self.atom("big", node.kind, self.of(body), *ends)

    def _folded(self, kind: str, terms: list[Node]) -> int:
        total = 0 if kind == "sum" else 1
        for term in terms:
            value = self.of(term)
            total = (total + value if kind == "sum" else total * value) % self.modulus
        return total


_INFINITE = Const("inf")


def finite_terms(node: Big, case: Case) -> list[Node] | None:
    """The terms of a short sum or product between integers, None for any other."""
    if node.kind not in ("sum", "prod") or node.low is None or node.high is None:
        return None
    low = rational(node.low, case)
    high = rational(node.high, case)
    if low is None or high is None or low.denominator != 1 or high.denominator != 1:
        return None
    if not -1 <= high - low < _MOST_TERMS:
        return None
    values = range(low.numerator, high.numerator + 1)
    body = summand(node)
    return [bind(body, node.var, Num(Fraction(value)), case) for value in values]


def factored(value: int) -> tuple[tuple[tuple[int, int], ...], int]:
    """Small prime powers and the rest; a number of more than 512 bits is all rest."""
    return factors(value) if value.bit_length() <= _FACTOR_BITS else ((), value)


_RULES: dict[type, Callable[..., int]] = {
    Num: Residues.num,
    Based: lambda self, node: self.fraction(node.value),
    Const: Residues.const,
    Sym: Residues.sym,
    Add: Residues.add,
    Mul: Residues.mul,
    Neg: Residues.neg,
    Div: Residues.div,
    Pow: Residues.pow,
    Call: Residues.call,
    Big: Residues.big,
    Quantity: Residues.quantity,
}
