"""What is tried when tasks load: whether there is such a sandbox, and whether golden programs pass
their own tasks.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from threading import Thread
from typing import Any, TypeVar

from rlenv import Task, TaskError
from rlenv.sandbox import Profile

from rlenv_plugin_code.artifacts import Answer
from rlenv_plugin_code.compare import same
from rlenv_plugin_code.prepared import Prepared
from rlenv_plugin_code.spec import Tests
from rlenv_plugin_code.stdout import same_output

from .box import Box
from .runs import Runs
from .work import Inputs, golden_answers, inputs_of

__all__ = ["prove", "usable"]

T = TypeVar("T")
_usable: set[tuple[object, ...]] = set()


def prove(runs: Runs, task: Task, ready: Prepared) -> None:
    """Run the golden program of a task on the task's own cases.

    Of a golden task, on inputs drawn for nobody.

    Raises:
        TaskError: it fails one.
    """
    answers = _now(_answers(runs, task, ready))
    cases = ready.tests.scored
    for number, answer in enumerate(answers, 1):
        if answer.status != "ok":
            raise TaskError(
                f"tests.golden fails case {number}: {answer.status}, {answer.error}", task.id
            )
        if ready.tests.kind != "golden" and not _right(ready.tests, number - 1, answer):
            raise TaskError(
                f"tests.golden fails case {number} of {len(cases)}: either it or the case is wrong",
                task.id,
            )


async def _answers(runs: Runs, task: Task, ready: Prepared) -> tuple[Answer, ...]:
    if ready.tests.kind == "golden":
        await inputs_of(runs, task, ready, b"")
        return ()
    inputs = Inputs(ready.frames, checks=ready.checks)
    return await golden_answers(runs, task, ready.tests, inputs)


def _right(tests: Tests, place: int, answer: Answer) -> bool:
    case = tests.scored[place]
    if tests.kind == "asserts":
        return answer.value is True
    if tests.kind == "function":
        return same(
            case.expected,
            answer.value,
            rtol=tests.rtol,
            atol=tests.atol,
            unordered=tests.unordered,
            loose=tests.loose,
        )
    if tests.checker:
        return True  # what it accepts is for ``code/diff`` to ask
    return same_output(
        case.stdout, answer.value, rtol=tests.rtol, atol=tests.atol, unordered=tests.unordered
    )


def usable(box: Box, language: str) -> None:
    """Open a place once per process, in a sandbox that is closed again.

    Raises:
        ConfigError: there is none; what is missing, and how to get it.
        VerifierFault: it cannot be reached.
    """
    profile = box.profile(language)
    options = repr(sorted(box.options.items()))
    key = (box.isolation, options, profile.runtime, profile.preload, profile.min_isolation)
    if key not in _usable:
        _now(_opened(box, profile))
        _usable.add(key)


async def _opened(box: Box, profile: Profile) -> None:
    sandbox = box.make()
    try:
        session = await sandbox.open(profile)
        await session.close()
        box.chosen.accept(session.isolation)
    finally:
        await sandbox.aclose()


def _now(coroutine: Coroutine[Any, Any, T]) -> T:
    """What a coroutine returns, also where a loop runs already."""
    result: list[T] = []
    raised: list[BaseException] = []

    def run() -> None:
        try:
            result.append(asyncio.run(coroutine))
        except BaseException as err:  # noqa: BLE001 - it is raised again below
            raised.append(err)

    thread = Thread(target=run)
    thread.start()
    thread.join()
    if raised:
        raise raised[0]
    return result[0]
