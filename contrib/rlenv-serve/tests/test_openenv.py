"""OpenEnv: what a client sees over its WebSocket and over HTTP."""

from __future__ import annotations

from typing import Any

import pytest
from rlenv import ConfigError, Environment
from rlenv_plugin_agent import End, Harness, tool
from rlenv_serve import Server, application
from serving import SECRET, TASKS, Client, add, running, same, served
from sockets import talking


def rpc(ask: Client, method: str, env: str = "sums", **params: object) -> Any:
    got = ask(
        "POST",
        f"/openenv/{env}/mcp",
        {"jsonrpc": "2.0", "id": 7, "method": method, "params": params},
    )
    assert got.status == 200, got
    assert (got.body["jsonrpc"], got.body["id"]) == ("2.0", 7)
    return got.body.get("result", got.body)


def test_an_episode_is_reset_stepped_and_rewarded(ask: Client) -> None:
    with talking(ask) as talk:
        first = talk("reset", task_id="t3", episode_id="mine")
        assert first["type"] == "observation"
        assert (first["data"]["reward"], first["data"]["done"]) == (None, False)
        seen = first["data"]["observation"]
        assert seen["messages"] == [{"role": "user", "content": "What is 3 + 3?"}]
        assert (seen["text"], seen["task_id"]) == ("What is 3 + 3?", "t3")

        step = talk("step", type="call_tool", tool_name="add", arguments={"a": 3, "b": 3})["data"]
        seen = step["observation"]
        assert (seen["tool_name"], seen["result"], seen["error"]) == ("add", "6", None)
        assert (step["reward"], step["done"]) == (None, False)
        state = talk("state")["data"]
        assert (state["episode_id"], state["step_count"], state["task_id"]) == ("mine", 1, "t3")

        last = talk("step", type="call_tool", tool_name="submit", arguments={"answer": "6"})["data"]
        assert (last["reward"], last["done"]) == (1.0, True)
        assert last["metadata"] == {"stop_reason": "passed"}
        late = talk("step", message="6")
        assert (late["type"], late["data"]["code"]) == ("error", "EXECUTION_ERROR")
        assert talk("reset")["type"] == "observation"
        talk.socket.send('{"type": "close"}')
        with pytest.raises(Exception, match="1000"):
            talk.socket.recv(timeout=60)


@pytest.mark.parametrize(
    "action",
    [
        {"answer": "6"},
        {"message": "6", "metadata": {}},
        {"tool_name": "submit", "arguments": {"answer": "6"}},
    ],
)
def test_an_answer_has_several_forms(ask: Client, action: dict[str, object]) -> None:
    with talking(ask, "single") as talk:
        talk("reset", task_id="t3")
        assert talk("step", action)["data"]["reward"] == 1.0


@pytest.mark.parametrize(
    "text",
    [
        '{"answer": NaN}',
        '{"answer": "\\ud800"}',
        '{"answer": -Infinity}',
        f'{{"answer": {"9" * 400}}}',
        f'{{"answer": {"9" * 5000}}}',
        '{"answer": 1e999}',
        f'{{"answer": {"[" * 200}{"]" * 200}}}',
    ],
)
def test_json_that_only_python_writes_is_no_way_to_go_unscored(ask: Client, text: str) -> None:
    with talking(ask, "single") as talk:
        talk("reset", task_id="t3")
        got = talk.raw(f'{{"type": "step", "data": {text}}}')
        assert (got["type"], got["data"].get("reward")) == ("observation", 0.0)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("NaN", "NaN"),
        ("-1e999", "-1e999"),
        (f"[1e999, {2**63}, -7, 1e300]", f'["1e999",{2**63},-7,1e300]'),
        (f"[NaN, {'9' * 5000}]", f'["NaN","{"9" * 5000}"]'),
        ('["\\ud800\\ud83d\\ude00", NaN]', '["\ufffd\U0001f600","NaN"]'),
    ],
)
def test_what_json_lacks_is_read_as_text_and_the_rest_as_it_is(
    ask: Client, text: str, said: str
) -> None:
    with talking(ask, "single") as talk:
        first = talk("reset", task_id="t3")["data"]["observation"]
        talk.raw(f'{{"type": "step", "data": {{"answer": {text}}}}}')
    messages = ask("GET", f"/trajectories/{first['episode_id']}").body["messages"]
    assert messages[-1]["content"] == said


