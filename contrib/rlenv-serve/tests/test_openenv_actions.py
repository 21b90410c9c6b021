"""Actions over OpenEnv: no object that a policy writes is an error, unless the client asks for
that.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from rlenv_serve import Server
from rlenv_serve.state import open_journal
from serving import Client, running, served, single
from sockets import talking


@pytest.mark.parametrize(
    "action",
    [
        {},
        {"foo": 1},
        {"answer": 6.5},
        {"answer": None},
        {"tool_name": 5},
        {"type": "call_tool"},
        {"value": 3},
        {"a": [[]] * 3},
    ],
)
@pytest.mark.parametrize("more", [{}, {"any_action": None}, {"any_action": True}])
def test_whatever_a_policy_writes_is_an_action_and_never_unscored(
    ask: Client, action: dict[str, object], more: dict[str, object]
) -> None:
    with talking(ask, "single") as talk:
        talk("reset", task_id="t3", **more)
        got = talk("step", action)["data"]
        assert (got["reward"], got["done"]) == (0.0, True)


@pytest.mark.parametrize(
    ("env", "action", "says"),
    [
        ("single", {}, "answer or message"),
        ("single", {"text": "6"}, "'text'"),
        ("single", {"anwser": "6"}, 'did you mean "answer"'),
        ("single", {"answer": "6", "mesage": ""}, 'did you mean "message"'),
        ("single", {"value": 3}, "'value'"),
        ("single", {"type": "call_tool"}, "tool_name"),
        ("single", {"type": "say", "tool_name": "submit"}, "'say'"),
        ("sums", {"tool_name": "add", "args": {"a": 3, "b": 3}}, "'args'"),
        ("sums", {"tool": "add", "arguments": {"a": 3, "b": 3}}, "'tool'"),
    ],
)
def test_a_field_that_there_is_not_is_the_client_s_mistake_and_no_0(
    ask: Client, env: str, action: dict[str, object], says: str
) -> None:
    with talking(ask, env) as talk:
        talk("reset", task_id="t3", any_action=False)
        got = talk("step", action)
        assert (got["type"], got["data"]["code"]) == ("error", "VALIDATION_ERROR"), got
        assert says in got["data"]["message"]
        assert talk("state")["data"]["step_count"] == 0
        assert talk("step", answer="6", metadata={})["data"]["reward"] == 1.0


def test_an_unknown_tool_is_an_error_of_json_rpc_as_official_servers_have_it(ask: Client) -> None:
    def call(name: str) -> dict[str, object]:
        return {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {"name": name, "arguments": {"a": 1, "b": 2}},
        }

    with talking(ask) as talk:
        talk("reset", task_id="t3")
        error = talk("mcp", call("ad"))["data"]["error"]
        assert error["code"] == -32602
        assert error["message"].startswith("Tool not found: ad;")
        assert '"add"' in error["message"]
        assert talk("state")["data"]["step_count"] == 0
        assert talk("mcp", call("add"))["data"]["result"]["data"] == "3"
        talk("reset", task_id="t3", any_action=True)  # where the policy writes the name
        assert talk("mcp", call("ad"))["data"]["result"]["isError"] is True


@pytest.mark.parametrize(
    ("action", "says"),
    [
        ({"text": "6"}, "'text'"),
        ({"anwser": "6"}, 'did you mean "answer"'),
        ({"content": "6", "metadata": {}}, "'content'"),
        ({"answer": "6", "note": "x"}, "'note'"),
    ],
)
def test_a_right_answer_under_another_name_is_no_false_zero(
    ask: Client, action: dict[str, object], says: str
) -> None:
    with talking(ask, "single") as talk:
        talk("reset", task_id="t3")
        got = talk("step", action)["data"]
        assert (got["reward"], got["done"]) == (1.0, True)
        error = got["observation"]["error"]
        assert error["error_type"] == "invalid_args"
        assert says in error["message"]


def test_an_action_of_a_known_form_has_no_error(ask: Client) -> None:
    with talking(ask, "single") as talk:
        talk("reset", task_id="t3")
        assert "error" not in talk("step", answer="7")["data"]["observation"]


def test_two_texts_are_no_answer(ask: Client) -> None:
    with talking(ask, "single") as talk:
        talk("reset", task_id="t3")
        assert talk("step", {"a": "6", "b": "7"})["data"]["reward"] == 0.0


def test_a_server_that_takes_an_episode_over_takes_any_action(tmp_path: Path) -> None:
    def state() -> Server:
        return Server(served(single()), journal=open_journal(f"sqlite:{tmp_path}/state.db"))

    with running(state()) as ask, talking(ask, "single") as talk:
        id_ = talk("reset", task_id="t3", any_action=True)["data"]["observation"]["episode_id"]
        with running(state()) as other, talking(other, "single", id_) as again:
            assert again("step", {"foo": 1})["data"]["reward"] == 0.0
