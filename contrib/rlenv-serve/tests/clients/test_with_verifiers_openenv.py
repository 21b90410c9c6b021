"""The OpenEnv taskset of verifiers, unchanged, with our server; only the model is a script."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rlenv_serve import Keys, Server
from rlenv_serve.http.keys import add_key
from serving import Client, running, served, single

pytest.importorskip(
    "verifiers.v1", reason="verifiers ≥ 0.4 is not installed here: `make test-trainers` runs this"
)
pytest.importorskip(
    "openenv.core", reason="OpenEnv is not installed here: `make test-trainers` runs this"
)

import verifiers.v1 as vf
from verifiers.v1.agent import Segment
from verifiers.v1.tasksets.openenv.taskset import OpenEnvConfig, OpenEnvEnv, OpenEnvEnvConfig
from verifiers.v1.trace import AgentInfo, Trace, TraceTask


class Script:
    """An agent that says what it was told to, and ends when that is all."""

    def __init__(self, replies: Iterable[str], completed: list[Any]) -> None:
        self.replies = iter(replies)
        self.completed = completed
        self.seen = list[Any]()

    @asynccontextmanager
    async def interaction(self, task: Any) -> AsyncIterator[Any]:
        traced = TraceTask(type="OpenEnvTask", data=task.data)
        self.trace = Trace(task=traced, agent=AgentInfo(config=vf.AgentConfig()))
        try:
            yield self
        finally:
            self.completed.append(self.trace)

    async def turn(self, message: str) -> Any:
        self.seen.append(json.loads(message))
        reply = next(self.replies, None)
        return Segment([], root_reply=reply or "", terminated=reply is None)


class Scripted(OpenEnvEnv):  # type: ignore[misc] # verifiers has an environment of its own
    """The official environment, with a script for a model."""

    def __init__(self, url: str, replies: Iterable[str], **reset: object) -> None:
        taskset = OpenEnvConfig(id="openenv", base_url=url, resets=[reset])
        super().__init__(OpenEnvEnvConfig(taskset=taskset))
        self.replies = replies

    def _episode_agents(self, ctx: Any, completed: list[Any], *_: object) -> Any:
        self.script = Script(self.replies, completed)
        return SimpleNamespace(player=self.script)

    def played(self) -> Any:
        """The episode of its one task."""
        (task,) = self.taskset.load()
        return asyncio.run(self.run_episode(task, None))


def url(ask: Client, env: str) -> str:
    return f"{ask.url}/openenv/{env}"


@pytest.mark.parametrize(
    ("env", "replies", "reward"),
    [
        ("single", ["6"], 1.0),
        ("single", ["7"], 0.0),
        ("single", ['{"answer": "6"}'], 1.0),
        ("single", ['{"unknown": NaN}'], 0.0),
        ("single", ["{}"], 0.0),
        (
            "sums",
            [
                '{"tool_name": "add", "arguments": {"a": 3, "b": 3}}',
                (
                    '```json\n{"type": "call_tool", "tool_name": "submit", "arguments": {"answer":'
                    ' "6"}}\n```'
                ),
            ],
            1.0,
        ),
        (
            "sums",
            ["I think that it is 6", '{"tool_name": "submit", "arguments": {"answer": "5"}}'],
            0.0,
        ),
    ],
)
def test_an_episode_is_played_and_rewarded(
    ask: Client, env: str, replies: list[str], reward: float
) -> None:
    # The taskset sends the objects that a policy writes: nothing in them may fail the run.
    made = Scripted(url(ask, env), replies, task_id="t3")
    episode = made.played()

    assert episode.errors == []
    assert [trace.reward for trace in episode.traces] == [reward]
    assert "What is 3 + 3?" in str(made.script.seen[0]["observation"])
    if env == "sums":
        tools = made.script.seen[0]["action_schema"]["available_tools"]
        assert [each["name"] for each in tools] == ["add", "submit"]


def test_an_unscored_episode_fails_and_has_no_reward_of_0(ask: Client) -> None:
    episode = Scripted(url(ask, "broken"), ["0"], task_id="t0").played()

    assert "without a score" in str(episode.errors[0])
    assert episode.ok is False
    assert [trace.rewards for trace in episode.traces] == [{}]


def test_a_key_in_the_url_reaches_the_schema_and_the_socket(tmp_path: Path) -> None:
    key = add_key(tmp_path / "keys.toml", "alice", answers=False, operator=False)
    keys = Keys.from_file(tmp_path / "keys.toml")
    with single() as env, running(Server(served(env), keys=keys)) as ask:
        base = f"http://user:{key}@127.0.0.1:{ask.port}/openenv/single"
        assert Scripted(base, ["6"], task_id="t3").played().traces[0].reward == 1.0