def test_an_unscored_episode_is_an_error_and_no_reward(ask: Client) -> None:
    with talking(ask, "broken") as talk:
        talk("reset", task_id="t0")
        got = talk("step", answer="0")
        assert (got["type"], got["data"]["code"]) == ("error", "EXECUTION_ERROR")
        assert "score" in got["data"]["message"]
        assert SECRET not in str(got)
        assert talk("state")["data"]["done"] is True
        assert talk("reset", task_id="t0")["type"] == "observation"


def test_errors_of_tools_are_observations(ask: Client) -> None:
    with talking(ask) as talk:
        talk("reset", task_id="t3")
        errors = [
            talk("step", tool_name=name, arguments=given)["data"]["observation"]["error"][
                "error_type"
            ]
            for name, given in (
                ("nothing", {}),
                ("add", {"a": "x"}),
                ("add", [1, 2]),
                ("reset", {}),
            )
        ]
        assert errors == ["tool_not_found", "invalid_args", "invalid_args", "tool_not_found"]


def test_frames_that_are_wrong_say_why_and_the_connection_goes_on(ask: Client) -> None:
    with talking(ask) as talk:
        assert talk.code("{") == "INVALID_JSON"
        assert talk.code(b"\x00\x01") == "INVALID_JSON"
        assert talk.code("[" * 50_000 + "]" * 50_000) == "INVALID_JSON"
        assert talk.code("[]") == talk.code('{"type": 3}') == "VALIDATION_ERROR"
        assert talk.code('{"type": "step", "data": {"answer": 1.2.3}}') == "INVALID_JSON"
        assert talk.code('{"type": "harness"}') == talk.code("{}") == "UNKNOWN_TYPE"
        assert talk.code('{"type": "step", "data": {"answer": "x"}}') == "EXECUTION_ERROR"
        for data in (
            '"x"',
            '{"seed": "x"}',
            '{"seed": 1e30}',
            '{"task_id": 3}',
            '{"task_id": "t99"}',
            '{"split": "no"}',
            "null",
        ):
            assert talk.code(f'{{"type": "reset", "data": {data}}}') == "VALIDATION_ERROR"
        assert talk.code('{"type": "step", "data": 5}') == "VALIDATION_ERROR"
        wrong = talk("reset", seed=1 << 62)["data"]
        assert wrong["errors"] == [{"loc": ["data"], "msg": wrong["message"]}]
        assert "$.seed" in wrong["message"]
        assert talk("reset", episode_id="x" * 201)["data"]["code"] == "VALIDATION_ERROR"
        for name, nearest in (
            ("taskid", "task_id"),
            ("unknown", "task_id"),
            ("sead", "seed"),
            ("prompt", "task_id"),
        ):
            wrong = talk("reset", {name: "t3"})["data"]
            assert wrong["code"] == "VALIDATION_ERROR"
            assert f"'{name}'" in wrong["message"]
            assert nearest in wrong["message"]
        assert talk("state")["data"]["task_id"] is None
        assert talk("reset", task_id="t3")["type"] == "observation"


def test_a_seed_picks_the_task_and_the_test_split_is_not_drawn_unasked(ask: Client) -> None:
    with talking(ask) as talk:
        picked = [
            talk("reset", seed=seed)["data"]["observation"]["task_id"] for seed in (0, 3, 8, 11, -1)
        ]
        assert picked == ["t0", "t3", "t0", "t3", "t7"]
        assert talk("reset", seed=1, split="test")["data"]["observation"]["task_id"] == "t9"
        assert int(talk("reset")["data"]["observation"]["task_id"][1:]) < 8


