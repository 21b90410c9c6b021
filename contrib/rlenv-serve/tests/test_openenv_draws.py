"""OpenEnv and MCP: which tasks a reset draws that names none."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from rlenv import Environment, Task
from rlenv_plugin_agent import Harness, tool
from rlenv_plugin_agent.errors import UnreachableTask
from rlenv_serve import Server
from serving import Client, add, running, same, served
from sockets import talking


@tool
def api() -> dict[str, object]:
    """Ask an API that answers with an error of its own."""
    told = {"type": "timeout", "tool": "api", "message": "slow down", "seconds": 0.5}
    return {"error": told}


class Worlds:
    """A state that some tasks cannot be solved in."""

    def __init__(self, *impossible: str) -> None:
        self.impossible = impossible

    async def begin(self, task: Task, seed: int) -> None:
        if task.id in self.impossible:
            raise UnreachableTask("hidden", kind="unavailable", transient=True)


def env_of(name: str, split: str = "train", *impossible: str) -> Environment:
    tasks = [Task(f"{n}?", answer=str(n), id=f"t{n}", split=split) for n in range(4)]
    tables: dict[str, Any] = {"harness": Harness("tool-use", tools=[add, api])}
    return Environment(name, same, tasks, tables={**tables, "state": Worlds(*impossible)})


@pytest.fixture(scope="module")
def ask() -> Iterator[Client]:
    made = (
        env_of("tests", "test"),
        env_of("worlds", "train", "t0", "t1"),
        env_of("gone", "train", "t0", "t1", "t2", "t3"),
    )
    with running(Server(served(*made))) as client:
        yield client
    for each in made:
        each.close()


def test_tasks_of_another_split_are_not_drawn_unasked(ask: Client) -> None:
    with talking(ask, "tests") as talk:
        refused = talk("reset")["data"]
        assert refused["code"] == "VALIDATION_ERROR"
        assert "'train'" in refused["message"]
        assert "there are test" in refused["message"]
        assert talk("reset", split="test", seed=1)["data"]["observation"]["task_id"] == "t1"
        assert talk("reset", task_id="t3")["data"]["observation"]["task_id"] == "t3"


def test_a_task_that_the_world_makes_impossible_is_skipped(ask: Client) -> None:
    with talking(ask, "worlds") as talk:
        picked = [talk("reset", seed=n)["data"]["observation"]["task_id"] for n in range(4)]
        assert picked == ["t2", "t2", "t2", "t3"]
        assert "impossible" in talk("reset", task_id="t0")["data"]["message"]
    with talking(ask, "gone") as talk:
        refused = talk("reset", seed=0)["data"]
        assert refused["code"] == "EXECUTION_ERROR"
        assert "each of the 4 tasks" in refused["message"]
        assert "hidden" not in refused["message"]


def test_a_result_that_looks_like_an_error_is_a_result(ask: Client) -> None:
    with talking(ask, "worlds") as talk:
        talk("reset", task_id="t3")
        seen = talk("step", tool_name="api", arguments={})["data"]["observation"]
        assert seen["error"] is None
        assert "slow down" in seen["result"]
