"""MCP over streamable HTTP: tools of an episode for an agent, and nothing of its verifier."""

from __future__ import annotations

from typing import Any

import pytest
from rlenv_serve import Server
from serving import SECRET, Answered, Client, episode, running, served, sums


def post(
    ask: Client,
    method: str,
    path: str = "/mcp/sums",
    *,
    id_: object = 1,
    session: str = "",
    **params: object,
) -> Answered:
    headers = {"Mcp_Session_Id": session, "MCP_Protocol_Version": "2025-11-25"} if session else {}
    body = {"jsonrpc": "2.0", "method": method, "params": params} | (
        {} if id_ is None else {"id": id_}
    )
    return ask("POST", path, body, **headers)


def begin(ask: Client, path: str = "/mcp/sums/t3") -> tuple[str, Any]:
    got = post(
        ask,
        "initialize",
        path,
        protocolVersion="2025-06-18",
        capabilities={},
        clientInfo={"name": "me", "version": "1"},
    )
    assert got.status == 200, got
    return got.headers["mcp-session-id"], got.body["result"]


def test_a_session_lists_tools_calls_them_and_submits(ask: Client) -> None:
    id_, greeting = begin(ask)
    assert greeting["protocolVersion"] == "2025-06-18"
    assert greeting["instructions"] == "What is 3 + 3?"
    assert post(ask, "notifications/initialized", id_=None, session=id_).status == 202
    tools = post(ask, "tools/list", session=id_).body["result"]["tools"]
    assert [each["name"] for each in tools] == ["add", "submit"]
    assert tools[0]["inputSchema"]["required"] == ["a", "b"]
    got = post(ask, "tools/call", session=id_, name="add", arguments={"a": 3, "b": 3}).body[
        "result"
    ]
    assert got == {"content": [{"type": "text", "text": "6"}], "isError": False}
    assert post(ask, "tools/call", session=id_, name="add", arguments={"a": "x"}).body["result"][
        "isError"
    ]
    assert post(ask, "ping", session=id_).body["result"] == {}


@pytest.mark.parametrize(("answer", "reward"), [("6", 1.0), ("7", 0.0)])
def test_an_answer_is_acknowledged_alike_and_its_reward_is_the_operator_s(
    ask: Client, answer: str, reward: float
) -> None:
    id_, _ = begin(ask)
    got = post(ask, "tools/call", session=id_, name="submit", arguments={"answer": answer})
    assert got.body["result"] == {
        "content": [{"type": "text", "text": "The episode has ended."}],
        "isError": False,
    }
    assert ask("GET", f"/episodes/{id_}/reward").body["reward"] == reward
    late = post(ask, "tools/call", session=id_, name="submit", arguments={"answer": "6"})
    assert late.body["error"]["data"]["code"] == "episode_finished"
    assert ask("GET", f"/episodes/{id_}/reward").body["reward"] == reward


def test_a_verifier_that_fails_tells_the_agent_nothing(ask: Client) -> None:
    id_, _ = begin(ask, "/mcp/broken/t0")
    got = post(
        ask, "tools/call", "/mcp/broken", session=id_, name="submit", arguments={"answer": "0"}
    )
    assert got.body["result"] == {
        "content": [{"type": "text", "text": "The episode has ended."}],
        "isError": False,
    }
    assert SECRET not in str(got)


def test_the_end_of_a_session_has_the_episode_judged_as_it_is(ask: Client) -> None:
    id_, _ = begin(ask)
    post(ask, "tools/call", session=id_, name="add", arguments={"a": 3, "b": 3})
    assert ask("DELETE", "/mcp/sums", Mcp_Session_Id=id_).status == 204
    assert ask("GET", f"/episodes/{id_}").body["status"] == "done"
    assert ask("DELETE", "/mcp/sums", Mcp_Session_Id=id_).status == 204
    unused, _ = begin(ask)
    assert ask("DELETE", "/mcp/sums", Mcp_Session_Id=unused).status == 204
    assert ask("GET", f"/episodes/{unused}").status == 404
    assert post(ask, "tools/list", session=unused).status == 404