def test_a_game_takes_values_and_gives_them() -> None:
    def user(action: object) -> object:
        return (
            {"room": 0}
            if action is None
            else End({"room": 2})
            if action == {"go": 2}
            else {"room": 1}
        )

    env = Environment("game", same, TASKS, tables={"harness": Harness("multi-turn", user=user)})
    with env, running(Server(served(env))) as ask, talking(ask, "game") as talk:
        assert talk("reset", task_id="t0")["data"]["observation"]["value"] == {"room": 0}
        assert talk("step", value={"go": 1})["data"]["observation"]["value"] == {"room": 1}
        assert talk("step", value={"go": 2})["data"]["done"] is True
        assert ask("GET", "/openenv/game/schema").body["action"]["required"] == ["message"]


def test_submit_is_described_as_what_it_does() -> None:
    env = Environment("agent", same, TASKS, tables={"harness": Harness("agentic", tools=[add])})
    with env, running(Server(served(env))) as ask, talking(ask, "agent") as talk:
        before = talk("step", type="list_tools")["data"]["observation"]["tools"]
        talk("reset", task_id="t3")
        assert talk("step", type="list_tools")["data"]["observation"]["tools"] == before
        assert "End" not in {each["name"]: each["description"] for each in before}["submit"]
        begun = ask("POST", "/episodes", {"task_id": "t3"}).body["tools"]
        assert [each["description"] for each in begun] == [each["description"] for each in before]
        assert talk("step", tool_name="submit", arguments={"answer": "6"})["data"]["done"] is False


def test_tools_are_listed_before_reset_and_in_an_episode(ask: Client) -> None:
    with talking(ask) as talk:
        before = talk("step", type="list_tools")["data"]["observation"]["tools"]
        talk("reset", task_id="t3")
        assert talk("step", type="list_tools")["data"]["observation"]["tools"] == before
        assert talk("state")["data"]["step_count"] == 0
    assert [each["name"] for each in before] == ["add", "submit"]
    assert before[0]["input_schema"]["required"] == ["a", "b"]


def test_a_session_made_over_http_is_played_over_both(ask: Client) -> None:
    id_ = rpc(ask, "openenv/session/create")["session_id"]
    assert (
        rpc(ask, "tools/call", name="add", arguments={}, session_id=id_)["error"]["code"] == -32000
    )
    with talking(ask, session=id_) as talk:
        talk("reset", task_id="t3")
        assert [each["name"] for each in rpc(ask, "tools/list", session_id=id_)["tools"]] == [
            "add",
            "submit",
        ]
        assert (
            rpc(ask, "tools/call", name="add", arguments={"a": 1, "b": 2}, session_id=id_)["data"]
            == "3"
        )
        assert talk("state")["data"]["step_count"] == 1
        message = {
            "jsonrpc": "2.0",
            "id": "x",
            "method": "tools/call",
            "params": {"name": "submit", "arguments": {"answer": "5"}},
        }
        assert "error" in rpc(ask, "openenv/session/close", session_id=id_)
        with talking(ask, session=id_) as other:
            assert "SESSION_ERROR" in str(other.socket.recv(timeout=60))
        got = talk("mcp", message)
        assert (got["type"], got["data"]["id"]) == ("mcp", "x")
        assert got["data"]["result"]["content"] == [
            {"type": "text", "text": "The episode has ended."}
        ]
        assert "reward" not in str(got)
    assert rpc(ask, "openenv/session/close", session_id=id_) == {"session_id": id_, "closed": True}
    assert "error" in rpc(ask, "tools/list", session_id=id_)


