"""The values that cross the boundary: exact, closed, and bounded whatever a program sends."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections import Counter, OrderedDict, defaultdict, namedtuple
from enum import IntEnum, StrEnum
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rlenv_plugin_code.codec import (
    DEPTH,
    MAX_BYTES,
    BadFrame,
    Unencodable,
    decode,
    encode,
    guest_file,
)
from rlenv_plugin_code.compare import same

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(-(2**54), 2**54)
    | st.floats()
    | st.complex_numbers()
    | st.text(st.characters(codec=None, exclude_categories=()))
    | st.binary()
)
KEYS = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text()
    | st.binary(),
    lambda inner: st.lists(inner, max_size=3).map(tuple) | st.frozensets(inner, max_size=3),
    max_leaves=6,
)
VALUES = st.recursive(
    SCALARS | st.sets(KEYS, max_size=5) | st.frozensets(KEYS, max_size=5),
    lambda inner: (
        st.lists(inner, max_size=5)
        | st.lists(inner, max_size=5).map(tuple)
        | st.dictionaries(KEYS, inner, max_size=5)
    ),
    max_leaves=20,
)


def identical(one: Any, other: Any) -> bool:
    """Equal in type, value and sign of zero, all the way down."""
    if type(one) is not type(other):
        return False
    if isinstance(one, float):
        if math.isnan(one):
            return math.isnan(other)
        return one == other and math.copysign(1, one) == math.copysign(1, other)
    if isinstance(one, complex):
        return identical(one.real, other.real) and identical(one.imag, other.imag)
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(identical, one, other))
    if isinstance(one, dict):
        pairs = {key: key for key in other}
        return one == other or (
            len(one) == len(other)
            and all(
                k in other and identical(k, pairs[k]) and identical(v, other[k])
                for k, v in one.items()
            )
        )
    return bool(one == other)


@settings(max_examples=300, deadline=None)
@given(VALUES)
@example(-0.0)
@example([1, True, 1.0, None, "1"])
@example([math.inf, -math.inf, math.nan, 2**53, -(2**53), 2**53 - 1])
@example("\ud800\udc00")
@example("\U00010000")
@example(["\x00", '"', "\\", "\u2028", "[[[["])
def test_every_value_arrives_as_it_was_sent(value: Any) -> None:
    assert identical(decode(encode(value)), value)


def test_integers_beyond_the_digits_that_python_would_convert_arrive() -> None:
    for value in (10**5000, -(7**9000), 2**53, -(2**53) - 1):
        assert decode(encode(value)) == value


def test_half_surrogates_side_by_side_stay_two_characters() -> None:
    assert decode(encode(["\ud800\udc00", "\U00010000"])) == ["\ud800\udc00", "\U00010000"]


def test_flat_data_costs_no_tags() -> None:
    assert encode(["ok", [1, 2.5, "x", None, True]]) == b'["ok",[1,2.5,"x",null,true]]'


def test_texts_compose() -> None:
    parts = [encode(part) for part in (1, (2,), {"a": {3}})]
    assert decode(b"[" + b",".join(parts) + b"]") == [1, (2,), {"a": {3}}]


Point = namedtuple("Point", "x y")  # noqa: PYI024 - the old way is common in responses


class Color(IntEnum):
    RED = 1


class Word(StrEnum):
    A = "a"


class Liar(int):
    def __pos__(self) -> Any:
        return 7

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = int.__hash__


class Text(str):
    __slots__ = ()

    def __str__(self) -> str:
        return "another"


class Items(list[int]):
    def __iter__(self) -> Any:
        return iter([9])


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (Counter("aab"), {"a": 2, "b": 1}),
        (OrderedDict(a=1), {"a": 1}),
        (defaultdict(list, {1: [2]}), {1: [2]}),
        (Point(1, 2), (1, 2)),
        (Color.RED, 1),
        ([Color.RED], [1]),
        (Word.A, "a"),
        (Liar(3), 3),
        (Text("said"), "said"),
        (Items([1, 2]), [1, 2]),
        ({Liar(3): Liar(4)}, {3: 4}),
    ],
)
def test_subclasses_count_as_what_they_hold(value: Any, plain: Any) -> None:
    assert identical(decode(encode(value)), plain)


@pytest.mark.parametrize(
    "value",
    [object(), range(3), bytearray(b"a"), iter([]), int, lambda: 1, [1, {2: object()}], ...],
)
def test_anything_else_has_no_encoding(value: Any) -> None:
    with pytest.raises(Unencodable):
        encode(value)


def test_scalars_of_numpy_are_numbers_and_its_arrays_are_not() -> None:
    numpy = pytest.importorskip("numpy")
    made = [numpy.int64(3), numpy.bool_(True), numpy.float32(0.5), numpy.str_("a")]
    assert identical(decode(encode(made)), [3, True, 0.5, "a"])
    with pytest.raises(Unencodable, match="ndarray"):
        encode(numpy.zeros(2))


def nested(kind: Any, levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = kind(value)
    return value


@pytest.mark.parametrize(
    ("kind", "levels"),
    [(lambda v: [v], DEPTH), (lambda v: (v,), DEPTH // 2), (lambda v: {1: v}, DEPTH // 3)],
)
def test_depth_has_a_limit_on_both_sides(kind: Any, levels: int) -> None:
    assert decode(encode(nested(kind, levels))) == nested(kind, levels)
    with pytest.raises(Unencodable, match="deep"):
        encode(nested(kind, levels + 1))


def test_a_list_that_holds_itself_has_no_encoding() -> None:
    value: list[Any] = []
    value.append(value)
    with pytest.raises(Unencodable, match="deep"):
        encode(value)


def test_size_has_a_limit_on_both_sides() -> None:
    with pytest.raises(Unencodable, match="bytes"):
        encode("x" * MAX_BYTES)
    with pytest.raises(BadFrame, match="longer"):
        decode(b'"' + b"x" * MAX_BYTES + b'"')


def test_nesting_is_counted_outside_of_text_only() -> None:
    value = ["[" * 500, '"' + "[" * 500, "\\", '\\"' + "{" * 500]
    assert decode(encode(value)) == value


BAD = [
    b"", b" ", b"nul", b"NaN", b"Infinity", b"-Infinity", b"[NaN]", b"1 2", b"[1]]", b"[1,]",
    b"\xff", b'"\xc3"', b"\xef\xbb\xbf1", b"01", b"+1", b"1_0", b"1e400", b"[1e9999]", b"-1E+999",
    b"2" * 309 + b".0", b"1" * 310, b"9" * 5000, b"1" * 300 + b"e99", b"0x10", b".5", b"5.", b"{}",
    b'{"x":1}', b'{"i":"1","i":"2"}', b'{"i":"1","f":"nan"}', b'{"i":1}', b'{"i":""}',
    b'{"i":"0x1"}', b'{"i":" 1"}', b'{"i":"1_0"}', b'{"i":"\xd9\xa1"}', b'{"f":"NaN"}',
    b'{"f":"1.5"}', b'{"f":1.5}', b'{"f":"infinity"}', b'{"c":[1.0]}', b'{"c":[1,2.0]}',
    b'{"c":[1.0,2.0,3.0]}', b'{"c":["1.0","2.0"]}', b'{"t":1}', b'{"t":"ab"}', b'{"t":{"t":[]}}',
    b'{"d":[1]}', b'{"d":[[1]]}', b'{"d":[[1,2,3]]}', b'{"d":["ab"]}', b'{"d":[[[],1]]}',
    b'{"d":[[1,1],[1,2]]}', b'{"d":[[1,1],[true,2]]}', b'{"d":{"t":[]}}', b'{"s":[1,1]}',
    b'{"s":[[1]]}', b'{"s":[1,1.0]}', b'{"z":[{"d":[]}]}', b'{"z":[{"s":[]}]}', b'{"b":"a"}',
    b'{"b":"Y Q=="}', b'{"b":"YQ"}', b'{"b":"YQ==YQ=="}', b'{"b":"\xc3\xa9"}', b'{"b":[1]}',
    b"[" * 201 + b"]" * 201, b"[" * 100_000, b'{"t":' * 100_000, b"]" * 1000,
    b"[[" * 300 + b'"' + b"]]" * 300, b'{"a":' * 150 + b"1" + b"}" * 150,
]  # fmt: skip


@pytest.mark.parametrize("data", BAD, ids=[repr(data[:30]) for data in BAD])
def test_bytes_that_are_no_value_are_a_bad_frame(data: bytes) -> None:
    with pytest.raises(BadFrame):
        decode(data)


PIECES = st.sampled_from(
    [
        b"[",
        b"]",
        b"{",
        b"}",
        b",",
        b":",
        b'"',
        b'"i"',
        b'"f"',
        b'"t"',
        b'"d"',
        b'"s"',
        b'"z"',
        b'"b"',
        b'"c"',
        b"1",
        b"-",
        b"0",
        b".",
        b"e",
        b"E9",
        b"nan",
        b'"nan"',
        b"null",
        b"true",
        b"NaN",
        b"\\",
        b"\\u00",
        b"\\ud800",
        b"\xff",
        b" ",
        b"\x00",
    ]
)
EXPECTED = [0, True, 1.0, [1, 2], (1, 2), {"a": [1]}, {1, 2}, "nan", math.nan, b"a", None, [], -0.0]


@settings(max_examples=500, deadline=None)
@given(st.binary() | st.lists(PIECES).map(b"".join))
def test_no_bytes_raise_anything_else_and_none_pass_for_a_value_they_are_not(data: bytes) -> None:
    try:
        value = decode(data)
    except BadFrame:
        return
    for expected in EXPECTED:
        if same(expected, value):
            assert identical(value, expected) or expected == 0  # 0.0 is -0.0


@settings(max_examples=200, deadline=None)
@given(VALUES, st.data())
def test_a_damaged_text_is_bad_or_another_value_or_the_same(value: Any, data: Any) -> None:
    text = bytearray(encode(value))
    place = data.draw(st.integers(0, len(text) - 1))
    text[place] = data.draw(st.integers(0, 255))
    try:
        found = decode(bytes(text))
    except BadFrame:
        return
    assert encode(found) is not None


def test_keys_made_to_collide_are_refused() -> None:
    twins = [n * (2**61 - 1) for n in range(1, 50_000)]
    text = ",".join(f'{{"i":"{n:x}"}}' for n in twins)
    for frame in (
        f'{{"s":[{text}]}}',
        '{"d":[' + text.replace("{", "[{").replace("}", "},1]") + "]}",
    ):
        with pytest.raises(BadFrame, match="collide"):
            decode(frame.encode())


def test_more_brackets_than_memory_should_hold_are_refused() -> None:
    with pytest.raises(BadFrame, match="brackets"):
        decode(b"[" + b"[]," * 1_100_000 + b"0]")


def test_json_of_a_plain_value_is_what_is_sent() -> None:
    value = [1, "a", [None, True, -2.5], []]
    assert json.loads(encode(value)) == value


def test_the_guest_needs_nothing_but_the_standard_library() -> None:
    name, text = guest_file()
    assert name == "rlenv_codec.py"
    code = text.decode() + "\nimport sys\nassert decode(encode({1: (2,)})) == {1: (2,)}\n"
    code += (
        "assert not {'typing', 'attr', 'attrs', 'rlenv'} & set(sys.modules), sorted(sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
