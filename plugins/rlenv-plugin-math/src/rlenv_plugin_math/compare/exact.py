"""Exact rational arithmetic whose results are measured before they are computed."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from math import comb, factorial, gcd, isqrt, lcm, log2, prod

from rlenv_plugin_math.compare.work import Case
from rlenv_plugin_math.tree import Add, Based, Call, Div, Mul, Neg, Node, Num, Pow, Quantity

LIMIT_BITS = 65_536
_ONE = Fraction(1)


def bits(value: Fraction) -> int:
    """How many bits the two terms of ``value`` take."""
    return value.numerator.bit_length() + value.denominator.bit_length()


def rational(node: Node, case: Case) -> Fraction | None:
    """The exact value of a constant, or None: irrational, undefined, symbolic or above 64 kbit.

    Raises:
        Exhausted: when the decision's budget is spent.
    """
    if type(node) is Num:
        return node.value
    rule = _RULES.get(type(node))
    if rule is None:
        return None
    known = case.memo.get(id(node))
    if known is None:
        known = case.memo[id(node)] = (node, rule(node, case))
    return known[1]


def _fits(size: int, case: Case) -> bool:
    if size > LIMIT_BITS:
        return False
    case.spend(2 + (size >> 10) ** 2)
    return True


def _add(node: Add, case: Case) -> Fraction | None:
    total = Fraction(0)
    for arg in node.args:
        value = rational(arg, case)
        if value is None or not _fits(bits(total) + bits(value), case):
            return None
        total += value
    return total


def _mul(node: Mul, case: Case) -> Fraction | None:
    total = _ONE
    for arg in node.args:
        value = rational(arg, case)
        if value is None or not _fits(bits(total) + bits(value), case):
            return None
        total *= value
    return total


def _neg(node: Neg, case: Case) -> Fraction | None:
    value = rational(node.arg, case)
    return None if value is None else -value


def _div(node: Div, case: Case) -> Fraction | None:
    top = rational(node.top, case)
    bottom = rational(node.bottom, case)
    if top is None or not bottom or not _fits(bits(top) + bits(bottom), case):
        return None
    return top / bottom


def _pow(node: Pow, case: Case) -> Fraction | None:
    base = rational(node.base, case)
    exponent = None if base is None else rational(node.exponent, case)
    if base is None or exponent is None:
        return None
    return power(base, exponent, case)


def power(base: Fraction, exponent: Fraction, case: Case) -> Fraction | None:
    """``base ** exponent`` when it is rational and fits; roots of negatives are real, 0^0 is
    None.
    """
    if exponent.denominator != 1:
        root = exact_root(base, exponent.denominator, case)
        return None if root is None else power(root, Fraction(exponent.numerator), case)
    if base == 0:
        return base if exponent > 0 else None
    if abs(base) == 1:
        return base if exponent.numerator % 2 else _ONE
    if not _fits(bits(base) * min(abs(exponent.numerator), LIMIT_BITS + 1), case):
        return None
    result: Fraction = base ** int(exponent)
    return result


def exact_root(value: Fraction, degree: int, case: Case) -> Fraction | None:
    """The real root of a perfect power, None for anything else."""
    if value < 0:
        root = exact_root(-value, degree, case) if degree % 2 else None
        return None if root is None else -root
    if degree < 1 or degree > LIMIT_BITS:
        return None
    case.spend(4 + (bits(value) >> 8) ** 2)
    top = _integer_root(value.numerator, degree)
    bottom = _integer_root(value.denominator, degree)
    return None if top is None or bottom is None else Fraction(top, bottom)


def _integer_root(value: int, degree: int) -> int | None:
    if value < 2 or degree == 1:
        return value
    if degree == 2:
        root = isqrt(value)
    elif degree >= value.bit_length():
        return None
    else:
        root = _newton(value, degree)
    return root if root**degree == value else None


def _newton(value: int, degree: int) -> int:
    guess = 1 << -(-value.bit_length() // degree)
    while True:
        better = ((degree - 1) * guess + value // guess ** (degree - 1)) // degree
        if better >= guess:
            return guess
        guess = better


def _call(node: Call, case: Case) -> Fraction | None:
    rule = _FUNCTIONS.get(node.name)
    if rule is None:
        return None
    values = [rational(arg, case) for arg in node.args]
    known = [value for value in values if value is not None]
    return rule(known, case) if known and len(known) == len(values) else None


def _whole(values: list[Fraction]) -> list[int] | None:
    if any(value.denominator != 1 for value in values):
        return None
    return [value.numerator for value in values]


def _factorial(values: list[Fraction], case: Case) -> Fraction | None:
    whole = _whole(values)
    if whole is None or len(whole) != 1 or not 0 <= whole[0] <= LIMIT_BITS:
        return None
    if not _fits(int(whole[0] * log2(whole[0] + 2)), case):
        return None
    return Fraction(factorial(whole[0]))


def _double_factorial(values: list[Fraction], case: Case) -> Fraction | None:
    whole = _whole(values)
    if whole is None or len(whole) != 1 or not 0 <= whole[0] <= LIMIT_BITS // 16:
        return None
    case.spend(whole[0] // 2)
    return Fraction(prod(range(whole[0], 0, -2)))


def _binomial(values: list[Fraction], case: Case) -> Fraction | None:
    whole = _whole(values)
    if whole is None or len(whole) != 2 or whole[0] < 0:
        return None
    top, chosen = whole
    if chosen < 0 or chosen > top:
        return Fraction(0)
    chosen = min(chosen, top - chosen)
    if chosen > LIMIT_BITS or not _fits(chosen * top.bit_length(), case):
        return None
    return Fraction(comb(top, chosen))


def _root(values: list[Fraction], case: Case) -> Fraction | None:
    degree = values[1] if len(values) > 1 else Fraction(2)
    return power(values[0], 1 / degree, case) if degree > 0 and degree.denominator == 1 else None


def _fold(function: Callable[..., int], values: list[Fraction], case: Case) -> Fraction | None:
    whole = _whole(values)
    size = sum(bits(value) for value in values)
    return Fraction(function(*whole)) if whole is not None and _fits(size, case) else None


def _remainder(values: list[Fraction], case: Case) -> Fraction | None:
    if len(values) != 2 or values[1] == 0 or not _fits(bits(values[0]) + bits(values[1]), case):
        return None
    return values[0] % values[1]


def _based(node: Based, _case: Case) -> Fraction:
    return node.value


def _quantity(node: Quantity, case: Case) -> Fraction | None:
    if node.unit != (("%", 1),):
        return None
    value = rational(node.value, case)
    return None if value is None else value / 100


_FUNCTIONS: dict[str, Callable[[list[Fraction], Case], Fraction | None]] = {
    "factorial": _factorial,
    "factorial2": _double_factorial,
    "binomial": _binomial,
    "root": _root,
    "sqrt": _root,
    "gcd": lambda values, case: _fold(gcd, values, case),
    "lcm": lambda values, case: _fold(lcm, values, case),
    "abs": lambda values, _case: abs(values[0]) if len(values) == 1 else None,
    "floor": lambda values, _case: Fraction(values[0].__floor__()) if len(values) == 1 else None,
    "ceil": lambda values, _case: Fraction(values[0].__ceil__()) if len(values) == 1 else None,
    "min": lambda values, _case: min(values),
    "max": lambda values, _case: max(values),
    "mod": _remainder,
}
_RULES: dict[type, Callable[..., Fraction | None]] = {
    Add: _add,
    Mul: _mul,
    Neg: _neg,
    Div: _div,
    Pow: _pow,
    Call: _call,
    Based: _based,
    Quantity: _quantity,
}


@lru_cache(maxsize=1024)
def factors(value: int) -> tuple[tuple[tuple[int, int], ...], int]:
    """Prime powers of a positive integer found by trial division below 1,000, and what is left (1
    if none).

    A rest below 1,000,000 is prime and counted among the powers.
    """
    found: list[tuple[int, int]] = []
    for prime in PRIMES:
        if prime * prime > value:
            break
        times = 0
        while value % prime == 0:
            value //= prime
            times += 1
        if times:
            found.append((prime, times))
    if 1 < value < 1_000_000:
        found.append((value, 1))
        value = 1
    return tuple(found), value


def _sieve(limit: int) -> tuple[int, ...]:
    found: list[int] = []
    for n in range(2, limit):
        if all(n % prime for prime in found if prime * prime <= n):
            found.append(n)
    return tuple(found)


PRIMES = _sieve(1000)
