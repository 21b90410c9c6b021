"""Arithmetic on values that are known up to a bound on their error."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from rlenv_plugin_math.compare.kernels import MOST_EXPONENT, Kernel
from rlenv_plugin_math.compare.work import Undefined

_MOST_POWER = 10**9
Measured = tuple[Any, Any]  # a value and a bound on its error


class Arithmetic:
    """The operations of a kernel, each with the bound on its result's error."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.eps = kernel.eps

    def times(self, left: Measured, right: Measured) -> Measured:
        (a, da) = left
        (b, db) = right
        product = a * b
        return product, abs(a) * db + abs(b) * da + da * db + abs(product) * self.eps

    def over(self, top: Measured, bottom: Measured) -> Measured:
        (a, da) = top
        (b, db) = bottom
        room = abs(b) - db
        if not room > 0:
            raise Undefined
        quotient = a / b
        return quotient, (da + abs(quotient) * db) / room + abs(quotient) * self.eps

    def fixed(self, base: Measured, exponent: Fraction) -> Measured:
        """A power with a known rational exponent; odd roots of negative reals are real."""
        if exponent.denominator == 1:
            return self.whole(base, exponent.numerator)
        if exponent == Fraction(1, 2):
            return self.root(base)
        value, error = self.real(base)
        weight = self.kernel.number(exponent), 0.0
        if self.kernel.is_complex(value) or value >= 0 or exponent.denominator % 2 == 0:
            return self.general((value, error), weight)
        size, slack = self.general((-value, error), weight)
        return (-size if exponent.numerator % 2 else size), slack

    def whole(self, base: Measured, exponent: int) -> Measured:
        value, error = base
        if abs(exponent) > _MOST_POWER or (exponent <= 0 and not abs(value) > error):
            raise Undefined
        result = value**exponent
        slack = abs(result) * self.eps * (abs(exponent) + 1)
        if error:
            gap = abs(value) - error
            reach = abs(result) / gap if gap > 0 else (abs(value) + error) ** (exponent - 1)
            slack += 2 * abs(exponent) * error * reach
        return result, slack

    def root(self, base: Measured) -> Measured:
        value, error = self.real(base)
        if abs(value) <= error:
            return value * 0, self.kernel.call("sqrt", error)
        result = self.kernel.call("sqrt", value)
        return result, error / abs(result) + abs(result) * self.eps

    def general(self, base: Measured, exponent: Measured) -> Measured:
        (value, error) = self.real(base)
        (weight, slack) = exponent
        if not abs(value) > error:
            if value == 0 and not self.kernel.is_complex(weight) and weight > slack:
                return value, error
            raise Undefined
        log, near = self.logarithm((value, error))
        inner, doubt = self.times((log, near), (weight, slack))
        if not abs(inner) < MOST_EXPONENT:
            raise Undefined
        result = self.kernel.call("exp", inner)
        return result, abs(result) * (2 * doubt + self.eps)

    def logarithm(self, base: Measured) -> Measured:
        value, error = self.real(base)
        if not abs(value) > error:
            raise Undefined
        result = self.kernel.call("ln", value)
        return result, error / (abs(value) - error) + abs(result) * self.eps

    def real(self, measured: Measured) -> Measured:
        """The same value as a real number where its imaginary part is below the error."""
        value, error = measured
        if self.kernel.is_complex(value) and abs(value.imag) <= error:
            return value.real, error
        return measured
