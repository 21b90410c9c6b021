"""A tree printed and parsed again is the same tree."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import example, given, settings
from hypothesis import strategies as st
from rlenv_plugin_math.parser import parse
from rlenv_plugin_math.printer import render
from rlenv_plugin_math.tree import (
    Add,
    Based,
    Big,
    Builder,
    Call,
    Choice,
    Clock,
    Const,
    Date,
    Div,
    Items,
    Logic,
    Matrix,
    Mod,
    Mul,
    NamedSet,
    Neg,
    Node,
    Num,
    Piecewise,
    PlusMinus,
    Pow,
    Quantity,
    Ratio,
    Rel,
    Seq,
    SetOf,
    SetOp,
    Sym,
    Text,
    children,
    height,
)

SYMBOLS = ["x", "y", "z", "a", "n", "theta", "x_1", "a_n", "b_12", "alpha", "y'", "k", "Omega", "m"]
UNITS = [
    (("cm", 1),), (("$", 1),), (("%", 1),), (("deg", 1),), (("degC", 1),), (("kg", 1), ("m", 1)),
    (("hour", -1), ("km", 1)), (("cm", 2),), (("€", 1),), (("$", 1), ("hour", -1)), (("foot", 3),),
]  # fmt: skip


def negative(node: Node) -> Node:
    return Num(-node.value, node.decimals, node.repeating) if isinstance(node, Num) else Neg(node)


naturals = st.integers(0, 10**12).map(lambda i: Num(Fraction(i)))
decimals = st.builds(
    lambda i, d: Num(Fraction(i, 10**d), d), st.integers(0, 10**6), st.integers(1, 8)
)
repeating = st.builds(
    lambda i, p: Num(Fraction(i, p), None, repeating=True),
    st.integers(1, 200),
    st.sampled_from([3, 7, 9, 11, 37, 99, 12, 6]),
).filter(lambda num: num.value.denominator % 3 == 0 or num.value.denominator in (7, 11, 37))
literals = st.one_of(naturals, naturals, decimals, repeating)
leaves = st.one_of(
    literals,
    literals.map(negative),
    st.sampled_from(SYMBOLS).map(Sym),
    st.sampled_from(["pi", "e", "i", "inf"]).map(Const),
)
powers_of_ten = st.integers(-9, 9).map(lambda k: Pow(Num(Fraction(10)), Num(Fraction(k))))


def expressions(inner: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    some = st.lists(inner, min_size=2, max_size=4).map(tuple)
    return st.one_of(
        some.map(Add),
        some.map(Mul),
        st.tuples(inner, powers_of_ten).map(Mul),
        st.builds(Div, inner, inner),
        inner.map(negative),
        st.builds(Pow, inner, inner),
        st.builds(PlusMinus, st.one_of(st.none(), inner), inner, st.sampled_from([1, -1])),
        st.builds(
            lambda name, a: Call(name, (a,)),
            st.sampled_from(
                [
                    "sin",
                    "cos",
                    "asin",
                    "acot",
                    "sinh",
                    "ln",
                    "log",
                    "abs",
                    "norm",
                    "floor",
                    "ceil",
                    "factorial",
                    "factorial2",
                    "re",
                    "f",
                    "g'",
                    "f^-1",
                    "conj",
                ]
            ),
            inner,
        ),
        st.builds(
            lambda name, a, b: Call(name, (a, b)),
            st.sampled_from(["root", "log", "binomial", "gcd", "max", "f"]),
            inner,
            inner,
        ),
        st.builds(
            lambda kind, body, low, high: Big(kind, body, "k", low, high),
            st.sampled_from(["sum", "prod"]),
            inner,
            inner,
            inner,
        ),
        st.builds(lambda body, low, high: Big("int", body, "t", low, high), inner, inner, inner),
        st.builds(lambda body, low: Big("lim", body, "x", low), inner, inner),
    ).filter(canonical)


def canonical(node: Node) -> bool:
    """The parser never gives a logarithm to base e: it is ``ln``."""
    return not (isinstance(node, Call) and node.name == "log" and node.args[1:] == (Const("e"),))


scalars = st.recursive(leaves, expressions, max_leaves=7)
points = st.builds(
    lambda items, brackets: Seq(tuple(items), *brackets),
    st.lists(scalars, min_size=2, max_size=3),
    st.sampled_from([("(", ")"), ("(", "]"), ("[", ")"), ("<", ">"), ("]", "[")]),
)
relations = st.builds(
    lambda args, ops: Rel(tuple(args), tuple(ops[: len(args) - 1])),
    st.lists(scalars, min_size=2, max_size=3),
    st.lists(
        st.sampled_from(["=", "!=", "<", ">", "<=", ">=", "~", "in", "notin", "subset", "propto"]),
        min_size=2,
        max_size=2,
    ),
)
sets = st.one_of(
    st.lists(st.one_of(scalars, points), max_size=3).map(tuple).map(SetOf),
    st.sampled_from(["R", "Z", "R+", "Z_7", "N"]).map(NamedSet),
    st.builds(
        Builder,
        st.sampled_from(["x", "k"]).map(Sym),
        relations,
        st.sampled_from([None, NamedSet("R"), NamedSet("Z")]),
    ),
    points,
)
operations = st.builds(
    lambda op, args: SetOp(op, tuple(args)),
    st.sampled_from(["union", "intersection", "difference"]),
    st.lists(sets, min_size=2, max_size=3),
)
matrices = st.integers(1, 3).flatmap(
    lambda width: st.lists(
        st.lists(scalars, min_size=width, max_size=width).map(tuple), min_size=1, max_size=3
    ).map(lambda rows: Matrix(tuple(rows)))
)
quantities = st.builds(
    Quantity, st.one_of(literals, literals.map(negative)), st.sampled_from(UNITS)
)
whole = st.one_of(
    scalars,
    points,
    relations,
    sets,
    operations,
    matrices,
    quantities,
    st.builds(
        lambda op, args: Logic(op, tuple(args)),
        st.sampled_from(["and", "or"]),
        st.lists(relations, min_size=2, max_size=3),
    ),
    st.lists(relations, min_size=2, max_size=3).map(tuple).map(Items),
    st.lists(points, min_size=2, max_size=3).map(tuple).map(Items),
    st.builds(Mod, scalars, scalars),
    st.lists(scalars, min_size=2, max_size=3).map(tuple).map(Ratio),
    st.builds(
        lambda a, b, c, r: Piecewise(((a, r), (b, c))),
        scalars,
        scalars,
        st.one_of(st.none(), relations),
        relations,
    ),
    st.integers(0, 511).map(lambda i: Based(f"1{i:b}", 2, Fraction(int(f"1{i:b}", 2)))),
    st.builds(Choice, st.sampled_from("ABCDE"), st.one_of(st.none(), literals)),
    st.builds(Clock, st.integers(0, 86399)),
    st.builds(
        lambda s, half: Clock(s % 43200 + 43200 * (half == "pm"), half),
        st.integers(0, 43199),
        st.sampled_from(["am", "pm"]),
    ),
    st.dates().map(lambda d: Date(d.year, d.month, d.day)),
    st.dates().map(lambda d: Date(None, d.month, d.day)),
    st.sampled_from(["no solution", "tuesday", "red apple", "does not exist"]).map(Text),
).filter(lambda node: height(node) < 40)


@settings(max_examples=150, deadline=None)
@given(whole)
@example(Div(Num(Fraction(-1)), Num(Fraction(2))))
@example(Mul((Num(Fraction(1, 2), 1), Pow(Num(Fraction(10)), Num(Fraction(5))))))
@example(Pow(Num(Fraction(-2)), Num(Fraction(2))))
@example(Neg(Neg(Sym("x"))))
@example(Seq((), "(", ")"))
def test_parse_undoes_render(tree: Node) -> None:
    assert parse(render(tree)) == tree


@settings(max_examples=30, deadline=None)
@given(whole)
def test_trees_hash_and_compare_by_structure(tree: Node) -> None:
    again = parse(render(tree))
    assert hash(again) == hash(tree)
    assert {again, tree} == {tree}
    assert all(height(child) < height(tree) for child in children(tree))
