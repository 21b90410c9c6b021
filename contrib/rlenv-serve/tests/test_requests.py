"""What every operation does alike: HEAD has no effect, nothing misspelled is ignored, what fails
says so.
"""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest
from commands import everyday, within
from ors_wire import Ors
from rlenv import Environment, stage
from rlenv_serve import Server
from rlenv_serve.app import DOCUMENT, ENDPOINTS
from rlenv_serve.commands.serve import MEMORY
from rlenv_serve.http.problems import Problem
from rlenv_serve.state.memory import MemoryJournal
from serving import TASKS, Client, episode, running, served, sums, until
from sockets import talking

TASK = {"task_id": "t3", "environment": "sums"}


# -- HEAD ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path", [each.path for each in (*ENDPOINTS, DOCUMENT) if each.method == "GET"]
)
def test_head_has_no_effect(path: str) -> None:
    server = Server(served(sums()))
    with running(server) as ask:
        id_ = episode(ask)
        values = {"id": id_, "env": "sums", "base": "sums", "ticket": "none", "name": "page.js"}
        before = [*asyncio.run(server.journal.recent(None, 99))]
        got = ask("HEAD", path.format(**values), X_Session_ID=Ors(ask).sid)
        assert got.status < 500
        assert [*asyncio.run(server.journal.recent(None, 99))] == before
        assert ask("GET", f"/episodes/{id_}").body["status"] == "open"


def test_head_of_a_reward_is_405(ask: Client) -> None:
    assert ask("HEAD", f"/episodes/{episode(ask)}/reward").status == 405
    assert ask("HEAD", f"/episodes/{episode(ask)}").status == 200


# -- members that there are not --------------------------------------------------------------------


def create_episode(ask: Client, **more: object) -> Any:
    return ask("POST", "/episodes", {**TASK, **more})


def create_session_of_ors(ask: Client, **more: object) -> Any:
    return ask("POST", "/create_session", more)


def create_of_ors(ask: Client, **more: object) -> Any:
    return Ors(ask).create(split="train", index=0, **more)


def reset_of_openenv(ask: Client, **more: object) -> Any:
    with talking(ask) as talk:
        return talk("reset", task_id="t3", **more)


def initialize_of_mcp(ask: Client, **more: object) -> Any:
    query = "&".join(f"{name}={value}" for name, value in more.items())
    return ask("POST", f"/mcp/sums?{query}", {"jsonrpc": "2.0", "id": 1, "method": "initialize"})


@pytest.mark.parametrize(
    ("create", "name", "nearest"),
    [
        (create_episode, "taskid", "task_id"),
        (create_episode, "sead", "seed"),
        (create_episode, "agent", "agent_id"),
        (create_session_of_ors, "envv", "env"),
        (create_of_ors, "env_nme", "env_name"),
        (reset_of_openenv, "sead", "seed"),
        (initialize_of_mcp, "sead", "seed"),
        (initialize_of_mcp, "splitt", "split"),
    ],
)
def test_whatever_begins_an_episode_rejects_a_member_that_there_is_not(
    ask: Client, create: Any, name: str, nearest: str
) -> None:
    got = create(ask, **{name: "1"})

    told = got["data"]["message"] if isinstance(got, dict) else got.body["detail"]
    assert f"'{name}'" in told
    assert f'"{nearest}"' in told
    assert isinstance(got, dict) or got.status in (400, 422)
    if create is create_episode:
        assert (got.status, got.body["code"]) == (400, "invalid")
    assert ask("GET", "/episodes").body["episodes"] == []


# -- idempotency -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "other", [{"agent_id": "two"}, {"seed": 1}, {"task_id": "t4"}, {"environment": "single"}]
)
def test_a_key_is_for_one_request(ask: Client, other: dict[str, object]) -> None:
    asked = {**TASK, "agent_id": "one"}
    assert ask("POST", "/episodes", asked, Idempotency_Key="k").status == 201
    got = ask("POST", "/episodes", {**asked, **other}, Idempotency_Key="k")

    assert (got.status, got.body["code"]) == (409, "key_reused")


def test_a_create_that_is_sent_again_after_the_end_is_answered_as_the_first_was(
    ask: Client,
) -> None:
    first = ask("POST", "/episodes", {**TASK, "agent_id": "me", "seed": 4}, Idempotency_Key="k")
    path = f"/episodes/{first.body['episode_id']}"
    ask("POST", f"{path}/steps", {"action": "add", "a": 1, "b": 2})
    ask("POST", f"{path}/steps", {"action": "submit", "answer": "6"})
    again = ask("POST", "/episodes", {**TASK, "agent_id": "me", "seed": 4}, Idempotency_Key="k")

    assert (again.status, again.body) == (201, first.body)
    assert ask("GET", f"{path}/reward").body["reward"] == 1.0
    assert ask("GET", path).body["steps"] == 2
    assert len(ask("GET", "/episodes").body["episodes"]) == 1


