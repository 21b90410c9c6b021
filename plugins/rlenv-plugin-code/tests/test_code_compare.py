"""Values compared: what is the same, what is not, and what it costs at most."""

from __future__ import annotations

import math
from typing import Any

import pytest
from growth import assert_growth
from hypothesis import given, settings
from hypothesis import strategies as st
from rlenv_plugin_code.codec import decode, encode
from rlenv_plugin_code.compare import Rules, difference, same
from rlenv_plugin_code.shown import shown

NAN = math.nan
INF = math.inf
KEYS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3) | st.binary(max_size=3),
    lambda inner: st.lists(inner, max_size=3).map(tuple) | st.frozensets(inner, max_size=3),
    max_leaves=4,
)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.complex_numbers()
    | st.text()
    | st.binary()
    | st.sets(KEYS, max_size=4),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(KEYS, inner, max_size=4)
    ),
    max_leaves=12,
)

SAME = [
    (1, 1),
    (True, True),
    (None, None),
    ("a", "a"),
    (b"a", b"a"),
    (1.5, 1.5),
    (0.0, -0.0),
    (NAN, float("nan")),
    (INF, INF),
    (10**400, 10**400),
    (1j, 1j),
    (complex(NAN, 1), complex(float("nan"), 1)),
    ([], []),
    ((), ()),
    ({}, {}),
    (set(), set()),
    ([1, [2, (3,)]], [1, [2, (3,)]]),
    ([NAN, 1], [float("nan"), 1]),
    ({1: [2], "a": NAN}, {"a": float("nan"), 1: [2]}),
    ({1, "a", (2,)}, {(2,), "a", 1}),
    (frozenset({frozenset({1})}), frozenset({frozenset({1})})),
    ({True: 1}, {True: 1}),
    ({1.5: 1}, {1.5: 1}),
    ([1, True, 1.0], [1, True, 1.0]),
    ({None: None}, {None: None}),
]
DIFFERENT = [
    (1, True),
    (0, False),
    (1, 1.0),
    (1.0, 1),
    (0, None),
    ("1", 1),
    ("a", b"a"),
    (None, False),
    (NAN, 1.0),
    (1.0, NAN),
    (INF, -INF),
    (0.1 + 0.2, 0.3),
    (1, 1j),
    (1.0, complex(1)),
    ("", None),
    ("\u0061\u0301", "\u00e1"),
    ("x", "\u0445"),
    ([1], (1,)),
    ((1,), [1]),
    ([1, 2], [2, 1]),
    ([1], [1, 1]),
    ([1, 1], [1]),
    ([], None),
    ([], ()),
    ([], {}),
    (set(), {}),
    ({1}, frozenset({1})),
    ({1}, {True}),
    ({1}, {1.0}),
    ({1: 2}, {True: 2}),
    ({1: 2}, {1.0: 2}),
    ({1: 2}, {1: True}),
    ({1: 2}, {1: 2, 3: 4}),
    ({1: 2, 3: 4}, {1: 2}),
    ({1: 2}, {2: 2}),
    ([1, [2, [3]]], [1, [2, [3.0]]]),
    ([True], [1]),
    ([[True]], [[1]]),
    ({"a": [1]}, {"a": [True]}),
    ({(1,)}, {(True,)}),
    ({(1, 2): 3}, {(1, 2.0): 3}),
    ([NAN], [None]),
    ([[]], [()]),
    (frozenset({1, 2}), frozenset({1, 3})),
]


@pytest.mark.parametrize(("expected", "got"), SAME)
def test_the_same(expected: Any, got: Any) -> None:
    assert same(expected, got)
    assert difference(expected, got) is None


@pytest.mark.parametrize(("expected", "got"), DIFFERENT)
def test_not_the_same(expected: Any, got: Any) -> None:
    assert not same(expected, got)
    assert str(difference(expected, got)).startswith(("expected", "at ["))


@settings(max_examples=200, deadline=None)
@given(VALUES)
def test_every_value_is_the_same_as_its_copy_under_every_rule(value: Any) -> None:
    copy = decode(encode(value))
    for rules in (Rules(), Rules(loose=True), Rules(unordered=True), Rules(0.1, 0.1, True, True)):
        assert difference(value, copy, rules) is None


