"""Laws of equality, on expressions and on trees of every kind."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st
from rlenv_plugin_math import tree as t
from rlenv_plugin_math.compare import Options, decide
from rlenv_plugin_math.tree import Add, Call, Div, Mul, Neg, Node, Num, Pow, Sym

INLINE = Options(symbolic=False)
NAMES = ("x", "y", "n")


def num(value: int | Fraction) -> Num:
    return Num(Fraction(value))


def equal(gold: Node, found: Node, key: bytes = b"key") -> bool:
    return decide(gold, found, key=key, options=INLINE).equal


small = st.integers(-9, 9).map(num)
names = st.sampled_from(NAMES).map(Sym)


def _polynomials(inner: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    pair = st.tuples(inner, inner)
    return st.one_of(
        pair.map(Add),
        pair.map(Mul),
        inner.map(Neg),
        st.tuples(inner, st.integers(1, 3)).map(_power),
    )


def _power(parts: tuple[Node, int]) -> Node:
    return Pow(parts[0], num(parts[1]))


polynomials: st.SearchStrategy[Node] = st.recursive(small | names, _polynomials, max_leaves=8)


@given(polynomials)
@settings(max_examples=60, deadline=None)
def test_every_expression_equals_itself(node: Node) -> None:
    assert equal(node, node)


@given(polynomials, polynomials)
@settings(max_examples=80, deadline=None)
def test_equality_is_symmetric_and_no_matter_of_the_key(one: Node, other: Node) -> None:
    assert equal(one, other) == equal(other, one) == equal(one, other, b"another key")


@given(polynomials, polynomials, polynomials)
@settings(max_examples=60, deadline=None)
def test_sums_and_products_may_be_reordered_and_regrouped(a: Node, b: Node, c: Node) -> None:
    assert equal(Add((a, b, c)), Add((Add((c, b)), a)))
    assert equal(Mul((a, b, c)), Mul((c, Mul((a, b)))))


@given(polynomials, polynomials, polynomials)
@settings(max_examples=60, deadline=None)
def test_expanding_a_product_keeps_equality(a: Node, b: Node, c: Node) -> None:
    assert equal(Mul((a, Add((b, c)))), Add((Mul((a, b)), Mul((a, c)))))


@given(polynomials, names, st.integers(1, 4))
@settings(max_examples=60, deadline=None)
def test_one_more_term_breaks_equality(node: Node, name: Sym, power: int) -> None:
    assert not equal(node, Add((node, _power((name, power)))))
    assert not equal(node, Add((node, Num(Fraction(1, 10**40)))))


@given(polynomials, st.sampled_from(("sin", "atan", "exp", "cosh")))
@settings(max_examples=40, deadline=None)
def test_a_function_of_equal_arguments_is_equal(node: Node, name: str) -> None:
    shuffled = Add((num(-3), node, num(3)))
    assert equal(Call(name, (node,)), Call(name, (shuffled,)))


@given(st.lists(st.integers(-50, 50), min_size=2, max_size=6), st.randoms(use_true_random=False))
@settings(max_examples=40, deadline=None)
def test_lists_and_sets_have_no_order_and_points_have(values: list[int], chance: object) -> None:
    shuffled = list(values)
    chance.shuffle(shuffled)  # type: ignore[attr-defined]
    one = tuple(map(num, values))
    other = tuple(map(num, shuffled))
    assert equal(t.Items(one), t.Items(other))
    assert equal(t.SetOf(one), t.SetOf(other))
    assert equal(t.Seq(one, "(", ")"), t.Seq(other, "(", ")")) == (values == shuffled)


@given(st.lists(st.integers(-50, 50), min_size=2, max_size=6, unique=True), st.integers(51, 60))
@settings(max_examples=40, deadline=None)
def test_a_part_of_a_list_or_more_than_it_is_not_the_list(values: list[int], extra: int) -> None:
    whole = t.Items(tuple(map(num, values)))
    assert not equal(whole, t.Items(whole.items[1:]) if len(values) > 2 else whole.items[1])
    assert not equal(whole, t.Items((*whole.items, num(extra))))
    assert not equal(whole.items[0], whole)


@given(polynomials, st.integers(2, 9), names)
@settings(max_examples=40, deadline=None)
def test_an_equation_may_be_scaled_but_not_changed(node: Node, factor: int, name: Sym) -> None:
    left = Add((node, Pow(name, num(7)), Mul((Sym("a"), Sym("b")))))
    gold = t.Rel((left, num(1)), ("=",))
    scaled = t.Rel((num(factor), Mul((num(factor), left))), ("=",))
    moved = t.Rel((Add((left, num(-factor))), num(1)), ("=",))
    assert equal(gold, scaled)
    assert not equal(gold, moved)


leaves: st.SearchStrategy[Node] = st.one_of(
    small,
    names,
    st.sampled_from(("pi", "e", "i", "inf")).map(t.Const),
    st.builds(lambda v: Num(Fraction(v, 1000), 3), st.integers(-5000, 5000)),
    st.just(t.Text("no solution")),
    st.just(t.Choice("B")),
    st.just(t.Based("101", 2, Fraction(5))),
    st.sampled_from(("R", "Z", "N")).map(t.NamedSet),
    st.just(t.Clock(3600)),
    st.just(t.Date(None, 5, 4)),
)
CALLS = (
    "sin",
    "ln",
    "log",
    "root",
    "abs",
    "floor",
    "factorial",
    "binomial",
    "acos",
    "f",
    "det",
    "arg",
)
OPS = ("=", "!=", "<", "<=", "~", "in", "subset")
UNITS: tuple[tuple[tuple[str, int], ...], ...] = (
    (("%", 1),),
    (("cm", 1),),
    (("deg", 1),),
    (("apple", 1),),
)


def _any_node(inner: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    one = st.tuples(inner)
    pair = st.tuples(inner, inner)
    many = st.lists(inner, min_size=1, max_size=3).map(tuple)
    maybe = st.none() | inner
    return st.one_of(
        many.map(Add),
        many.map(Mul),
        st.builds(Div, inner, inner),
        st.builds(Neg, inner),
        st.builds(Pow, inner, inner),
        st.builds(t.PlusMinus, maybe, inner, st.sampled_from((1, -1))),
        st.builds(Call, st.sampled_from(CALLS), one | pair),
        st.builds(
            t.Big, st.sampled_from(("sum", "prod", "int", "lim")), inner, st.just("n"), maybe, maybe
        ),
        st.builds(
            lambda a, b: t.Piecewise((a, b)), st.tuples(inner, inner), st.tuples(inner, maybe)
        ),
        st.builds(t.Rel, pair, st.tuples(st.sampled_from(OPS))),
        st.builds(t.Logic, st.sampled_from(("and", "or")), pair),
        st.builds(t.Seq, many, st.sampled_from("([<]"), st.sampled_from(")]>[")),
        many.map(t.Items),
        st.lists(inner, max_size=3).map(tuple).map(t.SetOf),
        st.builds(t.Builder, inner, inner, maybe),
        st.builds(t.SetOp, st.sampled_from(("union", "difference", "product")), pair),
        st.builds(lambda a, b: t.Matrix((a, b)), pair, pair),
        st.builds(t.Mod, inner, inner),
        st.builds(t.Quantity, inner, st.sampled_from(UNITS)),
        st.builds(t.Choice, st.just("C"), inner),
        many.map(t.Ratio),
    )


trees: st.SearchStrategy[Node] = st.recursive(leaves, _any_node, max_leaves=10)


@given(trees, trees)
@settings(max_examples=300, deadline=None)
def test_any_two_trees_get_a_decision_and_the_same_under_any_key(one: Node, other: Node) -> None:
    decision = decide(one, other, key=b"key", options=INLINE)
    again = decide(one, other, key=b"another", options=INLINE)
    assert decision.equal == again.equal
    assert decision.decided or not decision.equal
    assert decide(one, one, key=b"key", options=INLINE).equal
