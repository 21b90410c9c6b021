"""The official client ``openreward``, unchanged, with our server; and the official server, to see
that the tests tell them apart.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

os.environ["OPENREWARD_DISABLE_UPDATE_CHECK"] = "1"

import pytest
from cutting import cutting
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from official_openreward import official
from ors_wire import echoes, joined, slow_environment, talk
from rlenv import Environment, stage
from rlenv_serve import Keys, Server
from rlenv_serve.http.keys import add_key
from rlenv_serve.ors import sessions as ors_sessions
from rlenv_serve.ors import sse
from rlenv_serve.state.memory import MemoryJournal
from serving import SECRET, Client, broken, catalog_of, running, served, sums

pytest.importorskip(
    "openreward", reason="openreward is not installed here: `make test-trainers` runs this"
)

from openreward import GroupCandidate, Message, OpenReward, ScoreGroupFailed, ScoreGroupUnsupported
from openreward.api._session.http import AuthenticationError, SessionResponseError
from openreward.api.environments.types import Task as RemoteTask
from openreward.api.environments.types import TextBlock
from openreward.api.errors import SessionTerminatedError, ToolCallError, ToolFailed


@contextmanager
def connected(url: str, key: str | None = "any") -> Iterator[Any]:
    """The client, told of our server alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENREWARD_SESSION_URL", url)
        patch.setenv("OPENREWARD_API_URL", url)
        with OpenReward(api_key=key) as client:
            yield client


@pytest.fixture(scope="module")
def server() -> Iterator[Client]:
    with catalog_of(sums(), talk(), echoes(), broken()) as catalog, running(Server(catalog)) as ask:
        yield ask


@pytest.fixture(scope="module")
def client(server: Client) -> Iterator[Any]:
    with connected(server.url) as made:
        yield made


def text_of(output: Any) -> str:
    return "".join(each.text for each in output.blocks)


@pytest.mark.parametrize("variant", [None, "sums", "SUMS"])
def test_splits_tasks_and_ranges(client: Any, variant: str | None) -> None:
    env = client.environments.get("sums", variant=variant)

    assert env.list_splits() == ["train", "test"]
    assert env.num_tasks("train") == 8
    tasks = env.list_tasks("train")
    assert [each.task_spec["task_id"] for each in tasks] == [f"t{n}" for n in range(8)]
    assert env.get_task("train", 3) == tasks[3]
    assert env.get_task("train", -1) == tasks[-1]
    for start, stop in ((None, None), (2, 4), (-2, None), (6, 99)):
        assert env.get_task_range("train", start, stop) == tasks[start:stop]
    assert tasks[0].environment_name == "sums"
    with pytest.raises(SessionResponseError, match="Invalid split"):
        env.list_tasks("validation")


@pytest.mark.parametrize("how", ["task", "index"])
def test_a_session_by_task_and_by_index(client: Any, how: str) -> None:
    env = client.environments.get("talk", variant="talk" if how == "task" else None)
    given = {"task": env.get_task("dev", 1)} if how == "task" else {"split": "dev", "index": 1}
    with env.session(**given, secrets={"token": ("sk-secret", ["example.com"])}) as session:
        assert session.version() == {"version": "0.1.0", "build_sha": None}
        assert [each.text for each in session.get_prompt()] == ["Be brief.", "What is 4 + 4?"]
        messages = session.get_messages()
        assert [(each.role, each.blocks[0].text) for each in messages] == [
            ("system", "Be brief."),
            ("user", "What is 4 + 4?"),
        ]
        assert session.get_messages("openai") == [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "What is 4 + 4?"},
        ]
        assert session.get_messages("anthropic")["system"] == "Be brief."
        assert session.get_messages("google")["system_instruction"] == "Be brief."
        assert session.is_assistant_message_final()
        output = session.call_terminal_tool("8")
        assert (output.reward, output.finished, output.metadata) == (1.0, True, {"stop": "passed"})


@pytest.mark.parametrize("format_", [None, "openai", "openrouter", "anthropic", "google"])
def test_tools_in_the_formats_of_providers(client: Any, format_: str | None) -> None:
    env = client.environments.get("sums", variant="sums")
    with env.session(split="train", index=0) as session:
        found = session.list_tools(format_)
        assert found == env.list_tools(format_)
    names = [
        each.name if format_ is None else each.get("name") or each["function"]["name"]
        for each in found
    ]
    assert names == ["add", "submit"]
    assert "Add two numbers." in str(found[0])


