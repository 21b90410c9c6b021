"""Whatever a policy asks for and whatever a tool does, there is an observation of bounded size."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable
from datetime import date
from typing import cast

import pytest
from attrs import frozen
from rlenv import ConfigError, Fault, VerifierFault
from rlenv.authoring import suggest
from rlenv_plugin_agent.errors import ToolError, error_in, error_text
from rlenv_plugin_agent.tools import calling, results
from rlenv_plugin_agent.tools.calling import observe
from rlenv_plugin_agent.tools.context import ToolContext
from rlenv_plugin_agent.tools.observations import answer_calls
from rlenv_plugin_agent.tools.tool import Function, Tool, tool


def called(
    function: Function | Tool, arguments: object = "{}", context: ToolContext | None = None
) -> str:
    made = (
        function
        if isinstance(function, Tool)
        else tool(
            function,
        )
    )
    held = ToolContext() if context is None else context
    return asyncio.run(observe({made.name: made}, made.name, arguments, held))


def error(observation: str) -> dict[str, object]:
    return cast("dict[str, object]", json.loads(observation)["error"])


def echo(value: object) -> object:
    return value


def returning(value: object) -> Tool:
    def give() -> object:
        return value

    return tool(give)


@pytest.mark.parametrize(
    "raised",
    [
        ValueError("key=sk-123"),
        SystemExit("sk-123"),
        KeyboardInterrupt("sk-123"),
        GeneratorExit("sk-123"),
        StopIteration("sk-123"),
        MemoryError("sk-123"),
    ],
)
@pytest.mark.parametrize("asynchronous", [False, True])
def test_what_a_tool_raises_is_named_and_its_text_is_not_shown(
    raised: BaseException, asynchronous: bool
) -> None:
    def fail() -> str:
        raise raised

    async def afail() -> str:
        raise raised

    found = called(afail if asynchronous else fail)
    assert error(found)["type"] == "error"
    assert "sk-123" not in found


def test_a_tool_error_is_what_the_policy_reads() -> None:
    def refuse() -> str:
        raise ToolError("no such order")

    assert error(called(refuse))["message"] == "no such order"


def test_a_fault_of_the_environment_goes_on_to_the_episode() -> None:
    def broken() -> str:
        raise VerifierFault(Fault("pool", "no sandbox"))

    with pytest.raises(VerifierFault, match="no sandbox"):
        called(broken)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("text", "text"),
        ("", ""),
        (0, "0"),
        (None, "null"),
        ({"a": (1, 2.5)}, '{"a": [1, 2.5]}'),
        (float("nan"), '"nan"'),
        ({"b", "a"}, '["a", "b"]'),
        (date(2026, 1, 2), '"2026-01-02"'),
        ("a\ud800b", "a\ufffdb"),
        ({1: True}, '{"1": true}'),
    ],
)
def test_a_result_is_text_or_json(value: object, shown: str) -> None:
    assert called(returning(value)) == shown


def test_a_value_class_is_an_object() -> None:
    @frozen
    class Point:
        x: int
        y: tuple[int, ...] = (1,)

    assert called(returning(Point(3))) == '{"x": 3, "y": [1]}'


class Secretive:
    def __repr__(self) -> str:
        return "sk-123"

    __str__ = __repr__


@pytest.mark.parametrize("value", [b"sk-123", Secretive(), [Secretive()], {Secretive(): 1}])
def test_what_has_no_form_in_json_is_an_error_without_its_text(value: object) -> None:
    found = called(returning(value))
    assert "returned" in str(error(found)["message"])
    assert "sk-123" not in found


def nested(levels: int) -> object:
    made: list[object] = []
    for _ in range(levels):
        made = [made]
    return made


def itself() -> object:
    made: list[object] = []
    made.append(made)
    return made


LARGE: dict[str, Callable[[], object]] = {
    "text": lambda: "x" * (1 << 30),
    "texts": lambda: ["x" * (1 << 24)] * 64,
    "numbers": lambda: [0] * 10**7,
    "object": lambda: {"a": {str(i): "y" * 50 for i in range(10**5)}},
    "deep": lambda: nested(10**5),
    "endless": itself,
    "escapes": lambda: ["\0" * 10**6],
    "integer": lambda: 10**10**5,
    "wide": lambda: ["é" * 10**6],
}


@pytest.mark.parametrize("name", LARGE)
def test_a_large_result_is_cut(name: str) -> None:
    found = called(tool(name="large")(LARGE[name]))
    assert len(found) <= results.RESULT + 100


@pytest.mark.parametrize(
    "arguments",
    [
        "{" * 10**5,
        "[" * 10**5,
        '{"value": ' + "[" * 10**5 + "]" * 10**5 + "}",
        "[]",
        "null",
        "nonsense",
        '{"value": NaN}',
        '{"value": -Infinity}',
        '{"value": 1e999}',
        '{"value": ' + "9" * 10**5 + "}",
        '{"other": 1}',
        "{}",
        5,
        None,
        '{"value": 1} x',
    ],
)
def test_arguments_that_are_not_what_the_tool_takes_are_answered(arguments: object) -> None:
    assert error(called(echo, arguments))["type"] == "arguments"


def test_arguments_of_ten_megabytes_are_not_read() -> None:
    found = error(called(echo, '{"value": "' + "x" * 10_000_000 + '"}'))
    assert found["type"] == "arguments"
    assert len(str(found)) < 500


def test_arguments_nested_deeply_reach_the_tool_or_are_refused() -> None:
    def depth(value: list[object]) -> int:
        count = 0
        while value:
            value = cast("list[object]", value[0])
            count = count + 1
        return count

    assert called(depth, {"value": nested(900)}) == "900"


def test_a_tool_that_is_not_there_gets_a_suggestion() -> None:
    made = tool(echo)
    found = asyncio.run(observe({"echo": made}, "ecko", "{}", ToolContext()))
    assert error(found)["type"] == "unknown_tool"
    assert 'did you mean "echo"' in str(error(found)["message"])
    for name in (None, 3, ["echo"], "x" * 10**6):
        assert (
            error(asyncio.run(observe({"echo": made}, name, "{}", ToolContext())))["tool"]
            == str(name)[:64]
        )


def test_a_name_is_compared_with_few_of_many(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = list[int]()

    def counted(name: str, names: Iterable[str], *, what: str) -> str:
        compared.append(len(found := list(names)))
        return suggest(name, found, what=what)

    monkeypatch.setattr(calling, "suggest", counted)
    tools = {f"shop_{i}_find": tool(echo) for i in range(200)}
    for name, hint in (("shop_3_fin", "shop_3_find"), ("other", "there are 200 tools")):
        found = asyncio.run(observe(tools, name, "{}", ToolContext()))
        assert hint in str(error(found)["message"])
    assert max(compared) <= calling.NEAR


def test_a_call_of_another_role_is_answered_with_an_error() -> None:
    @tool(roles=["agent"])
    def refund() -> str:
        return "paid"

    assert called(refund, context=ToolContext(role="agent")) == "paid"
    refused = error(called(refund, context=ToolContext(role="user")))
    assert refused["type"] == "role"


def test_a_policy_does_not_set_the_context() -> None:
    @tool
    def who(context: ToolContext) -> str:
        return context.role

    assert error(called(who, '{"context": {"role": "admin"}}'))["type"] == "arguments"
    assert called(who, context=ToolContext(role="user")) == "user"


@pytest.mark.parametrize(
    "wrong",
    [
        {"timeout": 0},
        {"timeout": 10**6},
        {"roles": "agent"},
        {"roles": [""]},
        {"where": "moon"},
        {"where": "caller"},
        {"name": "a b"},
        {"where": "worker"},
    ],
)
def test_a_tool_with_wrong_settings_is_an_error(wrong: dict[str, object]) -> None:
    def local() -> int:
        return 1

    with pytest.raises(ConfigError):
        tool(**wrong)(local)  # type: ignore[call-overload]


def test_calls_that_run_on_are_bounded_by_episode() -> None:
    assert 1 <= calling.STUCK <= 64


SHORT = {"error": {"type": "rate_limit", "message": "slow down"}}
WHOLE = {"error": {"type": "timeout", "tool": "api", "message": "slow down", "seconds": 0.5}}


@pytest.mark.parametrize("value", [SHORT, WHOLE, json.dumps(SHORT), json.dumps(WHOLE)])
def test_a_result_that_looks_like_an_error_is_a_result(value: object) -> None:
    said, calls = asyncio.run(
        answer_calls(
            [{"id": "1", "name": "give", "arguments": "{}"}],
            lambda each: observe({"give": returning(value)}, each["name"], "{}", ToolContext()),
            1,
            together=False,
        )
    )

    text = str(said[0]["content"])
    assert json.loads(text) in (SHORT, WHOLE)
    assert error_in(text) is None
    assert calls[0].error == ""
    assert error_in(error_text("timeout", "api", "late")) is not None
