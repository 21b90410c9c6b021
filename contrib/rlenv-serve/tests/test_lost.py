"""Episodes that an environment's change leaves behind: what clients see of them, and what they cost
their tenant.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from journals import begun
from rlenv import Environment, Task
from rlenv_plugin_agent import Harness
from rlenv_serve import Keys, Limits, Server
from rlenv_serve.http.keys import add_key
from rlenv_serve.sessions.admission import Admission
from rlenv_serve.state import open_journal
from rlenv_serve.state.memory import MemoryJournal
from serving import TASKS, Client, add, episode, running, same, served, sums

TASK = {"task_id": "t3", "environment": "sums"}


def changed() -> Environment:
    """``sums`` with another fingerprint."""
    harness = Harness("tool-use", tools=[add], turn_limit=7)
    return Environment("sums", same, TASKS, tables={"harness": harness})


def other_task() -> Environment:
    """``sums`` without the task that was begun."""
    return Environment("sums", same, TASKS[:1], tables=sums().tables)


def other_answer() -> Environment:
    """``sums`` where the task has another answer."""
    task = Task("What is 3 + 3?", answer="7", id="t3", split="train")
    return Environment("sums", same, [task], tables=sums().tables)


@contextmanager
def restarted(tmp_path: Path, env: Environment, keys: Keys | None = None) -> Iterator[Client]:
    """A server on the state of the test; a tenant may have two open episodes."""
    journal = open_journal(f"sqlite:{tmp_path}/s.db")
    with (
        env,
        running(Server(served(env), keys=keys, journal=journal, limits=Limits(episodes=2))) as ask,
    ):
        yield ask


@pytest.mark.parametrize(
    ("env", "reason"),
    [
        (changed, "its environment has changed"),
        (other_task, "its task is no longer there"),
        (other_answer, "its task has changed"),
    ],
)
def test_a_restart_with_another_environment_locks_no_tenant_out(
    env: object, reason: str, tmp_path: Path
) -> None:
    assert callable(env)
    with restarted(tmp_path, sums()) as ask:
        ids = [episode(ask) for _ in range(2)]
        assert ask("POST", "/episodes", TASK).status == 429
    with restarted(tmp_path, env()) as ask:
        told = ask("GET", f"/episodes/{ids[0]}").body
        assert (told["status"], told["reason"], told["stop_reason"]) == ("lost", reason, None)
        listed = ask("GET", "/episodes").body["episodes"]
        assert [(each["id"], each["status"], each["reason"]) for each in listed] == [
            (id_, "lost", reason) for id_ in ids[::-1]
        ]
        task = {"task_id": "t0" if env is other_task else "t3"}
        made = [ask("POST", "/episodes", task) for _ in range(3)]
        assert [each.status for each in made] == [201, 201, 429]
        for method, path in (("POST", "/steps"), ("GET", "/reward")):
            got = ask(method, f"/episodes/{ids[0]}{path}", {"action": "submit", "answer": "6"})
            assert (got.status, got.body["code"]) == (410, "episode_lost")
            assert reason in got.body["detail"]
        assert [ask("DELETE", f"/episodes/{ids[0]}").status for _ in range(2)] == [204, 404]
    with restarted(tmp_path, sums()) as ask:  # the environment as it was: the other episode goes on
        assert ask("GET", f"/episodes/{ids[1]}").body["status"] == "open"
        assert ask("GET", f"/episodes/{ids[1]}/reward").body["reward"] == 0.0


def test_an_environment_that_is_no_longer_served_loses_its_episodes(tmp_path: Path) -> None:
    with restarted(tmp_path, sums()) as ask:
        id_ = episode(ask)
    with restarted(tmp_path, Environment("other", same, TASKS)) as ask:
        told = ask("GET", f"/episodes/{id_}").body
        assert (told["status"], told["reason"]) == ("lost", "its environment is no longer served")


def test_too_many_episodes_are_named_with_the_limit_and_what_to_do() -> None:
    with running(Server(served(sums()), limits=Limits(episodes=2))) as ask:
        ids = [episode(ask) for _ in range(2)]
        got = ask("POST", "/episodes", TASK)

    assert (got.status, got.body["code"]) == (429, "too_many_episodes")
    for part in (*ids, "--limit episodes=", "DELETE"):
        assert part in got.body["detail"]


def test_a_tenant_may_play_several_groups_of_a_step_of_grpo_at_once() -> None:
    assert Limits().episodes >= 128 * 16


def test_an_operator_sees_and_ends_the_episodes_of_every_tenant(tmp_path: Path) -> None:
    file = tmp_path / "keys.toml"
    tenant, operator = (
        add_key(file, name, answers=False, operator=name == "bob") for name in ("alice", "bob")
    )
    with running(Server(served(sums()), keys=Keys.from_file(file))) as ask:
        alice, bob = (Client(ask.port, {"X-API-Key": key}) for key in (tenant, operator))
        ids = [episode(alice) for _ in range(2)]

        assert bob("GET", f"/episodes/{ids[0]}").body["status"] == "open"
        assert bob("GET", f"/episodes/{ids[0]}/reward").body["reward"] == 0.0
        assert bob("DELETE", f"/episodes/{ids[1]}").status == 204
        assert bob("DELETE", f"/episodes/{ids[1]}").status == 404
        assert alice("GET", f"/episodes/{ids[0]}").body["status"] == "done"
        assert alice("GET", f"/episodes/{ids[1]}").status == 404
        own = episode(bob)
        assert alice("DELETE", f"/episodes/{own}").status == 404
        assert bob("GET", f"/episodes/{own}").body["status"] == "open"


def test_a_tenant_that_asks_again_and_again_costs_one_look(monkeypatch: pytest.MonkeyPatch) -> None:
    journal = MemoryJournal()
    looks = list[str]()

    async def open_of(tenant: str) -> list[object]:
        looks.append(tenant)
        return []

    async def work() -> None:
        admission = Admission({}, journal, 1)  # type: ignore[arg-type] # no environment is served
        monkeypatch.setattr(journal, "open_of", open_of)
        await admission.begin(begun(0))
        for n in range(1, 50):
            with pytest.raises(Exception, match="at most 1 open"):
                await admission.begin(begun(n))

    asyncio.run(work())
    assert len(looks) == 1
