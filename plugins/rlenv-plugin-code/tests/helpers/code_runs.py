"""Runs of ``code/run`` for tests: in plain processes, since what is tested is what the judge makes
of them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from rlenv.compose.stages import Attempt
from rlenv.model.errors import ConfigError
from rlenv.model.values import Outcome, Task
from rlenv.sandbox import get
from rlenv_plugin_code.artifacts import Answer, Answers
from rlenv_plugin_code.drive.box import Box
from rlenv_plugin_code.stages.run import Run

__all__ = ["closed_sandbox", "function_task", "jailed", "judged", "run", "task_of"]


def task_of(tests: dict[str, Any], prompt: str = "Write the program.") -> Task:
    return Task(prompt, info={"tests": tests}, id="the task")


def function_task(*inputs: Any, name: str = "f", **more: Any) -> Task:
    """A task whose cases call ``f`` with one argument each."""
    cases = [{"args": [value], "expected": None} for value in inputs]
    return task_of({"kind": "function", "entry_point": name, "cases": cases, **more})


def judged(task: Task, response: str, **options: Any) -> tuple[Outcome, Answers]:
    """The outcome and the answers of one response."""
    isolation = options.pop("isolation", "process")
    stage = Run(isolation=isolation, min_isolation=isolation, **options)
    stage.validate(task)
    attempt = Attempt(task, response)
    outcome = asyncio.run(stage.check(attempt))
    return outcome, attempt.get(Answers)


def run(task: Task, response: str, **options: Any) -> tuple[Answer, ...]:
    """The answers of one response."""
    return judged(task, response, **options)[1].answers


def jailed() -> None:
    """Skip where this machine gives no jail."""

    async def tried() -> None:
        session = await get("jail").open(Box().profile("python"))
        await session.close()

    try:
        asyncio.run(tried())
    except ConfigError as err:
        pytest.skip(f"no jail here: {err}")


@pytest.fixture(scope="module")
def closed_sandbox() -> Iterator[None]:
    """The warm processes of a module end with it."""
    yield
    for name in ("process", "jail"):
        asyncio.run(get(name).aclose())
