"""A stranger begins a plugin and an environment, uses both, and publishes them: outside this
repository.
"""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

MIXED = """
name = "mixed"

[[stage]]
use = "my-checks/answer"
weight = 0.25

[[stage]]
use = "math/equal"
weight = 0.75

[[task]]
id = "sum"
prompt = "What is 1/2 + 1/4? End with a line `Answer: ...`."
answer = "3/4"
"""

LOADED = """
from rlenv import Environment

with Environment.load("my-tasks") as env:
    print([env.verify(task, str(task.answer)) for task in env.tasks])
"""


def use_both(fresh: Any, folder: Path) -> None:
    """The plugin in an env.toml beside math/equal, the environment by its name."""
    mixed = [
        {"task": "sum", "response": "Answer: 3/4"},
        {"task": "sum", "response": "Answer: 0.75"},
        {"task": "sum", "response": "Answer: 1/4"},
    ]
    capitals = [
        {"task": "france", "response": "paris"},
        {"task": "norway", "response": "Bergen"},
    ]
    (folder / "env.toml").write_text(MIXED, "utf-8")

    assert scored(fresh, folder, "env.toml", mixed) == [1.0, 0.75, 0.0]
    assert scored(fresh, folder, "my-tasks", capitals) == [1.0, 0.0]
    assert fresh.runs("python", "-c", LOADED, folder=folder) == "[1.0, 1.0, 1.0]\n"
    assert "rlenv-env-my-tasks" in fresh.runs("rlenv", "envs", folder=folder)
    assert "rlenv-plugin-my-checks" in fresh.runs("rlenv", "plugins", folder=folder)


def certified(fresh: Any, folder: Path, *settings: str) -> None:
    fresh.runs(
        "rlenv", "check", "my-checks", "--certificate", "cert.json", *settings, folder=folder
    )
    certificate = json.loads((folder / "cert.json").read_text("utf-8"))

    laws = ["--pyargs", "rlenv_testing.laws", "--rlenv-plugin", "my-checks", "--rlenv-law", "range"]
    assert " passed" in fresh.runs("python", "-m", "pytest", "-q", *laws, folder=folder)
    assert certificate["certified"] is True
    assert certificate["failed"] == 0
    assert certificate["plugins"][0]["distribution"] == "rlenv-plugin-my-checks"


def scored(fresh: Any, folder: Path, env: str, rows: list[dict[str, str]]) -> list[float]:
    (folder / "responses.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in rows), "utf-8"
    )
    told = ["-o", "scores.jsonl", "--overwrite", "--quiet"]
    fresh.runs("rlenv", "score", env, "responses.jsonl", *told, folder=folder)
    lines = (folder / "scores.jsonl").read_text("utf-8").splitlines()[1:]
    return [json.loads(line)["reward"] for line in lines]


def publish(fresh: Any, folder: Path) -> Path:
    """Build the wheel with the command of its README, which needs no other package, and return
    it.
    """
    (line,) = [
        line
        for line in (folder / "README.md").read_text("utf-8").splitlines()
        if "wheel" in line[:10]
    ]
    words = shlex.split(line, comments=True)
    assert words[0] == "pip"
    fresh.pip(words[1], "--no-build-isolation", *words[2:], folder=folder)
    (wheel,) = (folder / "dist").glob("*.whl")
    return wheel


@pytest.mark.slow  # builds, installs and checks two distributions in an environment of their own
def test_what_rlenv_new_makes_can_be_used_tested_and_published(
    stranger: Any, tmp_path: Path
) -> None:
    fresh = stranger("rlenv-testing", "rlenv-plugin-math", "hatchling", "editables")
    desk = tmp_path / "desk"
    desk.mkdir()
    fresh.runs("rlenv", "new", "plugin", "my-checks", folder=desk)
    fresh.runs("rlenv", "new", "env", "my-tasks", folder=desk)
    plugin = desk / "rlenv-plugin-my-checks"
    tasks = desk / "rlenv-env-my-tasks"

    for folder in (plugin, tasks):
        fresh.pip("install", "--no-deps", "--no-build-isolation", "-e", ".", folder=folder)
        assert " passed" in fresh.runs("python", "-m", "pytest", "-q", folder=folder)
    certified(fresh, desk, "--examples", "20")
    use_both(fresh, desk)

    wheels = [str(publish(fresh, folder)) for folder in (plugin, tasks)]
    fresh.pip("uninstall", "--yes", "rlenv-plugin-my-checks", "rlenv-env-my-tasks")
    fresh.pip("install", "--no-deps", "--no-index", *wheels)
    assert "No broken requirements" in fresh.pip("check")
    certified(fresh, desk, "--examples", "5")
    use_both(fresh, desk)
