"""OpenEnv: sessions that are left open, lost, brought back, or hang."""

from __future__ import annotations

import pytest
from ors_wire import begun
from rlenv import Environment
from rlenv_plugin_agent import Harness, tool
from rlenv_serve import Limits, Server
from rlenv_serve.http.problems import Problem
from serving import TASKS, Client, running, same, served, single, sums, until
from sockets import talking


def test_an_episode_left_open_makes_room_for_another() -> None:
    with sums() as env, running(Server(served(env), limits=Limits(episodes=2))) as ask:
        for _ in range(5):
            with talking(ask) as talk:
                assert talk("reset")["type"] == "observation"
        with talking(ask) as talk, talking(ask) as second:
            assert [talk("reset")["type"] for _ in range(5)] == ["observation"] * 5
            assert second("reset")["type"] == "observation"
            with talking(ask) as third:
                assert "CAPACITY_REACHED" in str(third.socket.recv(timeout=60))


@pytest.mark.parametrize("protocol", ["openenv", "ors"])
def test_an_episode_left_open_makes_room_for_one_of_another_protocol(protocol: str) -> None:
    asked = {"task_id": "t3", "agent_id": "me"}
    with sums() as env, running(Server(served(env), limits=Limits(idle=0.5, episodes=1))) as ask:
        if protocol == "ors":
            begun(ask)
        else:
            with talking(ask) as talk:
                assert talk("reset")["type"] == "observation"
        assert ask("POST", "/episodes", asked).status == 429
        until(lambda: ask("POST", "/episodes", asked).status == 201)


def test_a_request_for_which_there_is_no_turn_ends_no_session_that_was_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def full(tenant: str) -> None:
        raise Problem(429, "too_many_requests", "send fewer")

    with sums() as env:
        server = Server(served(env))
        with running(server) as ask:
            with talking(ask) as left:
                id_ = left("reset")["data"]["observation"]["episode_id"]
            with talking(ask) as talk:
                monkeypatch.setattr(server.turns, "admit", full)
                assert talk("reset")["data"]["code"] == "CAPACITY_REACHED"
                monkeypatch.undo()
                assert talk("reset")["type"] == "observation"
            assert ask("GET", f"/episodes/{id_}").status == 200


def test_an_ended_episode_is_read_by_its_id(ask: Client) -> None:
    with talking(ask, "single") as talk:
        id_ = talk("reset", task_id="t3")["data"]["observation"]["episode_id"]
        talk("step", answer="6")
    assert ask("GET", f"/episodes/{id_}/reward").body["reward"] == 1.0


def test_an_episode_goes_on_after_a_lost_connection_and_after_a_restart() -> None:
    with sums() as env:
        server = Server(served(env))
        with running(server) as ask:
            with talking(ask) as talk:
                id_ = talk("reset", task_id="t3")["data"]["observation"]["episode_id"]
                talk("step", tool_name="add", arguments={"a": 1, "b": 2})
            with talking(ask, session=id_) as talk:
                assert talk("state")["data"]["step_count"] == 1
        again = Server(served(env), journal=server.journal)
        with running(again) as ask, talking(ask, session=id_) as talk:
            assert talk("state")["data"] | {"session_id": ""} == {
                "episode_id": id_, "step_count": 1, "session_id": "", "task_id": "t3",
                "done": False,
            }  # fmt: skip
            assert talk("step", answer="6")["data"]["reward"] == 1.0


def test_a_step_that_hangs_is_an_error_and_holds_nobody_else() -> None:
    import asyncio

    @tool(where="caller")
    async def hang() -> str:
        """Never end."""
        await asyncio.sleep(3600)
        return ""

    harness = Harness("tool-use", tools=[hang])
    env = Environment("hangs", same, TASKS, tables={"harness": harness})
    with (
        env,
        single() as other,
        running(Server(served(env, other), limits=Limits(deadline=4.0))) as ask,
        talking(ask, "hangs") as talk,
        talking(ask, "single") as quick,
    ):
        talk("reset", task_id="t3")
        talk.socket.send('{"type": "step", "data": {"tool_name": "hang"}}')
        quick("reset", task_id="t3")
        assert quick("step", answer="6")["data"]["reward"] == 1.0
        assert talk.raw('{"type": "state"}')["data"]["code"] == "EXECUTION_ERROR"
        assert '"done":false' in talk.socket.recv(timeout=60)