def test_requests_that_are_no_json_rpc_are_errors_of_json_rpc(ask: Client) -> None:
    bodies: tuple[object, ...] = (
        [],
        {},
        {"method": "x"},
        {"jsonrpc": "2.0", "method": 3},
        {"jsonrpc": "1.0", "method": "x", "id": 1},
    )
    for body in bodies:
        assert ask("POST", "/openenv/sums/mcp", body).body["error"]["code"] == -32600
    assert rpc(ask, "initialize")["error"]["code"] == -32601
    assert rpc(ask, "tools/call", name="add")["error"]["code"] == -32602
    assert (
        rpc(ask, "tools/call", session_id="nothing", name="add")["error"]["data"]["status"] == 404
    )
    id_ = rpc(ask, "openenv/session/create")["session_id"]
    assert rpc(ask, "tools/call", session_id=id_, arguments=3)["error"]["code"] == -32602
    assert "error" in rpc(ask, "tools/list", env="single", session_id=id_)


def test_what_is_told_over_http_has_no_task_and_no_answer(ask: Client) -> None:
    assert ask("GET", "/openenv/sums/health").body == {"status": "healthy"}
    told = ask("GET", "/openenv/single/metadata").body
    assert {
        "name",
        "description",
        "readme_content",
        "version",
        "author",
        "documentation_url",
    } == told.keys()
    schema = ask("GET", "/openenv/single/schema").body
    assert {"action", "observation", "state"} <= schema.keys()
    assert schema["action"]["required"] == ["answer"]
    assert {"task_id", "seed", "split", "episode_id", "any_action"} == schema["reset"][
        "properties"
    ].keys()
    assert ask("GET", "/openenv/sums/schema").body["action"]["title"] == "CallToolAction"
    assert "What is" not in str((told, schema))
    assert ask("GET", "/openenv/nothing/health").status == 404


def test_tasks_are_listed_as_references_that_reset_takes_by_their_ids(ask: Client) -> None:
    assert ask("GET", "/openenv/sums/list_environments").body == ["sums"]
    assert ask("GET", "/openenv/sums/sums/splits").body == ask("GET", "/sums/splits").body
    assert ask("POST", "/openenv/sums/sums/num_tasks", {"split": "test"}).body == {"num_tasks": 2}
    found = ask("POST", "/openenv/sums/sums/task", {"split": "train", "index": 3}).body["task"]
    assert found == ask("POST", "/sums/task", {"split": "train", "index": 3}).body["task"]
    assert (
        len(
            ask(
                "POST", "/openenv/sums/sums/task_range", {"split": "train", "start": 1, "stop": 3}
            ).body["tasks"]
        )
        == 2
    )
    assert ask("POST", "/openenv/sums/sums/tasks", {"split": "none"}).status == 400
    assert ask("GET", "/openenv/sums/nothing/splits").status == 404
    with talking(ask) as talk:
        seen = talk("reset", found)["data"]["observation"]
        assert (seen["task_id"], seen["text"]) == (found["task_id"], "What is 3 + 3?")


@pytest.mark.parametrize(
    ("method", "name"), [("POST", "reset"), ("POST", "step"), ("GET", "state")]
)
def test_episodes_are_not_stepped_over_http_and_the_error_says_where(
    ask: Client, method: str, name: str
) -> None:
    got = ask(method, f"/openenv/sums/{name}")
    assert (got.status, got.body["code"]) == (409, "stateful")
    assert "/ws" in got.body["detail"]


@pytest.mark.parametrize("name", ["reset", "step", "state", "close", "submit"])
def test_a_tool_that_clients_call_otherwise_is_an_error_at_start(name: str) -> None:
    def named(a: int) -> int:
        """A tool."""
        return a

    named.__name__ = name
    harness = Harness("tool-use", tools=[tool(where="inline")(named)])
    with (
        Environment("named", same, TASKS, tables={"harness": harness}) as env,
        pytest.raises(ConfigError, match=f"named: the tool '{name}'"),
    ):
        application(Server(served(env)))
