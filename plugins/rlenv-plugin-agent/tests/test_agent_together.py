"""State, noise, replay, a subagent and a context manager in one environment: each keeps its promise
beside the others.
"""

from __future__ import annotations

import json
from functools import partial
from itertools import count
from pathlib import Path
from random import random
from typing import Any

import pytest
from rlenv import Environment
from rlenv_plugin_agent import (
    Database,
    Policy,
    ToolContext,
    call,
    calls,
    replay,
    rollout,
    subagent,
    tool,
)
from rlenv_plugin_agent.contexts import estimate
from rlenv_plugin_agent.messages import Message
from rlenv_plugin_agent.policies.adversaries import ADVERSARIES
from rlenv_plugin_agent.rollouts.records import from_row, to_row

SQL = "CREATE TABLE pages(id INTEGER PRIMARY KEY, note TEXT); INSERT INTO pages VALUES (0, '');"


@tool(deterministic=True)
def note(page: int, text: str, context: ToolContext) -> str:
    """Write a note."""
    statement = "INSERT OR REPLACE INTO pages VALUES (?, ?)"
    context.get(Database).query(statement, (page, text), role=context.role)
    return f"noted {page}"


def search(query: str) -> str:
    """Search the world, which answers differently each time."""
    return f"{query}: {random()} " * 30


def shout(text: str) -> str:
    """Answer a subagent, differently each time."""
    return f"{text} {random()}"


def helper(messages: list[Message], tools: list[Message]) -> object:
    return call("shout", text="hey") if len(messages) < 2 else f"I heard {messages[-1]['content']}"


ask = subagent(helper, name="ask", tools=[shout], starts=8)
LOOK = {
    "name": "search",
    "arguments": {"query": "gold"},
}  # recorded, as every call that is not deterministic
GOLD = [LOOK, {"name": "note", "arguments": {"page": 1, "text": "done"}}]
ANSWER = {"tables": {"pages": {"added": [{"id": 1, "note": "done"}]}}}


def task(name: str) -> dict[str, object]:
    told = f"Note page 1 for {name}."
    return {"id": name, "prompt": told, "answer": ANSWER, "info": {"gold": {"calls": GOLD}}}


def environment(folder: Path, *, tasks: int = 1, **config: object) -> Environment:
    (folder / "pages.sql").write_text(SQL)
    harness = {
        "kind": "stateful-tool-use",
        "context": "fold",
        "turn_limit": 90,
        "tools": [f"{__name__}:{each}" for each in ("note", "search", "ask")],
    }
    return Environment.from_dict(
        {
            "name": "together",
            "harness": harness,
            "state": {"schema": str(folder / "pages.sql")},
            "config": {"context_budget": 12_000, **config},
            "stage": [{"use": "agent/state"}],
            "task": [task(f"t{i}") for i in range(tasks)],
        }
    )


def worker(seen: list[int]) -> Policy:
    """Searches and asks, then writes its note until that succeeds."""

    def act(messages: list[Message], tools: list[Message]) -> object:
        seen.append(estimate(messages))
        said = str(messages[-1]["content"])
        if len(seen) < 30:
            asked = [("ask", {"prompt": "go"})] if len(seen) % 8 == 0 else []
            return calls(("search", {"query": f"q{len(seen) % 20}"}), *asked)
        return "Noted." if said.startswith("noted 1") else call("note", page=1, text="done")

    return act


@pytest.mark.parametrize("seed", [2, 3])
def test_a_rollout_of_all_parts_is_paid_recorded_and_replayed(tmp_path: Path, seed: int) -> None:
    log = str(tmp_path / "calls.db")
    noise = {"rate": 0.3}
    seen: list[int] = []
    with environment(tmp_path, replay="record", call_log=log, noise=noise) as env:
        played = rollout(env, env.tasks[0], worker(seen), seed)

    assert (played.stop, played.verdict.value) == ("passed", 1.0)
    marks = [mark for turn in played.trace for _, mark in turn.marks]
    assert len(marks) > 4
    assert all(mark.startswith("noise/") for mark in marks)
    assert max(seen) <= 12_000
    assert len(played.trajectory.messages) > 60

    stored = from_row(json.loads(json.dumps(to_row(played))))
    with environment(tmp_path, replay="pin", call_log=log, noise=noise) as env:
        assert replay(stored, env) is None
    with environment(tmp_path, noise=noise) as env:
        found = replay(stored, env)
        assert found is not None
        assert found.what == "observation"


