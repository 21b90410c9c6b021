"""What a policy is told of a tool comes from its annotations and its docstring."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Mapping
from typing import Annotated, Literal, NotRequired, TypedDict, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rlenv import ConfigError
from rlenv_plugin_agent.tools.calling import observe
from rlenv_plugin_agent.tools.context import ToolContext
from rlenv_plugin_agent.tools.tool import Function, Tool, tool


class Item(TypedDict):
    """One order.

    Args:
        name: what it is.
    """

    name: str
    count: NotRequired[int]


class Desk:
    """A tool may be a method of an object."""

    def __init__(self) -> None:
        self.orders = {"a": 1}

    def order(self, name: str) -> int:
        """Look up an order."""
        return self.orders[name]

    def __call__(self, name: str) -> int:
        """Look up an order."""
        return self.order(name)


def everything(
    context: ToolContext,
    text: str,
    item: Item,
    mode: Literal["fast", "slow"] = "fast",
    many: list[int] | None = None,
    table: Mapping[str, dict[str, float]] = {},
    noted: Annotated[int, "how many"] = 3,
    anything: object = None,
) -> str:
    """Take every kind of argument.

    It goes on.

    Args:
        text: a text
            on two lines.
        mode: how fast.

    Returns:
        A text.
    """
    return f"{text}{item}{mode}{many}{table}{noted}{anything}{context}"


def properties(made: Tool) -> dict[str, dict[str, object]]:
    return cast("dict[str, dict[str, object]]", made.parameters["properties"])


def test_a_schema_says_what_annotations_and_docstring_say() -> None:
    made = tool(everything)

    assert made.description == "Take every kind of argument.\n\nIt goes on."
    assert made.parameters["required"] == ["text", "item"]
    assert properties(made) == {
        "text": {"type": "string", "description": "a text on two lines."},
        "item": {
            "type": "object",
            "properties": {
                "name": {"type": "string", "description": "what it is."},
                "count": {"type": "integer"},
            },
            "required": ["name"],
            "additionalProperties": False,
        },
        "mode": {"enum": ["fast", "slow"], "description": "how fast.", "default": "fast"},
        "many": {
            "anyOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "null"}],
            "default": None,
        },
        "table": {
            "type": "object",
            "default": {},
            "additionalProperties": {"type": "object", "additionalProperties": {"type": "number"}},
        },
        "noted": {"type": "integer", "description": "how many", "default": 3},
        "anything": {"default": None},
    }
    json.dumps(made.offered)


def test_a_context_makes_a_tool_stateful_and_is_not_told() -> None:
    made = tool(everything)

    assert made.stateful
    assert made.context == "context"
    assert "context" not in properties(made)


def test_a_method_and_an_object_that_is_called_are_tools() -> None:
    desk = Desk()
    for made in (tool(desk.order), tool(name="order")(desk)):
        assert (made.name, made.description) == (
            "order",
            "Look up an order.",
        ) or made.function is desk
        assert properties(made) == {"name": {"type": "string"}}
        assert made(name="a") == 1


def plain(value) -> None:  # type: ignore[no-untyped-def]
    """Without an annotation."""


def strange(value: complex) -> None:
    """Not JSON."""


def starred(*values: int) -> None:
    """Without names."""


def unknown(value: Nowhere) -> None:  # type: ignore[name-defined] # noqa: F821
    """Cannot be resolved."""


@pytest.mark.parametrize("function", [plain, strange, starred, unknown])
def test_a_function_that_cannot_be_a_tool_is_an_error(function: Function) -> None:
    with pytest.raises(ConfigError, match=f"tool {function.__name__}"):
        tool(function)


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        ({"text": 1, "item": {"name": "a"}}, "text"),
        ({"text": "a", "item": {"name": "a", "more": 1}}, "more"),
        ({"text": "a", "item": {"count": 1}}, "name"),
        ({"text": "a", "item": {"name": "a"}, "mode": "other"}, "mode"),
        ({"text": "a", "item": {"name": "a"}, "noted": True}, "noted"),
        ({"text": "a", "item": {"name": "a"}, "many": [1, "2"]}, "many"),
    ],
)
def test_arguments_are_checked_deeply(arguments: dict[str, object], part: str) -> None:
    assert part in tool(everything).problem(arguments)


@pytest.mark.parametrize(
    "schema",
    [
        {
            "properties": {"a": {"type": "string", "pattern": "^(a+)+$"}},
            "additionalProperties": False,
        },
        {"patternProperties": {"^(a+)+$": {}}, "additionalProperties": False},
    ],
)
def test_a_pattern_of_a_schema_cannot_be_made_to_take_for_ever(schema: dict[str, object]) -> None:
    made = Tool(lambda **_: "answer", "slow", parameters={"type": "object", **schema})
    for hostile in ({"a": "a" * 40 + "!"}, {"a" * 40 + "!": "a"}):
        answer = asyncio.run(observe({"slow": made}, "slow", hostile, ToolContext()))
        assert answer == "answer" or "Additional properties" in answer


def test_many_items_are_not_compared_with_one_another() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "array", "uniqueItems": True}}}
    made = Tool(lambda **_: "answer", "slow", parameters=schema)
    given = {"a": [{"number": i} for i in range(50_000)]}
    assert asyncio.run(observe({"slow": made}, "slow", given, ToolContext())) == "answer"


def test_a_reference_to_elsewhere_is_never_fetched() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        url = f"http://127.0.0.1:{server.getsockname()[1]}/schema.json"
        made = Tool(lambda: None, "far", parameters={"$ref": url})
        answer = asyncio.run(observe({"far": made}, "far", "{}", ToolContext()))
        assert "cannot be checked" in answer
        with pytest.raises(BlockingIOError):
            server.accept()


def mixed(
    text: str, count: int, share: float = 0.5, sure: bool = True, mode: Literal["a"] = "a"
) -> str:
    """Take plain types, and one that is not."""
    return f"{text}{count}{share}{sure}{mode}"


VALUES: st.SearchStrategy[object] = st.sampled_from(
    ["a", "", 0, 1, -3, 1.0, 0.5, True, False, None, [], {}]
)
NAMES = ["text", "count", "share", "sure", "mode", "more"]


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(st.sampled_from(NAMES), VALUES))
def test_what_is_decided_without_the_validator_is_what_it_decides(found: dict[str, object]) -> None:
    made = tool(mixed)

    assert (made.problem(found) == "") == made._validator.is_valid(found)


@pytest.mark.parametrize(
    "rule",
    [
        {"minProperties": 2},
        {"properties": {"a": {"type": "string", "maxLength": 1}}},
        {"required": ["a", "b"]},
    ],
)
def test_a_schema_by_hand_keeps_its_rules(rule: dict[str, object]) -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
        "required": [],
        "additionalProperties": False,
    }
    made = Tool(lambda **_: "", "t", parameters={**schema, **rule}, where="thread")

    assert made.problem({"a": "xx"}) != ""
