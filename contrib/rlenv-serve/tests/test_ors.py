"""ORS: what its clients ask, in the order in which they ask it."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from contextlib import AsyncExitStack

import pytest
from ors_wire import Ors, Streamed, begun, echoes, joined, talk
from rlenv import Environment
from rlenv_plugin_agent import Harness, tool
from rlenv_serve import Server
from rlenv_serve.ors.blocks import message
from serving import SECRET, TASKS, Client, broken, catalog_of, running, same, served, single, sums


@pytest.fixture(scope="module")
def ask() -> Iterator[Client]:
    with (
        catalog_of(sums(), talk(), echoes(), single(), broken()) as catalog,
        running(Server(catalog)) as client,
    ):
        yield client


def test_a_session_is_an_episode_with_a_reward_at_its_end(ask: Client) -> None:
    session = begun(ask, split="train", index=3)

    assert session("GET", "/sums/prompt").body == [
        {"text": "What is 3 + 3?", "detail": None, "type": "text"}
    ]
    assert session.call("add", a=3, b=3).value == {
        "ok": True,
        "output": {
            "blocks": [{"text": "6", "detail": None, "type": "text"}],
            "metadata": {"stop": None},
            "reward": None,
            "finished": False,
        },
    }
    end = session.call("submit", answer="6").value["output"]
    assert (end["reward"], end["finished"], end["metadata"]) == (1.0, True, {"stop": "passed"})
    late = session.call("add", a=1, b=1).value
    assert (late["ok"], late["reason"]) == (False, "episode_finished")
    assert session("POST", "/ping").body == {"status": "ok"}
    assert ask("GET", f"/episodes/{session.sid[:32]}/reward").body["reward"] == 1.0


def test_environments_splits_and_tasks_are_listed(ask: Client) -> None:
    assert ask("GET", "/list_environments").body == ["sums", "talk", "echoes", "single", "broken"]
    assert ask("GET", "/version").body == {"version": "0.1.0", "build_sha": None}
    assert ask("GET", "/TALK/splits").body == [
        {"name": "train", "type": "train"},
        {"name": "dev", "type": "validation"},
        {"name": "test", "type": "test"},
    ]
    assert ask("POST", "/talk/num_tasks", {"split": "dev"}).body == {"num_tasks": 2}
    listed = ask("POST", "/talk/tasks", {"split": "dev"}).body
    assert (listed["env_name"], [each["task_id"] for each in listed["tasks"]]) == (
        "talk",
        ["m1", "m4"],
    )
    for start, stop in ((None, None), (0, 1), (-1, None), (1, 99), (None, -1)):
        got = ask("POST", "/talk/task_range", {"split": "dev", "start": start, "stop": stop}).body
        assert got == {"tasks": listed["tasks"][start:stop], "env_name": "talk"}
    for index in (0, 1, -1, -2):
        got = ask("POST", "/talk/task", {"split": "dev", "index": index}).body
        assert got == {"task": listed["tasks"][index], "env_name": "talk"}


@pytest.mark.parametrize(
    ("path", "body", "status", "says"),
    [
        ("/talk/tasks", {"split": "nothing"}, 400, "Invalid split"),
        ("/talk/num_tasks", {"split": "validation"}, 400, "Invalid split"),
        ("/talk/task", {"split": "dev", "index": 2}, 400, "Invalid index"),
        ("/talk/task", {"split": "dev", "index": -3}, 400, "Invalid index"),
        ("/talk/task", {"split": "dev", "index": "0"}, 422, "index"),
        ("/nothing/tasks", {"split": "dev"}, 404, "no environment"),
        ("/talk/task_range", {}, 422, "split"),
    ],
)
def test_what_there_is_not_says_so(
    ask: Client, path: str, body: object, status: int, says: str
) -> None:
    got = ask("POST", path, body)

    assert got.status == status
    assert says in got.body["detail"]


def test_bare_paths_are_of_the_first_environment_or_of_the_deployment(ask: Client) -> None:
    assert ask("GET", "/splits").body == ask("GET", "/sums/splits").body
    assert ask("GET", "/splits", X_Deployment="Talk").body == ask("GET", "/talk/splits").body
    assert ask("GET", "/splits", X_Deployment="owner/env").body == ask("GET", "/sums/splits").body
    session = Ors(ask)
    session("POST", "/create", {"split": "dev", "index": 0}, X_Deployment="talk")
    assert session("GET", "/prompt").body == session("GET", "/talk/prompt").body
    other = session("GET", "/sums/prompt")
    assert (other.status, "env_name" in other.body["detail"]) == (400, True)


def test_a_task_may_be_named_by_its_reference(ask: Client) -> None:
    spec = ask("POST", "/talk/task", {"split": "dev", "index": 1}).body["task"]
    session = begun(ask, task_spec=spec, env_name="Talk")

    assert session("GET", "/talk/messages").body == [
        {
            "role": "system",
            "blocks": [{"text": "Be brief.", "detail": None, "type": "text"}],
            "detail": None,
        },
        {
            "role": "user",
            "blocks": [{"text": "What is 4 + 4?", "detail": None, "type": "text"}],
            "detail": None,
        },
    ]
    assert [each["text"] for each in session("GET", "/prompt").body] == [
        "Be brief.",
        "What is 4 + 4?",
    ]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 422),
        ({"split": "train"}, 422),
        ({"split": "train", "index": 0, "task_spec": {}}, 422),
        ({"split": "nothing", "index": 0}, 400),
        ({"split": "train", "index": 99}, 400),
        ({"task_spec": {"question": "q", "answer": "forged"}}, 400),
        ({"split": "train", "index": 0, "toolset_name": "codex"}, 400),
        ({"split": "train", "index": 0, "env_name": "nothing"}, 404),
    ],
)
def test_an_episode_begins_with_exactly_one_task(ask: Client, body: object, status: int) -> None:
    session = Ors(ask)

    assert session("POST", "/create", body).status == status
    assert session.create().status == 200


def test_a_session_has_one_episode(ask: Client) -> None:
    session = begun(ask)
    again = session.create()

    assert (again.status, again.body["detail"]) == (400, "Session already exists")


def test_tools_are_those_of_the_environment_and_submit(ask: Client) -> None:
    of_environment = ask("GET", "/tools").body

    assert [each["name"] for each in of_environment["tools"]] == ["add", "submit"]
    assert of_environment["tools"][0]["input_schema"]["required"] == ["a", "b"]
    assert of_environment["terminal_tool"] == {
        "name": "submit",
        "arg": "answer",
        "description": "End the episode with an answer.",
    }
    assert of_environment["supports_score_group"] is False
    assert ask("GET", "/talk/tools").body["supports_score_group"] is True
    session = begun(ask)
    assert session("GET", "/task_tools").body == of_environment
    session.call("submit", answer="0")
    assert session("GET", "/task_tools").body == of_environment


def test_where_a_message_ends_nothing_there_is_no_terminal_tool() -> None:
    with (
        Environment("agent", same, TASKS, tables={"harness": Harness("agentic")}) as env,
        running(Server(served(env))) as ask,
    ):
        told = ask("GET", "/tools").body
        session = begun(ask)

        assert told["terminal_tool"] is None
        assert "End" not in {each["name"]: each["description"] for each in told["tools"]}["submit"]
        assert session.call("submit", answer="6").value["output"]["finished"] is False
        assert session.call("done").value["output"]["reward"] == 0.0


def test_a_tool_named_submit_that_an_episode_brings_is_a_collision() -> None:
    @tool(where="inline", deterministic=True)
    def submit(answer: str) -> str:
        """Hand in."""
        return answer

    class Source:
        async def open_tools(self, stack: AsyncExitStack) -> list[object]:
            return [submit]

    tables = {"harness": Harness("agentic"), "more": Source()}
    with (
        Environment("more", same, TASKS, tables=tables) as env,
        running(Server(served(env))) as ask,
    ):
        session = begun(ask)

        assert session.call("submit", answer="0").value["reason"] == "name_collision"
        assert session.call("done").value["output"]["finished"] is True


@pytest.mark.parametrize(
    ("name", "given", "reason"),
    [
        ("subtract", {"a": 1}, "not_found"),
        ("add", {"a": 1}, "input_validation"),
        ("add", {"a": 1, "b": "x"}, "input_validation"),
        ("add", {"a": 1, "b": 2, "c": 3}, "input_validation"),
        ("submit", {}, "input_validation"),
        ("submit", {"answer": 6}, "input_validation"),
        ("submit", {"answer": "6", "reward": 1.0}, "input_validation"),
    ],
)
def test_a_refused_call_costs_no_step_and_leaves_the_session_alive(
    ask: Client, name: str, given: dict[str, object], reason: str
) -> None:
    session = begun(ask)
    refused = joined(session("POST", "/call", {"name": name, "input": given}).body).value

    assert (refused["ok"], refused["reason"]) == (False, reason)
    assert refused["error"]
    assert ask("GET", f"/episodes/{session.sid[:32]}").body["steps"] == 0
    assert session.call("submit", answer="0").value["output"]["reward"] == 1.0


def test_an_unscored_end_is_an_error_and_never_a_reward_of_null(ask: Client) -> None:
    session = begun(ask, split="train", index=0, env_name="broken")
    ended = session.call("submit", answer="0")

    assert ended.value is None
    assert "not worth 0" in str(ended.error)
    assert SECRET not in str(ended.error)
    assert session.call("submit", answer="0").value["reason"] == "episode_finished"


def test_an_environment_that_fails_in_a_call_is_an_error_of_the_stream(ask: Client) -> None:
    session = begun(ask, split="train", index=0, env_name="echoes")

    assert "not worth 0" in str(session.call("fail").error)


def test_a_group_is_scored_in_order(ask: Client) -> None:
    session = begun(ask, split="dev", index=0, env_name="talk")
    candidates = [{"messages": [said(each)]} for each in ("2", "3", "2")]
    got = ask_group(session, candidates)

    assert got.value == {"scores": [{"reward": each, "metadata": None} for each in (1.0, 0.0, 1.0)]}
    assert "candidates [1]" in str(
        ask_group(session, [{"messages": [said("2")]}, {"messages": [said("break")]}]).error
    )
    assert session("POST", "/score_group", {"candidates": [{"messages": []}]}).status == 422
    assert len(ask_group(session, candidates * 300).value["scores"]) == 900
    assert ask_group(session, []).value == {"scores": []}
    assert session("POST", "/score_group", {"candidates": candidates * 400}).status == 422
    assert session.call("submit", answer="2").value["output"]["reward"] == 1.0
    assert ask_group(session, candidates).value is not None
    assert begun(ask)("POST", "/score_group", {"candidates": candidates}).status == 404


def test_secrets_are_accepted_and_dropped(ask: Client) -> None:
    good = base64.b64encode(json.dumps({"KEY": {"value": "x"}}).encode()).decode()

    for given, status in ((good, 200), ("nothing", 400), (base64.b64encode(b"[1]").decode(), 400)):
        session = Ors(ask)
        assert (
            session("POST", "/create", {"split": "train", "index": 0}, X_Secrets=given).status
            == status
        )
    assert ask("POST", "/create_session", {"env": {"OPENAI_API_KEY": "x"}}).status == 400


def test_a_deleted_session_is_gone(ask: Client) -> None:
    session = begun(ask)
    unused = Ors(ask)

    for path in ("/delete", "/delete_session", "/delete"):
        assert session("POST", path).body == {"sid": session.sid}
    assert session("GET", "/prompt").status == 410
    assert session("POST", "/ping").status == 410
    assert session("POST", "/call", {"name": "add", "input": {}}).status == 410
    assert unused("POST", "/delete_session").body == {"sid": unused.sid}
    assert unused("GET", "/prompt").status == 404
    assert unused("POST", "/ping").status == 404
    assert unused.create().status == 200
    assert ask("GET", f"/episodes/{session.sid[:32]}").status == 404


def test_deleting_a_session_keeps_what_an_ended_episode_came_to(ask: Client) -> None:
    session = begun(ask)
    session.call("submit", answer="0")
    session("POST", "/delete")

    assert session("GET", "/prompt").status == 410
    assert ask("GET", f"/episodes/{session.sid[:32]}/reward").body["reward"] == 1.0


def said(text: str) -> dict[str, object]:
    return {
        "role": "assistant",
        "blocks": [{"type": "text", "text": text, "detail": None}],
        "detail": None,
    }


def ask_group(session: Ors, candidates: object) -> Streamed:
    return joined(session("POST", "/score_group", {"candidates": candidates}).body)


@pytest.mark.parametrize(
    ("written", "input_"),
    [
        ('{"a": 1}', {"a": 1}),
        ("{}", {}),
        ("", {}),
        ("[1]", [1]),
        ('{"a', {"arguments": '{"a'}),
        ("[" * 100_000, {"arguments": "[" * 100_000}),
    ],
)
def test_a_call_in_a_prompt_is_a_block_whatever_its_arguments_are(
    written: str, input_: object
) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "add", "arguments": written}}

    found = message({"role": "assistant", "content": "", "tool_calls": [call]})

    assert found["blocks"] == [
        {"type": "tool_call", "id": "c1", "name": "add", "input": input_, "detail": None}
    ]
