"""Rollouts of every example of agents are stored, read and played again, and nothing differs."""

from __future__ import annotations

import json

import pytest
from episodes import EXAMPLES, module_of
from rlenv import Environment
from rlenv_plugin_agent import replay, rollout
from rlenv_plugin_agent.rollouts.records import from_row, to_row

TIMED = {"bugfix"}  # its programs print how long they ran
NAMES = sorted({path.parent.name for path in EXAMPLES.glob("*/policies.py")} - TIMED)


@pytest.mark.parametrize("name", NAMES)
def test_stored_rollouts_of_an_example_replay(name: str) -> None:
    made = module_of(name, "policies")
    with Environment.from_file(EXAMPLES / name / "env.toml") as env:
        for policy in (made.expert, made.idle, made.cheater):
            played = rollout(env, env.tasks[0], policy, 3)
            stored = from_row(json.loads(json.dumps(to_row(played))))
            assert played.stop != "error"
            assert replay(stored, env) is None