def test_the_path_or_a_seed_picks_the_task(ask: Client) -> None:
    picked = [
        begin(ask, path)[1]["instructions"]
        for path in (
            "/mcp/sums/t5",
            "/mcp/sums?seed=3",
            "/mcp/sums?seed=11",
            "/mcp/sums?seed=0&split=test",
        )
    ]
    assert picked == ["What is 5 + 5?", "What is 3 + 3?", "What is 3 + 3?", "What is 8 + 8?"]
    assert post(ask, "initialize", "/mcp/sums/t99").status == 404
    wrong = post(ask, "initialize", "/mcp/sums?seed=x")
    assert wrong.status == post(ask, "initialize", f"/mcp/sums?seed={1 << 62}").status == 422
    assert "'seed=x'" in wrong.body["detail"]
    assert post(ask, "initialize", "/mcp/sums?split=none").status == 422


def test_messages_that_are_wrong_are_errors(ask: Client) -> None:
    id_, _ = begin(ask)
    assert ask("POST", "/mcp/sums", b"{").status == 400
    assert ask("POST", "/mcp/sums", [{"jsonrpc": "2.0", "id": 1, "method": "ping"}]).status == 400
    assert post(ask, "tools/list").status == 400
    assert post(ask, "tools/list", session="0" * 32).status == 404
    assert post(ask, "tools/list", "/mcp/single", session=id_).status == 404
    probe = post(
        ask, "server/discover", id_="p"
    ).body  # a client that waits for its id would wait long
    assert (probe["id"], probe["error"]["code"]) == ("p", -32601)
    assert post(ask, "initialize", "/mcp/sums/t3", id_=None).body["error"]["code"] == -32600
    assert post(ask, "resources/list", session=id_).body["error"]["code"] == -32601
    assert post(ask, "tools/call", session=id_, arguments={}).body["error"]["code"] == -32602
    assert (
        ask(
            "POST",
            "/mcp/sums",
            {"jsonrpc": "2.0", "id": 1, "method": "ping"},
            Mcp_Session_Id=id_,
            MCP_Protocol_Version="1999-01-01",
        ).status
        == 400
    )
    assert ask("GET", "/mcp/sums").status == 405
    agreed = post(ask, "initialize", "/mcp/sums/t3", protocolVersion="2099-01-01")
    assert agreed.body["result"]["protocolVersion"] == "2025-11-25"
    assert (
        post(ask, "initialize", "/mcp/sums/t3", protocolVersion=3).body["error"]["code"] == -32602
    )


def test_an_episode_of_the_other_api_is_played_by_an_agent(ask: Client) -> None:
    id_ = episode(ask)
    assert (
        post(ask, "tools/call", session=id_, name="submit", arguments={"answer": "6"}).status == 200
    )
    assert ask("GET", f"/episodes/{id_}/reward").body["reward"] == 1.0


def test_a_session_goes_on_after_a_restart() -> None:
    with sums() as env:
        server = Server(served(env))
        with running(server) as ask:
            id_, _ = begin(ask)
            post(ask, "tools/call", session=id_, name="add", arguments={"a": 3, "b": 3})
        with running(Server(served(env), journal=server.journal)) as ask:
            post(ask, "tools/call", session=id_, name="submit", arguments={"answer": "6"})
            assert ask("GET", f"/episodes/{id_}/reward").body["reward"] == 1.0


@pytest.mark.parametrize("path", ["/mcp/sums", "/openenv/sums/mcp"])
@pytest.mark.parametrize(
    "written", ["NaN", "-Infinity", "1e999", "9" * 5000, '"\\ud800"', "[" * 100 + "]" * 100]
)
def test_arguments_that_json_has_not_are_the_policy_s_mistake_and_no_failed_request(
    ask: Client, path: str, written: str
) -> None:
    session, _ = begin(ask)
    body = (
        b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"session_id": "%s",'
        b' "name": "add", "arguments": {"a": %s, "b": 1}}}' % (session.encode(), written.encode())
    )
    got = ask("POST", path, body, Mcp_Session_Id=session)

    assert (got.status, got.body["result"]["isError"]) == (200, True)
    assert '"type": "arguments"' in got.body["result"]["content"][0]["text"]
