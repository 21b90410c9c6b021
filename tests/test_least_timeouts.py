"""No response can reach the deadline of a stage before the stage's own limits end it with a score.

A deadline that is reached leaves the response unscored, so a response that loops would buy that.
"""

from __future__ import annotations

import inspect
from typing import Any

import pytest
from attrs import fields_dict
from rlenv import ConfigError, Environment, Slot, Task
from rlenv.authoring import StageTables
from rlenv.compose.stages import attribute, budget_of
from rlenv.plugins.registry import registry
from rlenv_plugin_agent.stages.turns import Turns

OPTIONS = {"timeout", "budget", "seconds"}  # what a limit of a response's time is called
JUDGES = "judge/"  # a judge's limits are those of its server; where they end it, no score follows
LOOPS = "while True: pass"
FUNCTION = {"kind": "function", "entry_point": "f", "cases": [{"args": [1], "expected": 1}]}
SUITE = {
    "kind": "suite",
    "golden": "def f(x):\n    return abs(x) + 1",
    "entry_point": "f",
    "inputs": [["int", -9, 9]],
}
GOLDEN = {
    "kind": "golden",
    "golden": "def f(x):\n    return x + 1",
    "entry_point": "f",
    "count": 3,
    "inputs": [["int", 0, 9]],
}


def installed() -> list[str]:
    known = registry()
    return [f"{info.name}/{short}" for info in known.infos() for short in known.stages(info.name)]


def limited() -> list[str]:
    """The stages that run in a worker or on a loop and limit what a response may take."""
    found = []
    for name in installed():
        cls = registry().stage_type(name)
        options = set(fields_dict(cls)) if hasattr(cls, "__attrs_attrs__") else set()
        is_async = inspect.iscoroutinefunction(getattr(cls, "check", None))
        if is_async and OPTIONS & options and not name.startswith(JUDGES):
            found.append(name)
    return found


def test_the_stages_with_limits_are_found() -> None:
    assert {"code/run", "code/tests", "code/speed", "cuda/run", "cuda/compile"} <= set(limited())


@pytest.mark.parametrize("name", limited())
def test_a_timeout_that_a_response_could_reach_is_an_error(name: str) -> None:
    stage: Any = registry().stage_type(name)()
    least = attribute(stage, "least_timeout")
    assert least is not None, f"{name} limits a response and declares no least_timeout"
    said = f"s .*: its timeout of {least / 2:g} wall seconds is shorter than the {least:g} s"
    with pytest.raises(ConfigError, match=said):
        Environment("e", [Slot("s", stage, weight=1.0, timeout=least / 2)])


@pytest.mark.parametrize("name", [name for name in installed() if not name.startswith(JUDGES)])
def test_a_plain_stage_with_a_budget_has_the_time_for_it(name: str) -> None:
    cls: Any = registry().stage_type(name)
    if not isinstance(getattr(cls, "budget", None), (int, float)):
        return
    if budget_of(cls) is not None:
        said = "contradicts its budget"
        with pytest.raises(ConfigError, match=said):
            Environment("e", [Slot("s", cls(), timeout=cls.budget)])


def test_an_env_toml_is_told_its_slot_both_numbers_and_a_remedy_that_works() -> None:
    def made(**slot: Any) -> Environment:
        return Environment.from_dict(
            {"name": "e", "stage": [{"use": "code/run", "name": "ran", **slot}]}
        )

    with pytest.raises(ConfigError, match=r"ran \(code/run\): .* of 60 .* the 300 s .* budget"):
        made(timeout=60, options={"budget": 5.0})
    made(timeout=300, options={"budget": 5.0}).close()
    made(timeout=60, options={"budget": 1.0}).close()


def test_process_rewards_have_the_time_of_their_stages() -> None:
    turns = Turns(StageTables([{"use": "code/run", "options": {"budget": 1.0}}]))
    assert turns.default_timeout == turns.least_timeout == 64 * 60.0
    with pytest.raises(ConfigError, match="its timeout of 600 wall seconds is shorter"):
        Environment("e", [Slot("s", turns, timeout=600.0)])
    assert Turns(StageTables([{"use": "core/equal"}])).least_timeout is None


@pytest.mark.parametrize(
    ("use", "tests", "program"),
    [
        ("code/run", FUNCTION, "def f(x):\n    " + LOOPS),
        ("code/run", FUNCTION, "import time\ndef f(x):\n    time.sleep(99)"),
        ("code/run", GOLDEN, "def f(x):\n    " + LOOPS),
        ("code/tests", SUITE, "def check(f):\n    f(1)\n    " + LOOPS),
        ("code/speed", GOLDEN, "def f(x):\n    " + LOOPS),
    ],
)
def test_a_response_that_loops_ends_in_a_score(
    use: str, tests: dict[str, Any], program: str
) -> None:
    """Within the smallest timeout that is allowed."""
    stage: Any = registry().stage_type(use)(budget=1.0, timeout=0.5)
    with Environment("e", [Slot("s", stage, timeout=stage.least_timeout)]) as env:
        verdict = env.evaluate(Task("p", info={"tests": tests}), f"```python\n{program}\n```")
    assert (verdict.value, verdict.fault) == (0.0, None)


@pytest.mark.parametrize("seconds", [0.1, 0.16, 0.25])
def test_a_slow_response_leaves_the_golden_program_its_time(seconds: float) -> None:
    """It is measured for as long as its own budget lasts; when the golden one had to share that, it
    was unscored.
    """
    program = f"import time\ndef f(x):\n    time.sleep({seconds})\n    return x + 1"
    stage: Any = registry().stage_type("code/speed")(budget=1.0, timeout=0.5)
    with Environment("e", [Slot("s", stage)]) as env:
        verdict = env.evaluate(Task("p", info={"tests": GOLDEN}), f"```python\n{program}\n```")
    assert verdict.fault is None
    assert verdict.value is not None
