"""Golden tasks: inputs that nobody can foresee, and what a correct program answers to them.

Both the author's generator and the golden program run in a sandbox, before the response's program
and apart from it.  When one of them fails, that is no response's fault.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeAlias

from attrs import frozen
from rlenv import TaskError

from rlenv_plugin_code.artifacts import Answer
from rlenv_plugin_code.codec import Unencodable
from rlenv_plugin_code.draw import as_text, inputs
from rlenv_plugin_code.spec import Tests

from .function import call_text

__all__ = ["Inputs", "answered", "calls_of", "drawn"]

_DRAW = """

def rlenv_draw_(seed, count):
    from random import Random
    rng = Random(seed)
    return [generate(rng) for _ in range(count)]
"""

Caller: TypeAlias = Callable[[str, Sequence[bytes]], Awaitable[Sequence[Answer]]]


@frozen
class Inputs:
    """The inputs of one response's run: arguments of a function, or texts for a program."""

    arguments: tuple[tuple[tuple[Any, ...], Any], ...] = ()  # (args, kwargs)
    texts: tuple[str, ...] = ()


async def drawn(tests: Tests, key: bytes, call: Caller, task_id: str | None) -> Inputs:
    """The task's own inputs and the generated ones; the same key gives the same.

    Args:
        call: runs calls of a Python source's functions in a sandbox.

    Raises:
        TaskError: the generator fails, or makes what cannot be an input.
    """
    made: Sequence[Any] = ()
    if tests.generate and tests.count:
        made = await _generated(tests, key, call, task_id)
    elif tests.inputs is not None:
        made = inputs(tests.inputs, tests.count, key)
    if tests.programs:
        texts = [item if isinstance(item, str) else as_text(item) for item in made]
        return Inputs(texts=(*(case.stdin for case in tests.scored), *texts))
    own = [(case.args, case.kwargs) for case in tests.scored]
    return Inputs(arguments=(*own, *((tuple(item), {}) for item in made)))


async def _generated(tests: Tests, key: bytes, call: Caller, task_id: str | None) -> list[Any]:
    request = call_text("rlenv_draw_", [key, tests.count], {})
    answer = (await call(tests.generate + _DRAW, [request]))[0]
    if answer.status != "ok":
        said = f"{answer.status}: {answer.error}"
        raise TaskError(f"tests.generate fails ({said}); run generate(Random(0)) by hand", task_id)
    made: list[Any] = answer.value
    for item in made if type(made) is list else [None]:
        if isinstance(item, str) if tests.programs else isinstance(item, (list, tuple)):
            continue
        wanted = "the text of standard input" if tests.programs else "a list of arguments"
        raise TaskError(
            f"tests.generate returned a {type(item).__name__}; generate(rng) returns {wanted}",
            task_id,
        )
    return made


def calls_of(tests: Tests, made: Inputs, task_id: str | None) -> list[bytes]:
    """The calls of a golden function task.

    Raises:
        TaskError: an argument cannot be sent.
    """
    assert tests.entry_point is not None
    try:
        return [call_text(tests.entry_point, args, kwargs) for args, kwargs in made.arguments]
    except Unencodable as err:
        raise TaskError(f"an argument cannot be sent to a sandbox: {err}", task_id) from None


def answered(answers: Sequence[Answer], task_id: str | None) -> tuple[Any, ...]:
    """What the golden program answered.

    Raises:
        TaskError: it failed on one of the inputs.
    """
    for number, answer in enumerate(answers, 1):
        if answer.status != "ok":
            raise TaskError(
                f"tests.golden fails on input {number} of {len(answers)} "
                f"({answer.status}: {answer.error}); a golden program is right on every input",
                task_id,
            )
    return tuple([answer.sent for answer in answers])
