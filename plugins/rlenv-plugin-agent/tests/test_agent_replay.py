"""Rollouts that are played again."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from itertools import count
from pathlib import Path

import pytest
from attrs import evolve
from recorded import TASK, World, recorded
from rlenv import ConfigError, Environment, Trajectory
from rlenv.authoring import File
from rlenv_plugin_agent import End, Episode, Harness, Rollout, ToolContext, ToolError, call, rollout
from rlenv_plugin_agent.episodes.config import Config
from rlenv_plugin_agent.messages import Message, calls
from rlenv_plugin_agent.rollouts.records import from_row, to_row
from rlenv_plugin_agent.rollouts.replay import replay
from rlenv_plugin_agent.tools.noise import Noise
from sums import game


def passes(visible: str, answer: str) -> bool:
    return visible == answer


def environment(world: World, **config: object) -> Environment:
    tables: dict[str, object] = {"harness": Harness("tool-use", tools=[*world.tools.values()])}
    if config:
        tables["config"] = Config(**config)  # type: ignore[arg-type] # as of the table
    return Environment("finds", passes, tasks=[TASK], tables=tables)


def policy(messages: list[Message], tools: list[Message]) -> object:
    turn = sum(each["role"] == "assistant" for each in messages)
    script: list[object] = [
        calls(("search", {"query": "a"}), ("browse", {"link": "x"}), content="I look."),
        call("serch"),
        call("browse", link="x"),
        "done",
    ]
    return script[turn]


def test_a_rollout_replays_where_its_tools_are_pinned_and_names_where_it_does_not(
    tmp_path: Path,
) -> None:
    path = str(tmp_path / "log")
    world = World()
    played = rollout(environment(world, replay="record", call_log=path), TASK, policy)
    pinned = environment(World(), replay="pin", call_log=path)

    assert played.verdict.value == 1.0
    assert replay(played, pinned) is None
    assert replay(rollout(pinned, TASK, policy), pinned) is None
    assert replay(from_row(json.loads(json.dumps(to_row(played)))), pinned) is None
    live = replay(played, environment(world))
    assert live is not None
    assert (live.turn, live.what) == (1, "observation")
    assert "result 1" in live.stored
    assert str(live).startswith("turn 1: observation: stored \"'a': result 1")
    assert "result 4" in live.found


def test_what_of_a_stored_rollout_was_changed_is_named() -> None:
    env = environment(World())
    played = rollout(
        env, TASK, lambda messages, tools: call("add", a=1, b=2) if len(messages) < 2 else "done"
    )
    assert replay(played, env) is None

    messages = [*played.trajectory.messages]
    forged = Trajectory([*messages[:2], {**messages[2], "content": "4"}, *messages[3:]])
    found = replay(evolve(played, trajectory=forged), env)
    assert (found and (found.turn, found.what, found.stored, found.found)) == (
        1,
        "observation",
        "'4'",
        "'3'",
    )

    long = Trajectory([*messages[:2], {**messages[2], "content": "3" * 5_000}, *messages[3:]])
    found = replay(evolve(played, trajectory=long), env)
    assert found is not None
    assert (len(found.stored), found.found) == (300, "'3'")

    found = replay(evolve(played, verdict=evolve(played.verdict, value=0.5)), env)
    assert (found and found.what) == "reward"
    found = replay(evolve(played, stop="gave_up"), env)
    assert (found and found.what) == "stop"
    found = replay(evolve(played, trajectory=Trajectory([*messages, messages[-1]])), env)
    assert (found and found.what) in ("length", "observation")
    found = replay(evolve(played, trajectory=Trajectory(messages[:3])), env)
    assert found is not None


def test_a_rollout_that_time_ended_replays() -> None:
    env = environment(World())
    with Episode(env) as episode:
        episode.reset(TASK)
        episode.step(call("add", a=1, b=2))
        episode.truncate("timeout")
    trajectory = episode.trajectory
    verdict = episode.verdict
    assert trajectory is not None
    assert verdict is not None
    played = Rollout(TASK, trajectory, tuple(episode.trace), verdict, "timeout", 1.0)

    assert replay(played, env) is None


@pytest.mark.parametrize("moves", [(13, {"no": [1]}, 14), ("13", "one", "14")])
def test_a_game_replays_with_values_and_with_texts(moves: Sequence[object]) -> None:
    def exact(action: object, seed: int) -> object:
        if action is None:
            return "Say the double."
        return End("right") if action == moves[-1] else f"{action!r} is wrong"

    env = game(exact)
    actions = iter(moves)
    played = rollout(env, TASK, lambda messages, tools: next(actions), 7)

    assert played.terminated
    assert replay(played, game(exact)) is None
    found = replay(evolve(played, trajectory=Trajectory(played.trajectory.messages[:-2])), env)
    assert found is not None


@pytest.mark.slow  # 2,000 episodes
def test_a_thousand_rollouts_replay_without_a_divergence(tmp_path: Path) -> None:
    path = str(tmp_path / "log")
    recording = environment(World(), replay="record", call_log=path)
    played = [rollout(recording, TASK, policy, seed) for seed in range(1_000)]
    pinned = environment(World(), replay="pin", call_log=path)

    assert [found for each in played if (found := replay(each, pinned))] == []


@pytest.mark.parametrize("context", ["recency", "fold"])
def test_a_rollout_with_noise_and_a_context_manager_replays(context: str) -> None:
    tables = {
        "harness": Harness("tool-use", tools=[look], context=context, turn_limit=50),
        "config": Config(noise=Noise(0.3), context_budget=3_000),
    }
    env = Environment("looks", passes, tables=tables)

    def policy(messages: list[Message], tools: list[Message]) -> object:
        return call("look", at=str(len(messages))) if next(turns) < 40 else "done"

    turns = count()
    played = rollout(env, TASK, policy, 7)

    assert played.verdict.value == 1.0
    assert sum(len(turn.marks) for turn in played.trace) > 4
    assert replay(played, env) is None
    found = replay(evolve(played, seed=8), env)
    assert found is not None
    assert found.what == "observation"


def test_the_seconds_of_an_error_do_not_count() -> None:
    waits = iter([0.0, 0.05])

    def fail() -> str:
        """Fail."""
        time.sleep(next(waits))
        raise ToolError("no")

    env = Environment("fails", passes, tables={"harness": Harness("tool-use", tools=[fail])})
    played = rollout(
        env, TASK, lambda messages, tools: call("fail") if len(messages) < 2 else "done"
    )

    assert replay(played, env) is None


def test_an_episode_whose_state_could_not_be_pinned_is_not_made(tmp_path: Path) -> None:
    def write(context: ToolContext, text: str) -> str:
        """Write."""
        return text

    recorded(tmp_path / "log", 1)
    config = Config(replay="pin", call_log=File(str(tmp_path / "log")))
    tables = {"harness": Harness("tool-use", tools=[write]), "config": config}

    with pytest.raises(ConfigError, match="write"):
        Episode(Environment("writes", passes, tables=tables))


def look(at: str) -> str:
    """Look at something."""
    return f"I see {at}. " * 20


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"replay": "pin"}, "call_log"),
        ({"replay": "pin", "call_log": "/nowhere/calls.db"}, "record one"),
        ({"replay": "pine", "call_log": "calls.db"}, "live, record or pin"),
    ],
)
def test_a_configuration_that_cannot_replay_is_rejected(
    config: dict[str, object], said: str
) -> None:
    with pytest.raises(ConfigError, match=said):
        Episode(environment(World(), **config))


def test_the_log_that_is_pinned_is_part_of_the_fingerprint(tmp_path: Path) -> None:
    recorded(tmp_path / "a", 5)
    recorded(tmp_path / "b", 6)
    configs = [Config(replay="pin", call_log=File(str(tmp_path / name))) for name in ("a", "b")]
    prints = [Environment("x", passes, tables={"config": each}).fingerprint for each in configs]

    assert prints[0] != prints[1]
    assert configs[0].show() == f"C  replay pin {tmp_path}/a"
    assert Config(noise=Noise(0.1)).show() == "C  noise at 0.1 of calls"
    assert configs[0].log_sha256 != configs[1].log_sha256 != ""
