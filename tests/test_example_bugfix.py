"""examples/bugfix: the expert is paid, and neither edited tests nor forged output are; in the real
jail.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from episodes import EXAMPLES, module_of, played, rewards
from rlenv import Environment
from rlenv import sandbox as port

FOLDER = EXAMPLES / "bugfix"
ALL = pytest.param(12, marks=pytest.mark.slow)  # a hundred programs in the jail


@pytest.fixture(scope="module")
def env() -> Iterator[Environment]:
    with Environment.from_file(FOLDER / "env.toml") as made:
        yield made
    port.close_all()


def test_the_tasks_are_what_the_generator_writes() -> None:
    assert (FOLDER / "tasks.jsonl").read_text() == module_of("bugfix", "write_tasks").written()


@pytest.mark.parametrize(("policy", "reward"), [("expert", 1.0), ("idle", 0.0), ("cheater", 0.0)])
@pytest.mark.parametrize("many", [2, ALL])
def test_only_the_expert_is_paid(env: Environment, policy: str, reward: float, many: int) -> None:
    found = played(env, getattr(module_of("bugfix", "policies"), policy), many=many)

    assert len(found) == many
    assert rewards(found) == {reward}


def paid(env: Environment, name: str, source: str) -> float | None:
    return env.evaluate(env.tasks.by_id(name), f"```python\n{source}\n```").value


def test_every_bug_is_seen_by_a_test_that_comes_with_it(env: Environment) -> None:
    for name in module_of("bugfix", "write_tasks").BUGS:
        task = env.tasks.by_id(name)
        files = task.info["files"]
        assert isinstance(files, dict)
        shown: dict[str, Any] = {}
        exec(files[f"{name}.py"], shown)
        tests = task.info["tests"]
        assert isinstance(tests, dict)
        assert any(shown[name](*case["args"]) != case["expected"] for case in tests["cases"][:2])
        assert "tests" not in task.public()


def test_another_way_to_mend_is_paid_and_what_tests_show_is_not_enough(env: Environment) -> None:
    assert (
        paid(
            env,
            "median",
            "import statistics\n\ndef median(values):\n    return float(statistics.median(values))",
        )
        == 1.0
    )
    assert paid(env, "leap", "from calendar import isleap as leap") == 1.0
    seen = "def leap(year):\n    return {2024: True, 2000: True}.get(year, False)"
    assert paid(env, "leap", seen) == 0.0
    assert paid(env, "leap", "def leap(year):\n    return year % 4 == 0 and year % 100 != 0") == 0.0
