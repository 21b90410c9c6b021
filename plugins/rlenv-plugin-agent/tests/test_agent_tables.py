"""``[harness]`` and ``[config]`` of an env.toml: read, shown, and part of the fingerprint."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from rlenv import ConfigError, Environment, Task
from rlenv_plugin_agent import Harness, call, rollout

TOOLS = '''
def shout(text: str) -> str:
    """Make a text loud."""
    return text.upper()


def user(action, task):
    return None if action is None else "go on"
'''
ENV = """
name = "loud"

[harness]
kind = "tool-use"
tools = ["./tools.py:shout"]
user = "./tools.py:user"
turn_limit = 5

[config]
context_budget = 4096
sampling = { temperature = 0.5 }

[config.budgets]
calls = 3
seconds = 60

[config.schedule]
context_budget = [[10, 8192]]

[config.schedule.steps]
"budgets.seconds" = [[1000, 120]]

[[stage]]
use = "core/equal"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "tools.py").write_text(TOOLS)
    (tmp_path / "env.toml").write_text(ENV)
    return tmp_path


def test_an_episode_of_an_env_toml(folder: Path) -> None:
    env = Environment.from_file(folder / "env.toml")
    found = rollout(env, Task("p", answer="x"), lambda messages, tools: call("shout", text="a"))

    assert found.trajectory.messages[2] == {
        "role": "tool",
        "tool_call_id": "call_0_0",
        "content": "A",
    }
    assert found.stop == "budget"


def test_the_files_of_tools_are_imported_by_the_first_episode(folder: Path) -> None:
    (folder / "tools.py").write_text("raise SystemExit\n" + TOOLS)
    env = Environment.from_file(folder / "env.toml")
    assert "./tools.py:shout" in env.tables["harness"].show()  # type: ignore[attr-defined]


def test_tools_in_files_are_rejected_where_no_code_may_be_loaded(folder: Path) -> None:
    with pytest.raises(ConfigError, match=r"harness\.tools\[0\]: .*code=False"):
        Environment.from_file(folder / "env.toml", code=False)


def test_what_a_harness_is_made_of_is_in_the_fingerprint(folder: Path) -> None:
    def fingerprint() -> str:
        return Environment.from_file(folder / "env.toml").fingerprint

    found = {fingerprint(), fingerprint()}
    assert len(found) == 1
    for file, old, new in (
        ("tools.py", "go on", "stop"),
        ("env.toml", "turn_limit = 5", "turn_limit = 6"),
        ("env.toml", "calls = 3", "calls = 4"),
    ):
        text = (folder / file).read_text()
        (folder / file).write_text(text.replace(old, new))
        found.add(fingerprint())

    assert len(found) == 4


def test_functions_that_differ_have_other_fingerprints() -> None:
    def environment(harness: Harness) -> Environment:
        return Environment("x", lambda visible: 1.0, tables={"harness": harness})

    def one(action: object) -> object:
        return action

    def two(action: object) -> object:
        return None

    hashes = {environment(Harness("multi-turn", user=each)).fingerprint for each in (one, two, one)}
    assert len(hashes) == 2


FINGERPRINT = """
from rlenv import Environment
tables = {
    "harness": {"kind": "tool-use", "tools": ["calculator", "sqlite"]},
    "subagent": {"tools": ["calculator"]},
}
given = {"name": "e", **tables, "state": {}, "stage": [{"use": "core/equal"}]}
print(Environment.from_dict(given).fingerprint)
"""


def test_the_fingerprint_of_tools_is_that_of_another_process() -> None:
    found = {
        subprocess.run(
            [sys.executable, "-c", FINGERPRINT],
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in range(4)
    }
    assert len(found) == 1


def test_show_tells_what_tools_and_state_an_episode_has() -> None:
    tables = {"state": {"values": {"day": 3}}, "subagent": {"tools": ["calculator"]}}
    stages = [{"use": "core/equal"}]
    env = Environment.from_dict({"name": "e", "stage": stages, **tables})
    state = env.tables["state"].show()  # type: ignore[attr-defined]
    subagent = env.tables["subagent"].show()  # type: ignore[attr-defined]

    assert state == "S  per-episode, values day"
    assert subagent.startswith("task: Hand a piece of work")


def test_show_tells_what_an_episode_is_made_of(folder: Path) -> None:
    env = Environment.from_file(folder / "env.toml")
    harness = env.tables["harness"].show()  # type: ignore[attr-defined]
    config = env.tables["config"].show()  # type: ignore[attr-defined]

    assert harness.startswith("H  tool-use, at most 5 turns, 1 tool, user ./tools.py:user")
    assert (
        config
        == "C  temperature 0.5, context_budget 4,096, calls 3, seconds 60, context_budget 8,192"
        " from turn 10, budgets.seconds 120 from step 1,000"
    )


@pytest.mark.parametrize(
    ("old", "new", "path"),
    [
        ('"tool-use"', '"tools"', "harness.kind"),
        ("turn_limit = 5", "turn_limit = 0", "harness.turn_limit"),
        ("calls = 3", 'calls = "3"', "config.budgets.calls"),
        ("calls = 3", "call = 3", "config.budgets.call"),
        ("shout", "whisper", "harness.tools"),
        ("[[10, 8192]]", "[[10]]", "config.schedule.context_budget"),
        ("budgets.seconds", "budgets.minutes", "config.schedule"),
        ("120", "-1", "config"),
    ],
)
def test_a_mistake_is_reported_with_its_path(folder: Path, old: str, new: str, path: str) -> None:
    (folder / "env.toml").write_text(ENV.replace(old, new))
    with pytest.raises(ConfigError, match=path.replace(".", r"\.")):
        Environment.from_file(folder / "env.toml")
