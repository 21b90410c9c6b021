"""Rollouts as rows of JSON and back."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rlenv import ConfigError, Environment, Outcome, Task, Tokens, stage
from rlenv_plugin_agent import Reply, Rollout, call, rollout
from rlenv_plugin_agent.messages import Message
from rlenv_plugin_agent.rollouts.records import from_row, to_row
from sums import TASK, sums


@stage(where="inline")
def rich(visible: str) -> Outcome:
    return Outcome(0.5, "half", {"n": [1, {"x": None}]}, steps=[(0, 0.25)], private={"gold": "5"})


@stage(where="inline")
def broken(visible: str) -> float:
    raise OSError("no disk")


def policy(messages: list[Message], tools: object) -> object:
    said = "5" if len(messages) > 1 else call("add", a=2, b=3)
    return Reply(said, Tokens([1, 2], [3, 4], [-0.5, 0.0]))


def through_json(found: Rollout) -> Rollout:
    return from_row(json.loads(json.dumps(to_row(found))))


@pytest.mark.parametrize(
    "env",
    [
        sums(),
        Environment("rich", rich),
        Environment("nested", [rich, sums().root]),
        Environment("broken", broken),
    ],
    ids=["tools", "rich", "nested", "broken"],
)
def test_a_rollout_survives_json(env: Environment) -> None:
    found = rollout(env, TASK, policy, seed=7)

    assert through_json(found) == found


@settings(max_examples=30, deadline=None)
@given(st.text(max_size=20), st.text(max_size=20), st.integers(0, 1 << 62))
def test_any_text_and_seed_survives_json(prompt: str, said: str, seed: int) -> None:
    found = rollout(sums(), Task(prompt, answer=said, info={said: [1.5]}), lambda m, t: said, seed)

    assert through_json(found) == found


def test_a_million_ids_survive_json() -> None:
    tokens = Tokens(range(1_000_000), range(10))
    found = rollout(sums(), TASK, lambda m, t: Reply("5", tokens))

    assert through_json(found).trajectory.tokens == (tokens,)


def test_a_row_names_its_schema_and_fingerprint() -> None:
    row = to_row(rollout(sums(), TASK, policy))

    assert (row["schema"], row["fingerprint"]) == ("rlenv.rollout/1", sums().fingerprint)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("schema", "rlenv.rollout/9"),
        ("stop", "won"),
        ("messages", [3]),
        ("messages", None),
        ("task", {"prompt": 3}),
        ("task", {"prompt": "x", "evil": 1}),
        ("trace", [[1]]),
        ("trace", [[1, 2, 3, True, [["add"]]]]),
        ("seed", "0"),
        ("verdict", {}),
        ("tokens", [{"prompt_ids": [1], "ids": ["a"]}]),
        ("seconds", None),
        ("children", [{}]),
        ("children", [{"messages": [1], "tokens": [], "depth": 1, "stop": "done"}]),
    ],
)
def test_a_row_that_is_damaged_is_an_error(path: str, value: object) -> None:
    row = to_row(rollout(sums(), TASK, policy)) | {path: value}

    with pytest.raises(ConfigError, match="not a rollout"):
        from_row(row)
    with pytest.raises(ConfigError, match="not a rollout"):
        from_row([row])


@pytest.mark.parametrize("value", [2.0, float("nan"), "1", True])
def test_a_row_cannot_claim_a_reward_that_no_verdict_has(value: object) -> None:
    row = to_row(rollout(sums(), TASK, policy))
    row["verdict"] = {**row["verdict"], "value": value}  # type: ignore[dict-item]

    with pytest.raises(ConfigError, match="not a rollout"):
        from_row(row)
