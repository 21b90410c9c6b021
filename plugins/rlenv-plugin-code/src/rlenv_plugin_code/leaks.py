"""Hidden cases that a task's own prompt gives away, input and output both: a warning when tasks
load.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from rlenv import TaskError

from .inspecting import parsed
from .mistakes import first_few
from .reading import tests_of
from .spec import Case, Tests

if TYPE_CHECKING:
    from rlenv import Task

__all__ = ["leaks", "warnings"]


def warnings(tasks: Sequence[Task], default: str = "python") -> list[str]:
    """One line per task that gives hidden cases away, the first few, and how many more there
    are.
    """
    said: list[str] = []
    for task in tasks:
        with suppress(TaskError):  # another stage's business
            if found := leaks(task.prompt, tests_of(task, default)):
                places = ", ".join(map(str, found[:8])) + (", …" if len(found) > 8 else "")
                said.append(
                    f"task {task.id!r}: the prompt shows input and output of hidden cases"
                    f" ({places}); mark them visible, or hide them from the prompt"
                )
    return first_few(said, "more tasks show hidden cases in their prompts")


def leaks(prompt: str, tests: Tests) -> list[int]:
    """The places (from 0) of the scored cases, of assert lines for ``asserts``, that are in the
    prompt.
    """
    if tests.kind == "stdio":
        lines = _fenced(prompt)
        return [
            i
            for i, c in enumerate(tests.scored)
            if _stands(c.stdin, lines) and _stands(c.stdout, lines)
        ]
    squeezed = _squeezed(prompt)
    pairs: Iterator[tuple[str, str]] = iter(())
    if tests.kind == "function":
        pairs = (_called(case, tests.entry_point) for case in tests.scored)
    elif tests.kind == "asserts":
        pairs = (pair for case in tests.scored for pair in _asserted(case.test, tests.entry_point))
    return [i for i, (call, result) in enumerate(pairs) if _beside(call, result, squeezed)]


def _fenced(text: str) -> str:
    return "\n" + "\n".join(line.strip() for line in text.split("\n")) + "\n"


def _stands(text: str, lines: str) -> bool:
    """Whether a text is in whole lines; nothing is nowhere."""
    bare = _fenced(text.strip())
    return bool(bare.strip()) and bare in lines


def _squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text).replace("'", '"')


def _beside(call: str, result: str, prompt: str) -> bool:
    """Whether a result follows its call closely: ``f(1)\\n2``, ``f(1) == 2``, ``f(1) returns
    2``.
    """
    if not call or not result:
        return False
    place = prompt.find(call)
    while place >= 0:
        after = prompt[place + len(call) : place + len(call) + len(result) + 24]
        if result in after:
            return True
        place = prompt.find(call, place + 1)
    return False


def _called(case: Case, entry_point: str | None) -> tuple[str, str]:
    args = [repr(a) for a in case.args] + [f"{k}={v!r}" for k, v in case.kwargs.items()]
    return _squeezed(f"{entry_point}({', '.join(args)})"), _squeezed(repr(case.expected))


def _asserted(test: str, entry_point: str | None) -> Iterator[tuple[str, str]]:
    """(call, result) of every ``assert f(..) == result``."""
    try:
        tree = parsed(test)
    except ValueError:
        return
    for node in ast.walk(tree):
        if not isinstance(node, ast.Assert):
            continue
        claim = node.test
        equal = isinstance(claim, ast.Compare) and isinstance(claim.ops[0], ast.Eq)
        call: Any = claim.left if isinstance(claim, ast.Compare) else None
        if not equal or not isinstance(call, ast.Call) or not isinstance(claim, ast.Compare):
            yield "", ""
            continue
        inside = ast.unparse(call).partition("(")[2]
        yield _squeezed(f"{entry_point}({inside}"), _squeezed(ast.unparse(claim.comparators[0]))
