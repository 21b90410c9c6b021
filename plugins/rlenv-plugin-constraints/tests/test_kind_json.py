"""JSON and JSON Schema: what is JSON and nothing else, within bounds."""

from __future__ import annotations

import json
import pickle
from typing import Any

import pytest
from growth import assert_linear
from hypothesis import given
from hypothesis import strategies as st
from rlenv.model.errors import ConfigError
from rlenv.text import visible
from rlenv_plugin_constraints.kinds.json_schema import JsonSchema
from rlenv_plugin_constraints.kinds.jsons import Json
from rlenv_plugin_constraints.text import Text

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(st.lists(VALUES, max_size=3) | st.dictionaries(st.text(), VALUES, max_size=3), st.booleans())
def test_what_json_writes_is_json(value: Any, ascii_only: bool) -> None:
    assert Json().check(Text(json.dumps(value, ensure_ascii=ascii_only))).satisfied
    indented = json.dumps(value, indent=2)
    assert Json().check(Text(f"```json\n{indented}\n```")).satisfied


@given(st.text() | st.text(alphabet='[]{}",:0 e-\\'))
def test_nothing_is_json_that_python_does_not_read(response: str) -> None:
    if Json(type="any").check(Text(response)).satisfied and "```" not in response:
        json.loads(response)


@pytest.mark.parametrize(
    "response",
    [
        "",
        "1",
        '"x"',
        "null",
        "NaN",
        "[NaN]",
        "[Infinity]",
        "[-Infinity]",
        "[1e999]",
        "{'a': 1}",
        "[1,]",
        '{"a": 1,}',
        "[1] x",
        'Sure: {"a": 1}',
        '{"a": 1}{"b": 2}',
        '{"a": 1, "a": 2}',
        '{"a": {"b": 1, "b": 2}}',
        "// no\n{}",
        "[01]",
        "[+1]",
        "[.5]",
        "[0x1]",
        '{"a": "\n"}',
        "\ufeff{}",
        "```json\n{}",
        "```python\n{}\n```",
        "```json\n{}\n```\n```json\n[]\n```",
        "text\n```json\n{}\n```",
        "{a: 1}",
        "[True]",
        "\x00",
        "\ud800",
        "[1\u00a0]",
    ],
)
def test_no_json(response: str) -> None:
    assert not Json().check(Text(response)).satisfied


def test_options_of_json() -> None:
    assert Json(type="any").check(Text("1")).satisfied
    assert not Json(type="object").check(Text("[]")).satisfied
    assert not Json(type="array").check(Text("{}")).satisfied
    assert Json(keys=("a",)).check(Text('{"a": 1}')).satisfied
    assert not Json(keys=("a", "b")).check(Text('{"a": 1}')).satisfied
    assert not Json(keys=("a",)).check(Text('["a"]')).satisfied
    assert Json(prose=True).check(Text("Here:\n```json\n{}\n```\nDone.")).satisfied
    assert Json().check(Text(visible("<think>Hm.</think>\n{}"))).satisfied
    assert not Json().check(Text(visible("<think>{}"))).satisfied


def test_a_finding_says_where() -> None:
    found = Json().check(Text('{"a": 1 "b": 2}'))
    assert found.spans == ((8, 9),)
    assert "delimiter" in found.note


@pytest.mark.parametrize(
    ("start", "unit", "end"),
    [
        ("", "[", ""),
        ("", '{"a":', ""),
        ("", "[", "]"),
        ("", '"', ""),
        ("", "9", ""),
        ("[", "1,", ""),
        ("", "```", ""),
    ],
)
@pytest.mark.parametrize(
    "rule", [Json(), JsonSchema(schema={"type": "object"})], ids=["json", "schema"]
)
def test_large_and_deep_responses_get_an_answer_in_proportion(
    rule: Any, start: str, unit: str, end: str
) -> None:
    def work(text: str) -> bool:
        return bool(rule.check(Text(start + text + end * len(text))).satisfied)

    assert not work(unit * 10_000)
    assert_linear(work, unit)