@settings(max_examples=300, deadline=None)
@given(VALUES, VALUES)
def test_what_is_the_same_has_one_encoding_up_to_order_and_the_sign_of_zero(
    one: Any, other: Any
) -> None:
    assert same(one, other) == same(other, one)
    if same(one, other):
        assert type(one) is type(other)
        assert one == other or "nan" in repr(one)


@settings(max_examples=100, deadline=None)
@given(st.lists(VALUES, max_size=6), st.randoms())
def test_unordered_is_a_multiset(items: list[Any], random: Any) -> None:
    shuffled = random.sample(items, len(items))
    assert same(items, shuffled, unordered=True)
    assert same(tuple(items), tuple(shuffled), unordered=True)
    if items:
        assert not same(items, [*shuffled, shuffled[0]], unordered=True)
        assert not same(items, shuffled[1:], unordered=True)


def test_unordered_counts_types_and_multiplicity_and_only_the_outermost() -> None:
    assert same([1, 1, 2], [2, 1, 1], unordered=True)
    assert not same([1, 1, 2], [1, 2, 2], unordered=True)
    assert not same([1, True], [True, True], unordered=True)
    assert not same([1, 2.0], [1.0, 2], unordered=True)
    assert not same([[1, 2]], [[2, 1]], unordered=True)
    assert not same([1], (1,), unordered=True)
    assert same([{"a": 1}, {2}, [None]], [[None], {2}, {"a": 1}], unordered=True)


def test_loose_lets_lists_stand_for_tuples_and_whole_floats_for_integers() -> None:
    assert same([1, [2, (3,)]], (1.0, ([2, 3] and (2.0, [3.0]))), loose=True)
    assert same({1: (2,)}, {1.0: [2]}, loose=True)
    assert same({(1, 2)}, {(1.0, 2)}, loose=True)
    for expected, got in [
        (1, True),
        (1.0, True),
        (1, 1.5),
        ("1", 1),
        ([1], {1}),
        (None, 0),
        (1, 1 + 0j),
    ]:
        assert not same(expected, got, loose=True)
    assert not same(10**400, INF, loose=True)
    assert not same(2**53 + 1, 2.0**53, loose=True)


@pytest.mark.parametrize(
    ("expected", "got", "right"),
    [
        (1.0, 1.0005, True),
        (1.0, 1.01, False),
        (1.0, 1, True),
        (1, 1.0005, True),
        (1000, 1001, False),
        (1.0, True, False),
        (NAN, NAN, True),
        (NAN, 1.0, False),
        (1.0, NAN, False),
        (INF, INF, True),
        (INF, 1e308, False),
        (-INF, INF, False),
        (1e308, -1e308, False),
        (10**400, 1.0, False),
        (1.0, 10**400, False),
        (1 + 1j, 1.0005 + 0.9995j, True),
        (1 + 1j, 1.0005 + 1.1j, False),
        ([1.0, {"a": (2.0,)}], [1.0005, {"a": (2.0005,)}], True),
        ({1.0: 1.0}, {1.0005: 1.0}, False),
        ({0.5, 1.5}, {0.5005, 1.4995}, True),
        ({0.5, 1.5}, {0.5005, 1.6}, False),
        ("1.0", "1.0005", False),
    ],
)
def test_tolerance_is_of_floats(expected: Any, got: Any, right: bool) -> None:
    assert same(expected, got, rtol=1e-3) is right
    assert same(expected, got, rtol=5e-4, atol=5e-4) is right


def test_tolerance_and_no_order_pair_what_fits() -> None:
    assert same([1.0, 1.001, 5.0], [5.0004, 1.0008, 1.0002], atol=1e-3, unordered=True)
    grid = [(1.0, 2.0), (1.0005, 1.0)]
    assert same(grid, [(1.0004, 2.0), (1.0001, 1.0)][::-1], atol=1e-3, unordered=True)
    assert same([(1.0, 5), (1.0, 3)], [(0.9999, 5), (1.0001, 3)], atol=1e-3, unordered=True)
    assert not same([(1.0, 5), (1.0, 3)], [(0.9999, 5), (1.0001, 5)], atol=1e-3, unordered=True)