def test_a_call_and_its_refusals(client: Any) -> None:
    env = client.environments.get("sums", variant="sums")
    with env.session(split="train", index=3) as session:
        output = session.call_tool("add", {"a": 3, "b": 3})
        assert (text_of(output), output.reward, output.finished, output.metadata) == (
            "6",
            None,
            False,
            {"stop": None},
        )
        for name, given, reason in (
            ("subtract", {}, "not_found"),
            ("add", {"a": "x", "b": 1}, "input_validation"),
            ("submit", {}, "input_validation"),
        ):
            with pytest.raises(ToolCallError) as raised:
                session.call_tool(name, given)
            assert raised.value.reason == reason
        assert session.call_tool("submit", {"answer": "6"}).reward == 1.0
        with pytest.raises(ToolCallError) as raised:
            session.call_tool("add", {"a": 1, "b": 1})
        assert raised.value.reason == "episode_finished"


def test_an_unscored_end_is_a_failed_tool_and_no_reward(client: Any) -> None:
    env = client.environments.get("broken", variant="broken")
    with env.session(split="train", index=0) as session:
        with pytest.raises(ToolFailed, match="not worth 0") as raised:
            session.call_tool("submit", {"answer": "0"})
        assert SECRET not in str(raised.value)
        with pytest.raises(SessionTerminatedError):
            session.call_tool("submit", {"answer": "0"})


def test_a_group_is_scored(client: Any) -> None:
    def said(text: str) -> Any:
        return Message(role="assistant", blocks=[TextBlock(text=text)])

    with client.environments.get("talk", variant="talk").session(split="dev", index=0) as session:
        assert session.supports_score_group()
        scores = session.score_group(
            [GroupCandidate(messages=[said("2")], metadata={"n": 1}), [said("3")]]
        )
        assert [each.reward for each in scores] == [1.0, 0.0]
        with pytest.raises(ScoreGroupFailed, match="no scores"):
            session.score_group([[said("break")]])
        assert session.call_tool("submit", {"answer": "2"}).reward == 1.0
    with client.environments.get("sums", variant="sums").session(split="train", index=0) as session:
        assert not session.supports_score_group()
        with pytest.raises(ScoreGroupUnsupported):
            session.score_group([[said("0")]])


@pytest.mark.parametrize("offset", [0, 1, 2, 4000])
def test_white_space_arrives(client: Any, offset: int) -> None:
    with client.environments.get("echoes", variant="echoes").session(
        split="train", index=0
    ) as session:
        assert (
            text_of(session.call_tool("spaces", {"count": 18_000, "offset": offset}))
            == "x" * offset + " " * 18_000
        )


@pytest.fixture(scope="module")
def echo(client: Any) -> Iterator[Callable[[str], str]]:
    """The text of a call of ``echo``; sessions have twenty turns."""
    env = client.environments.get("echoes", variant="echoes")
    with ExitStack() as stack:
        session: Any = None
        left = 0

        def call(text: str) -> str:
            nonlocal session, left
            if not left:
                stack.pop_all().close()
                session = stack.enter_context(env.session(split="train", index=0))
                left = 15
            left -= 1
            return text_of(session.call_tool("echo", {"text": text}))

        yield call


@given(
    st.one_of(
        st.text(' \t\n\r\x0b\x1c\x85\xa0\u2028\\"x', min_size=1, max_size=300),
        st.text(min_size=1, max_size=300),
        st.builds(
            lambda text, times: text * times,
            st.text(" x\n", min_size=1, max_size=7),
            st.integers(1, 3000),
        ),
    )
)
@settings(max_examples=300, deadline=None, suppress_health_check=[*HealthCheck])
def test_texts_arrive_as_they_were_sent(echo: Callable[[str], str], text: str) -> None:
    for shift in ("", "x"):
        assert echo(shift + text) == shift + text


def test_a_lone_surrogate_of_a_policy_ends_no_rollout(client: Any) -> None:
    with client.environments.get("echoes", variant="echoes").session(
        split="train", index=0
    ) as session:
        assert text_of(session.call_tool("echo", {"text": "a\ud800b"})) == "a\ufffdb"


@pytest.mark.parametrize(
    "written",
    [
        '{"text": NaN}',
        '{"text": [-Infinity]}',
        '{"text": 1e999}',
        '{"text": %s}' % ("[" * 200 + "]" * 200),
    ],
)
def test_what_a_policy_writes_ends_no_rollout(client: Any, written: str) -> None:
    with client.environments.get("echoes", variant="echoes").session(
        split="train", index=0
    ) as session:
        with pytest.raises(ToolCallError) as raised:
            session.call_tool("echo", json.loads(written) | {"more": 1})
        assert raised.value.reason == "input_validation"
        assert session.call_tool("submit", {"answer": "0"}).reward == 1.0


