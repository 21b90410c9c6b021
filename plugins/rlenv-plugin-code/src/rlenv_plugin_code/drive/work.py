"""What a response's program is run on, and a golden program before it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attrs import frozen
from rlenv import Task, TaskError

from rlenv_plugin_code.artifacts import Answer, Compiled, Program
from rlenv_plugin_code.compare import same
from rlenv_plugin_code.prepared import Prepared
from rlenv_plugin_code.spec import Tests

from .asserted import asserted
from .claims import Check
from .compiling import compiled
from .golden import answered, calls_of, drawn
from .runs import Runs

__all__ = ["Inputs", "agree", "answers_of", "inputs_of"]


@frozen
class Inputs:
    """The frames of the cases and, for golden tasks, what the golden program answered to them."""

    frames: tuple[bytes, ...]
    expected: tuple[Any, ...] | None = None
    checks: tuple[tuple[Check, ...], ...] = ()


async def inputs_of(runs: Runs, task: Task, ready: Prepared, key: bytes) -> Inputs:
    """The inputs of one response's run; ``key`` draws those of a golden task.

    Raises:
        TaskError: the golden program or the generator fails.
        VerifierFault: the sandbox broke.
    """
    tests = ready.tests
    if tests.kind != "golden":
        return Inputs(ready.frames, checks=ready.checks)
    made = await drawn(tests, key, runs.calls, task.id)
    if tests.programs:
        frames = tuple([text.encode("utf-8", "surrogatepass") for text in made.texts])
    else:
        frames = tuple(calls_of(tests, made, task.id))
    inputs = Inputs(frames)
    answers = await golden_answers(runs, task, tests, inputs)
    return Inputs(frames, answered(answers, task.id))


async def golden_answers(
    runs: Runs, task: Task, tests: Tests, inputs: Inputs
) -> tuple[Answer, ...]:
    """What the golden program answers.

    Raises:
        TaskError: it does not compile.
        VerifierFault: the sandbox broke.
    """
    golden = await compiled(runs, Program(tests.language, tests.golden))
    if isinstance(golden, Answer):
        raise TaskError(f"tests.golden does not compile: {golden.error}", task.id)
    return await answers_of(runs, tests, golden, inputs)


async def answers_of(
    runs: Runs, tests: Tests, made: Compiled, inputs: Inputs, *, early: bool = False
) -> tuple[Answer, ...]:
    """One answer per case.

    Raises:
        ConfigError: such a sandbox cannot be had here.
        VerifierFault: the sandbox broke, or a test fails by itself.
    """
    if tests.programs:
        return await runs.programs(made, inputs.frames, early=early)
    if inputs.checks:
        return await runs.direct(made.program.source, inputs.checks)
    if tests.kind == "asserts":
        return await asserted(runs, tests, made.program.source, inputs.frames)
    return await runs.calls(made.program.source, inputs.frames, made.program.language)


def agree(rounds: Sequence[Sequence[Answer]]) -> bool:
    """Whether every repetition gave the same answers."""
    return all(
        one.status == other.status and same(one.value, other.value)
        for again in rounds[1:]
        for one, other in zip(rounds[0], again, strict=True)
    )