@pytest.mark.parametrize(
    ("expected", "got", "said"),
    [
        ([1, {"a": [2, 3]}], [1, {"a": [2, 4]}], "at [1]['a'][1]: expected 3, got 4"),
        ([1, 2], [1], "expected 2 items, got 1 items"),
        (1, True, "expected 1 (int), got True (bool)"),
        ({"a": 1}, {"b": 1}, "expected {'a': 1}, got {'b': 1}"),
        ([[0], [1, 2]], [[0], (1, 2)], "at [1]: expected [1, 2] (list), got (1, 2) (tuple)"),
    ],
)
def test_the_place_of_the_first_difference_is_told(expected: Any, got: Any, said: str) -> None:
    assert str(difference(expected, got)) == said


def test_what_is_shown_is_short_however_large_it_is() -> None:
    deep: Any = 1
    for _ in range(190):
        deep = [deep]
    for value in (
        "x" * 10**6,
        list(range(10**6)),
        10**6000,
        dict.fromkeys(range(999), "y" * 999),
        deep,
        [[["z" * 50] * 50] * 50],
    ):
        assert len(shown(value)) < 600
    assert shown({1: (2,), "a": {3}}) == "{1: (2), 'a': {3}}"


# -- bounded work --------------------------------------------------------------------------------


def strings(count: int) -> list[Any]:
    return [f"item {n}" for n in range(count)]


def pairs(count: int) -> list[Any]:
    return [[n % 7, n] for n in range(count)]


def twins(count: int) -> list[Any]:
    """Integers of one hash."""
    return [n * (2**61 - 1) for n in range(count)]


@pytest.mark.parametrize("made", [strings, pairs, twins])
def test_a_large_list_in_any_order_is_no_square(made: Any) -> None:
    small = made(2000)
    large = made(4000)
    assert same(large, large[::-1], unordered=True)
    assert_growth(
        lambda: same(small, small[::-1], unordered=True),
        lambda: same(large, large[::-1], unordered=True),
    )


def test_values_whose_hashes_collide_cost_no_more() -> None:
    few = twins(2000)
    many = twins(4000)
    assert not same(list(range(4000)), many, unordered=True)
    assert_growth(
        lambda: same(list(range(2000)), few, unordered=True),
        lambda: same(list(range(4000)), many, unordered=True),
    )


@pytest.mark.timeout(120)  # 2**40 comparisons would take far longer
def test_nested_sets_under_tolerance_cost_no_power() -> None:
    def tower(leaf: float) -> Any:
        made: Any = leaf
        for level in range(40):
            made = frozenset({made, (level, leaf)})
        return made

    assert not same(tower(1.0), tower(3.0), atol=0.5, unordered=True)


@pytest.mark.timeout(120)  # what takes exponential time does not end
def test_pairing_by_trying_is_bounded() -> None:
    wide = [[float(n + k) for n in range(300)] for k in range(64)]
    other = [[v + 0.9 for v in row] for row in wide]
    assert not same(wide, other, atol=1e-3, unordered=True)


def test_depth_is_survived() -> None:
    def nest(leaf: Any, levels: int, kind: Any) -> Any:
        for _ in range(levels):
            leaf = kind(leaf)
        return leaf

    for kind, levels in (
        (lambda v: [v], 199),
        (lambda v: (v,), 99),
        (lambda v: {0: v}, 66),
        (lambda v: frozenset({v}), 99),
    ):
        one = nest(1, levels, kind)
        other = nest(2, levels, kind)
        for rules in (Rules(), Rules(unordered=True), Rules(0.1, 0.0, True, True)):
            assert difference(one, one, rules) is None
            assert difference(one, other, rules) is not None
            assert difference([1], other, rules) is not None
    assert (
        difference(
            nest(1, 5000, lambda v: (v,)), nest(1, 5000, lambda v: (v,)), Rules(unordered=True)
        )
        is not None
    )
