"""Simple schemas are applied by plain functions, which never take what the library refuses."""

from __future__ import annotations

import json
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rlenv_plugin_constraints.registry import build
from rlenv_plugin_constraints.schema_sure import keywords, sure
from rlenv_plugin_constraints.schemas import schema_problems
from rlenv_plugin_constraints.text import Text

NAMES = st.sampled_from(["a", "b"])
SCALARS = st.sampled_from([0, 1, 1.0, 2.5, -3, True, False, None, "", "a", "abc"])
VALUES = st.recursive(
    SCALARS,
    lambda below: st.lists(below, max_size=3) | st.dictionaries(NAMES, below, max_size=2),
    max_leaves=6,
)
TYPES = ["object", "array", "string", "integer", "number", "boolean", "null"]


def schemas(below: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(TYPES)
            | st.lists(st.sampled_from(TYPES), min_size=1, max_size=2, unique=True),
            "properties": st.dictionaries(NAMES, below, max_size=2),
            "required": st.lists(NAMES, max_size=2, unique=True),
            "additionalProperties": st.booleans() | below,
            "items": below,
            "enum": st.lists(SCALARS, min_size=1, max_size=3),
            "const": SCALARS,
            "minimum": st.sampled_from([0, 1.5]),
            "maxLength": st.sampled_from([0, 2]),
            "minItems": st.just(1),
            "maxProperties": st.just(1),
            "title": st.just("x"),
        },
    )


@given(st.recursive(st.just({}), schemas, max_leaves=4), VALUES)
def test_what_is_sure_is_right_by_every_draft(schema: Any, value: Any) -> None:
    fits = sure(schema)
    assert fits is not None
    if fits(value):
        assert jsonschema.Draft4Validator(schema).is_valid(value)
        assert jsonschema.Draft202012Validator(schema).is_valid(value)


@pytest.mark.parametrize(
    "schema",
    [
        {"pattern": "a"},
        {"items": [{}]},
        {"properties": {"a": {"$ref": "#"}}},
        {"anyOf": [{}]},
        False,
    ],
)
def test_of_other_keywords_nothing_is_said(schema: Any) -> None:
    assert sure(schema) is None


def test_keywords_of_the_widest_place_are_counted() -> None:
    assert (
        keywords(
            {
                "type": "object",
                "properties": {"a": {"type": "string", "minLength": 1, "maxLength": 2}},
            }
        )
        == 3
    )


def test_a_response_that_costs_more_than_the_budget_is_undecided_all_the_same() -> None:
    schema = {"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": 9}}
    found = build({"kind": "json_schema", "schema": schema}).check(Text(json.dumps([1] * 50_000)))

    assert not found.satisfied
    assert found.note.startswith("undecided: more than 100,000 steps")


def test_misfits_are_told_in_the_order_of_the_document() -> None:
    schema = {"additionalProperties": {"type": "integer"}}
    found = build({"kind": "json_schema", "schema": schema}).check(
        Text('{"d": "", "a": "", "c": ""}')
    )

    assert [line.partition(":")[0] for line in found.measured] == ["$.d", "$.a", "$.c"]


def test_a_pattern_of_names_cannot_be_made_to_take_forever() -> None:
    schema = {"patternProperties": {"^(a|a)*$": {}}, "additionalProperties": False}
    response = json.dumps({"a" * 60 + "!": 1})
    found = build({"kind": "json_schema", "schema": schema}).check(Text(response))

    assert not found.satisfied


def test_patterns_that_nothing_can_limit_are_refused() -> None:
    schema = {"patternProperties": {"^a": {}}, "unevaluatedProperties": False}

    assert "unevaluatedProperties beside patternProperties" in schema_problems(schema)[0]
