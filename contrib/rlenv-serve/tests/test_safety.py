"""What a server refuses."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

import msgspec
import pytest
from growth import assert_growth
from ors_wire import begun
from rlenv import ConfigError, Environment
from rlenv_serve import Catalog, Keys, Limits, Served, Server
from rlenv_serve.http.body import decode
from rlenv_serve.http.keys import add_key
from rlenv_serve.http.problems import Problem
from rlenv_serve.trajectories.store import TrajectoryStore
from serving import Client, episode, running, served, single, sums
from sockets import talking


def test_bodies_that_are_large_deep_or_no_json_are_4xx(ask: Client) -> None:
    deep = b'{"action": "add", "a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"
    path = f"/episodes/{episode(ask)}/steps"

    assert ask("POST", path, deep).status == 400
    assert (
        ask("POST", path, b'{"action": "add", "a": ' + b"[" * 70 + b"]" * 70 + b"}").status == 400
    )
    assert ask("POST", path, b'{"action": "add", "a": -Infinity, "b": NaN}').status == 400
    assert ask("POST", path, b"x" * ((1 << 20) + 1)).status == 413
    assert ask("GET", path.removesuffix("/steps")).body["steps"] == 0


def test_a_key_opens_what_is_its_tenant_s_and_nothing_else(tmp_path: Path) -> None:
    file = tmp_path / "keys.toml"
    alice = add_key(file, "alice", answers=False, operator=False)
    bob = add_key(file, "bob", answers=True, operator=True)
    carol = add_key(file, "carol", answers=True, operator=False)
    with running(Server(served(sums()), keys=Keys.from_file(file))) as ask:
        first = Client(ask.port, {"X-API-Key": alice})
        second = Client(ask.port, {"Authorization": f"Bearer {bob}"})
        third = Client(ask.port, {"X-API-Key": carol})
        id_ = episode(first)

        assert ask("GET", f"/episodes/{id_}").status == 401
        assert Client(ask.port, {"X-API-Key": alice + "x"})("GET", f"/episodes/{id_}").status == 401
        assert first("GET", f"/episodes/{id_}").status == 200
        for method, path in (("GET", ""), ("GET", "/reward"), ("POST", "/steps"), ("DELETE", "")):
            assert third(method, f"/episodes/{id_}{path}", {"action": "add"}).status == 404
        assert first("GET", f"/episodes/{id_}").body["steps"] == 0
        assert second("POST", f"/episodes/{id_}/steps", {"action": "add"}).status == 404
        assert ask("GET", "/healthz").status == 200
    assert alice not in file.read_text()


def test_a_tenant_has_so_many_open_episodes() -> None:
    with running(Server(served(sums()), limits=Limits(episodes=2))) as ask:
        ids = [episode(ask), episode(ask)]
        over = ask("POST", "/episodes", {"task_id": "t3"})
        ask("GET", f"/episodes/{ids[0]}/reward")

        assert (over.status, over.body["code"], over.headers["retry-after"]) == (
            429,
            "too_many_episodes",
            "5",
        )
        assert episode(ask)


@pytest.mark.parametrize(
    "name", ["episodes", "v1", "openenv", "readyz", "Score_Group".lower(), "a/b", ""]
)
def test_a_name_that_is_a_path_of_the_server_is_an_error_at_start(name: str) -> None:
    with single() as env, pytest.raises(ConfigError, match="another name"):
        Served(name, env)


def test_two_environments_of_one_name_are_an_error_at_start() -> None:
    with single() as first, single() as second, pytest.raises(ConfigError, match="'single'"):
        Catalog([Served("single", first), Served("single", second)])


def test_a_reference_to_a_task_has_no_answer_and_cannot_be_forged() -> None:
    with single() as env:
        found = Served("single", env)
        spec = json.loads(json.dumps(found.spec(env.tasks[3])))

        assert found.of_spec(spec) is env.tasks[3]
        assert "6" not in json.dumps({**spec, "mac": "", "rev": ""})
        forged = [
            {**spec, "task_id": "t4"},
            {**spec, "answer": "forged"},
            {**spec, "mac": "0" * 64},
            {**spec, "prompt": "x"},
            {"question": "q", "answer": "a"},
            "t3",
            None,
        ]
        for each in forged:
            with pytest.raises(Problem) as raised:
                found.of_spec(each)
            assert raised.value.status == 400
        with pytest.raises(Problem):
            Served("other", env).of_spec(spec)


def test_a_reference_of_another_revision_says_so() -> None:
    with single() as env, Environment("single", lambda visible: 1.0, env.tasks) as changed:
        spec = Served("single", env).spec(env.tasks[3])

        with pytest.raises(Problem, match="list the tasks again"):
            Served("single", changed).of_spec(spec)


@pytest.mark.parametrize("part", [b'\\"', b"\\", b'"', b"[]", b"{", b"NaN "])
def test_what_is_no_json_costs_no_more_than_its_length(part: bytes) -> None:
    decoder: msgspec.json.Decoder[object] = msgspec.json.Decoder()

    def work(length: int) -> None:
        with suppress(Problem):
            decode(b'"' + part * length, decoder, 64, lenient=True)

    assert_growth(lambda: work(20_000), lambda: work(40_000))


@pytest.mark.parametrize(
    ("text", "deep"),
    [
        ("[" * 64 + "]" * 64, False),
        ("[" * 65 + "]" * 65, True),
        ("[" + "[],{}," * 1000 + "[]]", False),
        ('["[[[", {"]": [' * 40 + '"x"' + "]}]" * 40, True),
        ('{"a":' * 64 + '"{{{["' + "}" * 64, False),
    ],
)
def test_depth_is_that_of_values_not_of_texts(text: str, deep: bool) -> None:
    found = False
    try:
        decode(text.encode(), msgspec.json.Decoder(), 64)
    except Problem as problem:
        found = problem.status == 400

    assert found is deep


def test_an_episode_that_has_ended_does_not_say_how_to_who_plays_it(ask: Client) -> None:
    told = set()
    for answer in ("6", "7"):
        id_ = episode(ask)
        ask("POST", f"/episodes/{id_}/steps", {"action": "submit", "answer": answer})
        told.add(
            ask("POST", f"/episodes/{id_}/steps", {"action": "submit", "answer": "6"}).body[
                "detail"
            ]
        )

    assert len(told) == 1


def test_numbers_that_are_too_long_are_4xx(ask: Client) -> None:
    assert ask("GET", f"/trajectories?limit={'9' * 5000}").status == 422
    for last in ("9" * 5000, "9" * 20):
        assert ask("GET", "/trajectories/watch", Last_Event_ID=last).status == 422


def test_the_file_of_trajectories_is_private(tmp_path: Path) -> None:
    path = tmp_path / "t.sqlite"
    with running(Server(served(sums()), trajectories=TrajectoryStore(f"sqlite:{path}"))) as ask:
        ask("POST", f"/episodes/{episode(ask)}/steps", {"action": "submit", "answer": "6"})
        assert {each.stat().st_mode & 0o077 for each in tmp_path.iterdir()} == {0}
    path.chmod(0o644)
    with pytest.raises(ConfigError, match="chmod 600"):
        TrajectoryStore(f"sqlite:{path}")


def test_what_fails_in_the_server_is_logged_and_no_protocol_tells_it(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def fail(*_: object, **__: object) -> None:
        raise RuntimeError("secret")

    server = Server(served(sums()))
    with running(server) as ask:
        id_ = episode(ask)
        session = begun(ask)
        with talking(ask) as talk:
            talk("reset")
            monkeypatch.setattr(server.sessions, "step", fail)
            step = {"action": "submit", "answer": "6"}
            rpc = {
                "jsonrpc": "2.0",
                "id": 1,
                "method": "tools/call",
                "params": {"name": "submit", "arguments": {"answer": "6"}},
            }
            found = [
                ask("POST", f"/episodes/{id_}/steps", step).body,
                ask("POST", "/mcp/sums", rpc, Mcp_Session_Id=id_).body["error"],
                talk("step", answer="6")["data"],
                session.call("submit", answer="6").error,
                talk("mcp", rpc)["data"]["error"],
            ]
            for each in found:
                assert "the server failed; its log says why" in str(each), found
                assert "secret" not in str(each), found
        logged = [each.getMessage() for each in caplog.records]
        assert logged == [
            "POST /episodes/{id}/steps failed",
            "tools/call failed",
            "a frame failed",
            "a call of ORS failed",
            "tools/call failed",
        ]
        assert str(caplog.records[0].exc_info) != "None"
