"""A sandbox of another distribution: found by its name, measured by the tier that its class
declares.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from code_runs import jailed
from rlenv import ConfigError, Environment, Task, TaskError
from rlenv.plugins.registry import registry
from rlenv_plugin_code.stages.run import Run

PLUGIN = """
from rlenv.hooks import hookimpl
RLENV_API = 1

@hookimpl
def rlenv_parts():
    home = "third_sandbox.adapters"
    names = ("Strong", "Weak", "Odd", "Untold", "Liar")
    return {"sandbox": {name: f"{home}:{name}" for name in names}}
"""
ADAPTERS = """
from rlenv_plugin_sandbox.jail import Jail
from rlenv_plugin_sandbox.process import Process

class Strong(Jail):
    tier = "jail"

class Weak(Jail):
    tier = "container"

class Odd(Jail):
    tier = "fortress"

class Untold:
    def __init__(self, **options): self.inner = Jail(**options)
    async def open(self, profile): return await self.inner.open(profile)
    async def aclose(self): await self.inner.aclose()
    def diagnose(self): return self.inner.diagnose()

class Liar(Untold):
    tier = "microvm"
    def __init__(self): self.inner = Process()
    async def open(self, profile):
        from attrs import evolve
        return await self.inner.open(evolve(profile, min_isolation="process"))
"""
TASK = Task(
    "Write f(): 1.",
    info={
        "tests": {"kind": "function", "entry_point": "f", "cases": [{"args": [], "expected": 1}]}
    },
    id="one",
)


@pytest.fixture(autouse=True)
def third(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An installed distribution with five sandboxes."""
    package = tmp_path / "third_sandbox"
    info = tmp_path / "rlenv_third_sandbox-1.0.dist-info"
    package.mkdir()
    (package / "__init__.py").write_text(PLUGIN)
    (package / "adapters.py").write_text(ADAPTERS)
    info.mkdir()
    (info / "METADATA").write_text("Name: rlenv-third-sandbox\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[rlenv]\nthird = third_sandbox\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr("rlenv.sandbox.port._open", {})
    yield
    registry().unregister("third")
    for name in ("third_sandbox.adapters", "third_sandbox"):
        sys.modules.pop(name, None)


def environment(**options: Any) -> Environment:
    stages = [
        {"use": "code/run", "weight": 0, "options": options},
        {"use": "code/diff", "options": options},
    ]
    return Environment.from_dict({"name": "third", "stage": stages})


@pytest.mark.parametrize("name", ["Strong", "Untold"])
def test_a_sandbox_of_another_distribution_runs_programs(name: str) -> None:
    jailed()
    with environment(isolation=f"third/{name}") as env:
        verdict = env.evaluate(TASK, "```python\ndef f(): return 1\n```")
        wrong = env.evaluate(TASK, "```python\ndef f(): return 2\n```")

    assert (verdict.value, wrong.value) == (1.0, 0.0)
    outcome = verdict.results[0].outcome
    assert outcome is not None
    assert outcome.data["isolation"] == "jail"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"isolation": "third/Weak"}, "'third/Weak' is of tier 'container'"),
        ({"isolation": "third/Odd"}, "'fortress'.*a tier is one of process"),
        ({"isolation": "third/Stron"}, 'did you mean "Strong"'),
        ({"isolation": "thrid/Strong"}, "third"),
        ({"isolation": "jial"}, 'did you mean "jail"'),
        (
            {"isolation": "third/Strong", "min_isolation": "gvisor"},
            "less than min_isolation 'gvisor'",
        ),
        ({"isolation": "third/Strong", "sandbox": {"plces": 1}}, "plces"),
    ],
)
def test_a_mistake_is_told_when_the_environment_is_made(options: Any, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        environment(**options)


def test_several_mistakes_are_told_together() -> None:
    with pytest.raises(ConfigError) as caught:
        Environment.from_dict(
            {
                "name": "third",
                "stage": [
                    {"use": "code/run", "options": {"isolation": "jial"}},
                    {"use": "code/diff", "options": {"isolation": "third/Stron"}},
                ],
            }
        )
    assert "jail" in str(caught.value)
    assert "Strong" in str(caught.value)


def test_a_tier_counts_for_tasks_that_ask_for_one() -> None:
    info: Any = TASK.info["tests"]
    task = Task(TASK.prompt, info={"tests": {**info, "min_isolation": "gvisor"}}, id="more")
    with pytest.raises(TaskError, match="isolation 'third/Strong' is of tier 'jail'"):
        Run(isolation="third/Strong").validate(task)


def test_what_a_session_has_counts_for_more_than_what_a_class_declares() -> None:
    with pytest.raises(TaskError, match="gave a session of tier 'process'"):
        Run(isolation="third/Liar").validate(TASK)