def test_brackets_in_strings_are_not_depth() -> None:
    assert Json().check(Text(json.dumps(["[" * 5000]))).satisfied
    assert Json().check(Text(json.dumps(['\\"[' * 500]))).satisfied


SCHEMA = {
    "type": "object",
    "properties": {"a": {"enum": ["gold"]}, "n": {"$ref": "#/$defs/n"}},
    "required": ["a"],
    "$defs": {"n": {"type": "integer"}},
}


def test_a_schema_is_followed_and_its_answers_are_not_told() -> None:
    rule = JsonSchema(schema=SCHEMA)
    assert rule.check(Text('{"a": "gold", "n": 1}')).satisfied
    assert not rule.check(Text('{"a": "gold", "n": "1"}')).satisfied
    found = rule.check(Text('{"a": "lead"}'))
    assert not found.satisfied
    assert "gold" not in repr(found)
    assert "$.a" in found.note
    assert pickle.loads(pickle.dumps(rule)) == rule


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ({"type": "objekt"}, "schema.type"),
        ({"$ref": "https://example.com/s.json"}, "leaves the schema"),
        ({"properties": {"a": {"$ref": "other.json#/x"}}}, "leaves the schema"),
        ({"$ref": "#/nope"}, "points at nothing"),
        ({"propertees": {}}, '"properties"'),
        ({"properties": {"a": {"$id": "https://example.com/x", "$ref": "#"}}}, "$id"),
        ({"pattern": "("}, "pattern"),
        ({"$schema": "https://example.com/own"}, "no draft"),
        (3, "a table"),
    ],
)
def test_a_broken_schema_is_a_mistake_at_load(schema: Any, said: str) -> None:
    with pytest.raises(ConfigError, match=r".") as caught:
        JsonSchema(schema=schema)
    assert said in str(caught.value)


def test_drafts_differ() -> None:
    tuple_of_two = {"items": [{"type": "integer"}], "additionalItems": False}
    assert not JsonSchema(schema=tuple_of_two, draft="draft7").check(Text("[1, 2]")).satisfied
    with pytest.raises(ConfigError, match='did you mean "draft7"'):
        JsonSchema(schema={}, draft="draft77")


def test_nothing_is_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    import urllib.request

    def opened(*_: Any, **__: Any) -> None:
        raise AssertionError("a schema was fetched")

    monkeypatch.setattr(urllib.request, "urlopen", opened)
    schema = {
        "$id": "https://example.com/s",
        "$schema": "http://json-schema.org/draft-07/schema#",
        "items": {"$ref": "#/definitions/n"},
        "definitions": {"n": {"type": "integer"}},
    }
    assert JsonSchema(schema=schema).check(Text("[1]")).satisfied
    assert not JsonSchema(schema=schema).check(Text('["1"]')).satisfied


@pytest.mark.parametrize(
    ("schema", "response"),
    [
        ({"anyOf": [{"type": "array", "items": {"$ref": "#"}}] * 2}, "[" * 45 + "1" + "]" * 45),
        ({"pattern": "(a|aa)+$"}, json.dumps("a" * 5000 + "b")),
        ({"type": "array"}, "[" + "1," * 150_000 + "1]"),
    ],
)
def test_a_response_cannot_make_a_schema_cost_more_than_its_budget(
    schema: Any, response: str
) -> None:
    found = JsonSchema(schema=schema).check(Text(response))
    assert not found.satisfied
    assert found.undecided


@given(st.lists(VALUES, max_size=5))
def test_unique_items_are_those_of_the_library(items: list[Any]) -> None:
    import jsonschema  # type: ignore[import-untyped]

    schema = {"uniqueItems": True}
    ours = JsonSchema(schema=schema).check(Text(json.dumps(items))).satisfied
    assert ours == jsonschema.Draft202012Validator(schema).is_valid(json.loads(json.dumps(items)))