# -- tools that fail -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("step", "code"),
    [
        ({"action": "nothing"}, "tool_not_found"),
        ({"action": "add", "a": "x"}, "invalid_args"),
        ({"action": "add", "a": 1, "b": 2}, None),
        ({"action": "submit", "answer": "6"}, None),
    ],
)
def test_a_step_says_whether_its_tool_failed(ask: Client, step: Any, code: str | None) -> None:
    got = ask("POST", f"/episodes/{episode(ask)}/steps", step).body

    assert (got["error"] or {}).get("code") == code
    if code:
        assert got["error"]["message"] in got["text"].replace('\\"', '"')
        assert (got["step"], got["done"]) == (1, False)


# -- ready, and the end ----------------------------------------------------------------------------


def test_a_state_that_cannot_be_written_is_not_ready_and_one_that_can_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    journal = MemoryJournal()
    looks = list[bool]()

    async def probe() -> None:
        looks.append(True)
        if len(looks) == 1:
            raise Problem(503, "state_unavailable", "the disk is full", Retry_After="2")

    monkeypatch.setattr(journal, "probe", probe)
    with running(Server(served(sums()), journal=journal)) as ask:
        first = [ask("GET", "/readyz") for _ in range(20)]
        assert (first[0].status, first[0].body["code"]) == (503, "state_unavailable")
        until(lambda: ask("GET", "/readyz").status == 200)
        assert ask("GET", "/healthz").status == 200
    assert len(looks) < 20  # everyone may ask, and most are answered by what was seen a moment ago


STARTED = threading.Event()
GO_ON = threading.Event()


@stage(where="caller")
async def waits(visible: str) -> float:
    STARTED.set()
    while not GO_ON.is_set():
        await asyncio.sleep(0.01)
    return 1.0


def test_a_request_that_the_end_cuts_off_is_503_without_a_traceback(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As uvicorn does when its grace is over: it cancels what runs."""
    server = Server(served(Environment("slow", waits, TASKS)))
    cancels = list[asyncio.Task[Any]]()
    loops = list[asyncio.AbstractEventLoop]()
    play = server.verifier.verdict

    async def verdict(*given: Any) -> Any:
        loops.append(asyncio.get_running_loop())
        cancels.extend(each for each in asyncio.all_tasks() if "run_asgi" in str(each.get_coro()))
        return await play(*given)

    monkeypatch.setattr(server.verifier, "verdict", verdict)
    body = {"environment": "slow", "items": [{"task": "t0", "response": "x"}]}
    found = list[Any]()
    with running(server) as ask:
        asking = threading.Thread(target=lambda: found.append(ask("POST", "/v1/verify", body)))
        asking.start()
        assert STARTED.wait(60)
        server.is_ending = lambda: True
        loops[0].call_soon_threadsafe(lambda: [each.cancel() for each in cancels])
        asking.join(60)
        GO_ON.set()

    (got,) = found
    assert (got.status, got.body["code"]) == (503, "ending")
    assert got.headers["content-type"] == "application/problem+json"
    assert got.headers["retry-after"]
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "warns"),
    [
        (("--state", "redis://STATE"), True),
        (("--state", "redis://STATE", "--trajectories", "memory:"), True),
        (("--state", "redis://STATE", "--trajectories", "sqlite:FOLDER/t.db"), False),
        (("--state", "sqlite:FOLDER/s.db"), False),
        (("--state", "sqlite:FOLDER/s.db", "--trajectories", "memory:"), True),
        ((), False),
    ],
)
def test_a_state_that_outlives_its_trajectories_warns_and_says_what_to_add(
    arguments: tuple[str, ...], warns: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    env = everyday(tmp_path, {"id": "a", "prompt": "1 + 1?", "answer": "2"})
    monkeypatch.setattr("rlenv_serve.state.redis.prepare", lambda _: None)
    monkeypatch.setattr("rlenv_serve.commands.serve._run", lambda _, __, bound: bound.close())
    given = [each.replace("FOLDER", str(tmp_path)) for each in arguments]
    ran = within("serve", str(env), "--port", "0", *given)

    assert ran.exit_code == 0, ran
    assert (MEMORY in ran.stderr) is warns
    assert "--trajectories sqlite:PATH" in MEMORY


def test_operator_is_for_a_server_without_keys(tmp_path: Path) -> None:
    env = everyday(tmp_path, {"id": "a", "prompt": "1 + 1?", "answer": "2"})
    ran = within("serve", str(env), "--operator", "--keys", str(tmp_path / "keys.toml"))

    assert ran.exit_code == 2
    assert "--new-key NAME --operator --keys FILE" in ran.stderr
