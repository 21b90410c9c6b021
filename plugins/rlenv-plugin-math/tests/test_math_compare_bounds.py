"""Adversarial trees: every decision ends within its budget, and nothing large is ever built."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import pytest
from rlenv_plugin_math import tree as t
from rlenv_plugin_math.compare import Decision, Options, decide
from rlenv_plugin_math.compare.exact import LIMIT_BITS, bits, factors, rational
from rlenv_plugin_math.compare.field import field
from rlenv_plugin_math.compare.same import same
from rlenv_plugin_math.compare.work import UNITS, Case, Exhausted
from rlenv_plugin_math.tree import Add, Big, Call, Div, Items, Mul, Node, Num, Pow, Sym

INLINE = Options(symbolic=False)
X = Sym("x")
K = Sym("k")


def num(value: int | Fraction) -> Num:
    return Num(Fraction(value))


def root(node: Node, degree: int = 2) -> Node:
    return Call("root", (node, num(degree)))


def nest(step: Callable[[Node], Node], node: Node, times: int) -> Node:
    for _ in range(times):
        node = step(node)
    return node


def compare(gold: Node, given: Node) -> Decision:
    return decide(gold, given, key=b"key", options=INLINE)


def fresh() -> Case:
    return Case(b"key", INLINE, same)


LONG = 10**4095
TOWER = Pow(num(9), Pow(num(9), Pow(num(9), num(9))))
SINES = Add(tuple(Call("sin", (Mul((num(i), X)),)) for i in range(1, 500)))
BOMBS: dict[str, Node] = {
    "tower": TOWER,
    "factorial": Call("factorial", (num(10**6),)),
    "factorial of a factorial": Call("factorial", (Call("factorial", (num(20),)),)),
    "nested roots": nest(lambda node: root(Add((num(3), node))), num(2), 60),
    "nested sines": nest(lambda node: Call("sin", (Add((num(2), node)),)), X, 60),
    "long sum": Big("sum", Call("sin", (K,)), "k", num(1), num(10**9)),
    "sum of sums": Big(
        "sum", Big("sum", Mul((K, X)), "x", num(1), num(399)), "k", num(1), num(399)
    ),
    "polynomial": Pow(Add((X, Sym("y"), Sym("z"))), num(500)),
    "wide": SINES,
    "long fractions": Add(tuple(Div(num(LONG + i), num(LONG + 2 * i + 1)) for i in range(1, 200))),
    "long product": Mul(tuple(num(LONG + i) for i in range(300))),
    "long roots": Add(tuple(root(num(LONG + i), 97) for i in range(20))),
    "large binomial": Call("binomial", (num(10**300), num(10**200))),
    "exponential": Call("exp", (Pow(num(10), num(10**6)),)),
    "sine of a giant": Call("sin", (Pow(num(10), num(10**6)),)),
    "many signs": nest(lambda node: t.PlusMinus(node, num(3)), X, 12),
    "long list": Items(tuple(root(num(i)) for i in range(2, 900))),
    "long set": t.SetOf(tuple(root(num(i)) for i in range(2, 900))),
    "long chain": t.Rel(tuple(Call("sin", (num(i),)) for i in range(40)), ("=",) * 39),
    "equation": t.Rel((SINES, num(3)), ("=",)),
    "many intervals": t.SetOp(
        "union",
        tuple(t.Seq((root(num(2 * i)), root(num(2 * i + 1))), "(", ")") for i in range(200)),
    ),
}


@pytest.mark.parametrize("one", BOMBS)
def test_a_bomb_equals_no_other(one: str) -> None:
    for other, node in BOMBS.items():
        if other != one and {one, other} != {"long list", "long set"}:
            assert not compare(BOMBS[one], node).equal
    assert not compare(BOMBS[one], num(3)).equal
    assert not compare(num(3), BOMBS[one]).equal


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_still_equals_itself(name: str) -> None:
    assert compare(BOMBS[name], BOMBS[name]).equal


def test_a_budget_that_is_spent_ends_the_work() -> None:
    case = fresh()
    case.spend(UNITS)
    with pytest.raises(Exhausted):
        case.spend(1)


def test_powers_are_measured_before_they_are_computed() -> None:
    assert rational(Pow(num(2), num(LIMIT_BITS // 4)), fresh()) is not None
    assert rational(Pow(num(2), num(10**30)), fresh()) is None
    assert rational(TOWER, fresh()) is None


def test_exact_values_never_exceed_the_limit() -> None:
    for node in (BOMBS["long fractions"], BOMBS["long product"]):
        value = rational(node, fresh())
        assert value is None or bits(value) <= LIMIT_BITS


def test_large_powers_are_told_apart_modulo_a_prime() -> None:
    power = Pow(num(2), num(100_000))
    assert compare(power, Pow(num(4), num(50_000))).equal
    refuted = compare(power, Add((power, num(1))))
    assert not refuted.equal
    assert refuted.decided


def test_near_coincidences_are_refuted() -> None:
    ramanujan = Pow(t.Const("e"), Mul((t.Const("pi"), root(num(163)))))
    assert not compare(ramanujan, num(262537412640768744)).equal
    barely = root(Add((Pow(num(10), num(200)), num(1))))
    assert not compare(barely, Pow(num(10), num(100))).equal
    sine = Call("sin", (num(1),))
    assert not compare(sine, Add((sine, Pow(num(10), num(-100))))).equal
    huge = Pow(num(2), num(100_000))
    assert not compare(Add((sine, huge)), Add((Call("sin", (num(2),)), huge))).equal


def test_factors_are_primes_and_multiply_back() -> None:
    for value in (1, 2, 997**2, 2**40 * 3**5 * 991, 10**12 + 39, 1009 * 1013):
        powers, rest = factors(value)
        product = rest
        for prime, times in powers:
            product *= prime**times
        assert product == value


def test_the_field_has_square_roots_of_small_primes_and_of_minus_one() -> None:
    home = field()
    for value in (-1, 2, 3, 5, 7, 89, 97):
        found = home.sqrt(value)
        assert found is not None
        assert (found * found - value) % home.modulus == 0
