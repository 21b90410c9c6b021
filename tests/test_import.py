"""What `import rlenv` brings, and what it does not."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
import rlenv

HEAVY = {
    "asyncio", "cattrs", "click", "cloudpickle", "hypothesis", "mpmath", "multiprocessing", "numpy",
    "pluggy", "pyarrow", "pytest", "rich", "rlenv_plugin_math", "sympy", "tomli", "tomllib",
}  # fmt: skip

PUBLIC = {
    "AllOf", "AnyOf", "Attack", "Attempt", "Composite", "ConfigError", "Environment", "Equal",
    "Examples", "Fault", "First", "GroupStage", "InputError", "Outcome", "Pipeline", "PluginError",
    "Product", "Quorum", "Rewrite", "RlenvError", "RowExecutor", "ScoreError", "Slot", "Stage",
    "StageResult", "Task", "TaskError", "Tokens", "Trajectory", "UnknownTask", "Verdict",
    "VerifierFault", "WorkExceeded", "hookimpl", "stage",
}  # fmt: skip


def modules_after(code: str) -> set[str]:
    """Top-level modules of a fresh interpreter that has run ``code``."""
    tail = (
        "\nimport sys, json; print(json.dumps(sorted({m.partition('.')[0] for m in sys.modules})))"
    )
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", code + tail],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(json.loads(ran.stdout.splitlines()[-1]))


def test_importing_rlenv_imports_nothing_heavy() -> None:
    assert modules_after("import rlenv") & HEAVY == set()


def test_scoring_with_objects_imports_nothing_heavier() -> None:
    code = """
from rlenv import Environment, Equal, Pipeline, Slot, Task
task = Task("Capital of France?", "Paris")
env = Environment("capitals", Pipeline([Slot("equal", Equal())]), [task])
assert env.verify(task, "Paris") == 1.0
"""
    assert modules_after(code) & HEAVY == set()


def test_a_number_is_compared_without_sympy() -> None:
    code = """
from rlenv import Environment, Task
env = Environment.from_dict({"name": "n", "stage": [{"use": "math/equal"}]})
assert env.verify(Task("?", "1/2"), r"\\boxed{0.5}") == 1.0
"""
    assert (
        modules_after(code) & {"sympy", "mpmath", "rich", "click", "pytest", "hypothesis"} == set()
    )


def test_the_command_line_loads_only_the_command_it_runs() -> None:
    loaded = modules_after("import rlenv.__main__")

    assert loaded & HEAVY == set()


def test_the_public_names_are_these() -> None:
    assert set(rlenv.__all__) == PUBLIC
    assert list(rlenv.__all__) == sorted(rlenv.__all__)


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_every_public_name_is_there_and_documented(name: str) -> None:
    value = getattr(rlenv, name)

    assert name == "hookimpl" or value.__doc__


def test_a_wrong_name_is_told_so() -> None:
    with pytest.raises(AttributeError, match="'rlenv' has no attribute 'Enviroment'"):
        rlenv.Enviroment  # noqa: B018


def test_the_version_is_that_of_the_distribution() -> None:
    from importlib.metadata import version

    assert rlenv.__version__ == version("rlenv-core")