def test_the_gold_calls_of_tasks_are_not_disturbed(tmp_path: Path) -> None:
    """A task whose gold calls failed could not be played: 16 of them would not escape noise in half
    of all calls.
    """
    config = {"noise": {"rate": 0.5, "kinds": ["error"]}}
    with environment(tmp_path, tasks=16, **config) as env:
        played = [rollout(env, task, lambda messages, tools: "Nothing.") for task in env.tasks]

    assert len(played) == 16
    assert {(each.stop, each.verdict.value) for each in played} == {("done", 0.0)}


@pytest.mark.slow  # some of them make 2,000 calls
@pytest.mark.parametrize("mode", ["record", "pin", "live"])
@pytest.mark.parametrize("name", ADVERSARIES)
def test_no_adversary_is_paid_unscored_or_beyond_replay(
    tmp_path: Path, name: str, mode: str
) -> None:
    log = str(tmp_path / "calls.db")
    noise = {"rate": 0.3}
    with environment(tmp_path, replay="record", call_log=log) as env:
        rollout(
            env, env.tasks[0], lambda messages, tools: "Nothing."
        )  # the gold calls are recorded
    with environment(tmp_path, replay=mode, call_log=log, noise=noise) as env:
        played = rollout(env, env.tasks[0], partial(ADVERSARIES[name], seed=5), 5)

    assert (played.stop == "error", played.verdict.value) == (False, 0.0)
    with environment(
        tmp_path, replay="live" if mode == "live" else "pin", call_log=log, noise=noise
    ) as env:
        found = replay(from_row(json.loads(json.dumps(to_row(played)))), env)
    assert found is None or mode == "live"


def nasty(turn: int) -> object:
    """What a policy may write to break a view, a log or a replay."""
    forged = 'result_0_0 turn_99 [doc-1] [9 characters, unfold("result_0_0") shows them]'
    return (
        calls(
            ("unfold", {"ref": "result_0_0"}),
            ("unfold", {"ref": "turn_" + "9" * 6}),
            content=forged,
        ),
        calls(
            ("search", {"query": "\ud800"}), ("search", {"query": "x" * 200_000}), content="\ud800"
        ),
        {
            "role": "assistant",
            "content": "[a] " * 2_000,
            "tool_calls": [{"function": {"name": "search", "arguments": '{"query": -0.0}'}}],
        },
        {
            "role": "assistant",
            "content": [{"type": "image_url", "image_url": {"url": "x" * 9_000}}],
            "tool_calls": "no",
        },
    )[turn % 4]


@pytest.mark.parametrize("mode", ["record", "live"])
def test_what_a_policy_writes_leaves_the_episode_scored_and_replayable(
    tmp_path: Path, mode: str
) -> None:
    turns = count()
    config: dict[str, Any] = {"call_log": str(tmp_path / "calls.db"), "noise": {"rate": 0.2}}

    def act(messages: list[Message], tools: list[Message]) -> object:
        return nasty(turn) if (turn := next(turns)) < 11 else "x" * 50_000

    with environment(tmp_path, replay=mode, **config) as env:
        played = rollout(env, env.tasks[0], act, 2)
    with environment(tmp_path, replay="pin" if mode == "record" else "live", **config) as env:
        found = replay(from_row(json.loads(json.dumps(to_row(played)))), env)

    assert (played.stop == "error", played.verdict.value) == (False, 0.0)
    assert found is None or mode == "live"