def test_a_call_is_made_once_although_its_stream_breaks(server: Client) -> None:
    with cutting(server.port) as proxy, connected(proxy.url) as client:
        env = client.environments.get("echoes", variant="echoes")
        with env.session(split="train", index=0) as session:
            assert text_of(session.call_tool("sleep", {"seconds": 0.3})) == "awake"
            assert proxy.cuts == 1
            assert server("GET", f"/episodes/{session.sid[:32]}").body["steps"] == 1


def test_pings_keep_a_long_call_alive(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "PING", 0.05)
    with client.environments.get("echoes", variant="echoes").session(
        split="train", index=0
    ) as session:
        assert text_of(session.call_tool("sleep", {"seconds": 0.5})) == "awake"


def test_an_episode_that_begins_slowly_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ors_sessions, "SETUP", 0.2)
    threading.Timer(2.5, (begins := threading.Event()).set).start()
    with (
        slow_environment(begins) as env,
        running(Server(served(env))) as ask,
        connected(ask.url) as client,
        client.environments.get("slow").session(split="train", index=3) as session,
    ):
        assert [each.text for each in session.get_prompt()] == ["What is 3 + 3?", "Go on."]


def test_a_session_whose_environment_has_changed_is_terminated() -> None:
    journal = MemoryJournal()
    changed = stage(where="inline")(lambda visible: False)
    with echoes() as env, Environment("echoes", changed, env.tasks) as other, ExitStack() as stack:
        first = stack.enter_context(running(Server(served(env), journal=journal)))
        client = stack.enter_context(connected(first.url))
        session = stack.enter_context(
            client.environments.get("echoes").session(split="train", index=0)
        )
        second = stack.enter_context(running(Server(served(other), journal=journal)))
        session._async.env.client._base_url = session._async.env.client._base_url.with_port(
            second.port
        )
        with pytest.raises(SessionTerminatedError):
            session.call_tool("echo", {"text": "x"})


def test_keys(tmp_path: Path) -> None:
    key = add_key(tmp_path / "keys.toml", "alice", answers=False, operator=False)
    with (
        sums() as env,
        running(Server(served(env), keys=Keys.from_file(tmp_path / "keys.toml"))) as ask,
    ):
        with connected(ask.url, key) as client:
            found = client.environments.get("sums")
            with found.session(split="train", index=0) as session:
                assert session.call_tool("submit", {"answer": "0"}).reward == 1.0
        with connected(ask.url, key + "x") as client, pytest.raises(AuthenticationError):
            client.environments.get("sums").list_splits()


def test_a_forged_task_is_refused(client: Any) -> None:
    env = client.environments.get("sums", variant="sums")
    forged = RemoteTask(
        server_name="sums",
        environment_name="sums",
        task_spec={"question": "q", "answer": "forged"},
        namespace=None,
    )
    with pytest.raises(SessionResponseError, match="signature"), env.session(task=forged):
        pass
    with (
        pytest.raises(SessionResponseError, match="toolset"),
        env.session(split="train", index=0, toolset="codex"),
    ):
        pass


# -- the official server, with the same client --------------------------------------------------


def test_the_official_server_has_the_defects_that_ours_is_tested_for() -> None:
    with official() as url, connected(url) as client:
        env = client.environments.get("sums", variant="sums")
        assert env.get_task("train", 0).task_spec["answer"] == "2"  # the answer is told
        forged = RemoteTask(
            server_name="sums",
            environment_name="sums",
            task_spec={"question": "q", "answer": "forged"},
            namespace=None,
        )
        with env.session(task=forged) as session:
            lost = session.call_tool("echo", {"text": " " * 18_000})
            assert len(text_of(lost)) < 18_000  # white space at the border of a chunk
            assert lost.reward is None  # it was NaN
            assert session.call_tool("submit", {"text": "forged"}).reward == 1.0
        ask = Client(int(url.rpartition(":")[2]), {"Content-Type": "application/json"})
        for sid in ("chosen", "other"):
            begun = ask("POST", "/create", {"split": "train", "index": 0}, X_Session_ID=sid)
            assert begun.status == 200
        raw = ask(
            "POST",
            "/sums/call",
            {"name": "echo", "input": {"text": "secret"}},
            X_Session_ID="chosen",
        ).body
        again = {"name": "echo", "input": {}, "task_id": joined(raw).task_id}
        assert b"secret" in ask("POST", "/sums/call", again, X_Session_ID="other").body
        assert ask("POST", "/sums/tasks", b'"%s"' % (b"x" * 50_000_000)).status != 413
