"""``code/run`` as a stage: its options, what it refuses at load, and how it is in an
environment.
"""

from __future__ import annotations

from typing import Any

import pytest
from code_runs import closed_sandbox, function_task, jailed, judged, task_of
from rlenv import Environment
from rlenv.model.errors import ConfigError, PluginError, TaskError, VerifierFault
from rlenv.model.values import Fault
from rlenv.workers import wire
from rlenv_plugin_code.artifacts import SENT_BYTES
from rlenv_plugin_code.drive import proof
from rlenv_plugin_code.drive.box import Box
from rlenv_plugin_code.stages.run import Run

pytestmark = pytest.mark.usefixtures("closed_sandbox")
__all__ = ["closed_sandbox"]
PLAIN: dict[str, Any] = {"isolation": "process", "min_isolation": "process"}


@pytest.mark.parametrize(
    "options",
    [
        {"isolation": "chroot"},
        {"min_isolation": "none"},
        {"timeout": 0},
        {"budget": -1.0},
        {"memory_mb": 0},
        {"memory_mb": 1 << 40},
        {"repeat": 0},
        {"retries": 11},
        {"prefix": "all"},
        {"language": "cobol"},
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises((ValueError, ConfigError)):
        Run(**{**PLAIN, **options})


def test_a_weaker_isolation_than_asked_for_is_never_chosen_silently() -> None:
    with pytest.raises(ConfigError, match="lower min_isolation"):
        Run(isolation="process")
    with pytest.raises(ConfigError, match="container"):
        Run(isolation="docker")
    Run(isolation="docker+gvisor")
    Run(isolation="docker", min_isolation="container")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"sandbox": {"plces": 1}}, "plces"),
        ({"isolation": "docker", "min_isolation": "container"}, "pip install docker"),
    ],
)
def test_a_sandbox_that_cannot_be_had_is_told_when_the_environment_is_made(
    options: dict[str, Any], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rlenv.sandbox.port._open", {})  # what other tests made
    monkeypatch.setattr("rlenv_plugin_sandbox.docker.adapter.find_spec", lambda name: None)
    with pytest.raises(ConfigError, match=said):
        Environment.from_dict({"name": "x", "stage": [{"use": "code/run", "options": options}]})


def test_a_task_may_ask_for_more_isolation_than_there_is() -> None:
    with pytest.raises(TaskError, match="gvisor") as caught:
        Run(**PLAIN).validate(function_task(1, min_isolation="gvisor"))
    assert caught.value.task_id == "the task"


def test_a_task_with_more_time_than_the_budget_is_refused() -> None:
    with pytest.raises(TaskError, match="raise budget"):
        Run(**PLAIN, budget=5.0).validate(function_task(1, time=6.0))


def test_keyword_arguments_of_a_language_without_any_are_refused() -> None:
    cases = [{"args": [], "kwargs": {"x": 1}, "expected": 1}]
    task = task_of(
        {"kind": "function", "entry_point": "f", "language": "javascript", "cases": cases}
    )
    with pytest.raises(TaskError, match="no keyword arguments"):
        Run(**PLAIN).validate(task)


@pytest.mark.parametrize(
    "error",
    [
        ConfigError("no namespaces: sysctl kernel.unprivileged_userns_clone=1"),
        PluginError("no plugin"),
        VerifierFault(Fault("unavailable", "no docker daemon")),
    ],
)
def test_a_sandbox_that_cannot_be_had_is_told_at_load_with_the_task(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    class Refusing:
        async def open(self, _: Any) -> Any:
            raise error

        async def aclose(self) -> None:
            pass

    monkeypatch.setattr(Box, "make", lambda _: Refusing())
    monkeypatch.setattr(proof, "_usable", set())
    with pytest.raises(TaskError, match="cannot be run here") as caught:
        Run(**PLAIN).validate(function_task(1))
    assert caught.value.task_id == "the task"


def test_a_preload_that_does_not_import_is_told_at_load() -> None:
    with pytest.raises(TaskError, match="no_such_module"):
        Run(**PLAIN, preload=["no_such_module"]).validate(function_task(1))


def test_preloaded_modules_are_there() -> None:
    outcome, answers = judged(
        function_task(1),
        "import sys\ndef f(x): return 'fractions' in sys.modules",
        preload=["fractions"],
    )
    assert outcome.score == 1
    assert answers.answers[0].value is True


LARGE: dict[str, tuple[str, dict[str, Any]]] = {
    "a list": ("def f(x): return list(range(1_000_000))", {}),
    "lists of lists": ("def f(x): return [[]] * 500_000", {}),
    "commas": (
        "print(',' * (6 << 20))",
        {"kind": "stdio", "cases": [{"stdin": "", "stdout": "," * (8 << 20)}] * 3},
    ),
    "golden": (
        "def f(x): return [0] * 1_000_000",
        {
            "kind": "golden",
            "golden": "def f(x): return [0] * 900_000",
            "inputs": [["int", 0, 9]],
            "count": 3,
        },
    ),
}


SLOW = pytest.mark.slow  # seconds of pickling; the others are as large
OTHERS = ("lists of lists", "golden")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[SLOW] * (name in OTHERS)) for name in LARGE]
)
def test_large_answers_are_wrong_and_not_too_much_for_a_worker(name: str) -> None:
    source, more = LARGE[name]
    task = function_task(*range(3))
    if more:
        entry = {} if more["kind"] == "stdio" else {"entry_point": "f"}
        task = task_of({**entry, **more})
    stages = [
        {"use": f"code/{stage}", "options": PLAIN} for stage in ("compile", "run", "diff", "limits")
    ]
    with Environment.from_dict({"name": "e", "stage": stages}) as env:
        verdict = env.evaluate(task, f"```python\n{source}\n```")

    assert verdict.fault is None
    assert [result.outcome and result.outcome.score for result in verdict.results] == [1, 1, 0, 1]


def test_what_answers_and_executable_come_to_is_less_than_a_worker_may_send() -> None:
    assert SENT_BYTES * 4 / 3 < wire.LONGEST - (1 << 20)


def test_the_whole_of_it_in_a_jail_in_workers() -> None:
    jailed()
    stages = [{"use": "code/run", "weight": 0}, {"use": "code/diff", "options": {"score": "all"}}]
    cases = [{"args": [n], "expected": n + 1} for n in range(3)]
    task = task_of({"kind": "function", "entry_point": "f", "cases": cases})
    with Environment.from_dict({"name": "jailed", "stage": stages}) as env:
        pairs = [(task, f"def f(x): return x + {n % 2}") for n in range(8)]
        verdicts = list(env.evaluate_many(pairs, workers=2))
    assert [verdict.value for verdict in verdicts] == [0.0, 1.0] * 4
    outcome = verdicts[1].results[0].outcome
    assert outcome is not None
    assert outcome.data["isolation"] == "jail"
