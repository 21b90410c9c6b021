"""Inputs that are drawn: each fits its schema, and a bad schema is rejected."""

from __future__ import annotations

import math
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rlenv_plugin_code.draw import BadSchema, as_text, check_schema, draw, inputs

SCHEMAS: list[Any] = [
    ["int", -3, 10**20],
    ["float", -1.5, 2],
    ["bool"],
    ["str", "abc", 0, 5],
    ["str", "", 0, 0],
    ["list", ["list", ["int", 0, 9], 0, 3], 2, 4],
    ["tuple", ["int", 0, 1], ["str", "x", 1, 1]],
    ["tuple"],
    ["set", ["tuple", ["int", 0, 9]], 0, 4],
    ["dict", ["str", "ab", 1, 2], ["float", 0, 1], 0, 4],
    ["choice", [1, "a", None, [2]]],
]


def fits(value: Any, schema: Any) -> bool:
    kind, *rest = schema
    if kind in ("int", "float"):
        return type(value).__name__ == kind and bool(rest[0] <= value <= rest[1])
    if kind == "bool":
        return type(value) is bool
    if kind == "str":
        return (
            type(value) is str and rest[1] <= len(value) <= rest[2] and set(value) <= set(rest[0])
        )
    if kind == "choice":
        return value in rest[0]
    if kind == "tuple":
        return type(value) is tuple and all(map(fits, value, rest))
    if kind == "dict":
        return (
            all(fits(k, rest[0]) and fits(v, rest[1]) for k, v in value.items())
            and len(value) <= rest[3]
        )
    least = rest[1] if kind == "list" else 0
    return (
        type(value).__name__ == kind
        and least <= len(value) <= rest[2]
        and all(fits(v, rest[0]) for v in value)
    )


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(SCHEMAS), st.integers(0, 2**64))
def test_what_is_drawn_fits_its_schema(schema: Any, seed: int) -> None:
    check_schema(schema)
    assert fits(draw(schema, Random(seed)), schema)


def test_a_key_draws_the_same_always_and_another_key_something_else() -> None:
    key = b"k" * 32
    other = b"l" * 32
    assert inputs(SCHEMAS, 10, key) == inputs(SCHEMAS, 10, key)
    assert inputs(SCHEMAS, 10, key) != inputs(SCHEMAS, 10, other)
    assert inputs(SCHEMAS, 5, key) == inputs(SCHEMAS, 10, key)[:5]
    assert len({repr(one) for one in inputs(SCHEMAS, 10, key)}) == 10


def test_bounds_come_up() -> None:
    seen = {args[0] for args in inputs([["int", -(10**9), 10**9]], 100, b"k")}
    assert {-(10**9), 10**9, 0} <= seen


@pytest.mark.parametrize(
    "schema",
    [
        [],
        "int",
        ["nope"],
        ["int"],
        ["int", 1],
        ["int", 1.0, 2],
        ["int", True, 2],
        ["int", 2, 1],
        ["float", 0, math.inf],
        ["float", math.nan, 1],
        ["bool", 1],
        ["str", 1, 0, 1],
        ["str", "", 0, 1],
        ["str", "a", -1, 1],
        ["list", ["int", 0, 1], 0, 10**7],
        ["list", ["list", ["int", 0, 1], 0, 10**4], 0, 10**4],
        ["list", 5, 0, 1],
        ["set", ["list", ["int", 0, 1], 0, 1], 0, 1],
        ["dict", ["set", ["int", 0, 1], 0, 1], ["int", 0, 1], 0, 1],
        ["tuple", 1],
        ["choice", []],
        ["choice", 1],
        ["choice"],
    ],
    ids=repr,
)
def test_a_schema_that_cannot_be_drawn_from_is_refused(schema: Any) -> None:
    with pytest.raises(BadSchema):
        check_schema(schema)


def test_a_schema_that_nests_without_end_is_refused() -> None:
    schema: list[Any] = ["tuple"]
    schema.append(schema)
    with pytest.raises(BadSchema, match="deep"):
        check_schema(schema)


def test_arguments_as_a_program_reads_them() -> None:
    assert as_text((3, [1, 2], "a b", [[1, 2], [3]], (1.5, "x"))) == "3\n1 2\na b\n1 2\n3\n1.5 x\n"
