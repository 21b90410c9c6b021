"""Names that tests use and nobody but the solution could supply: a warning when tasks load."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from rlenv import TaskError

from .drive.plan import Unproxied, plan
from .mistakes import first_few
from .reading import tests_of
from .spec import Tests

if TYPE_CHECKING:
    from rlenv import Task

__all__ = ["borrowed", "warnings"]


def warnings(tasks: Sequence[Task], default: str = "python") -> list[str]:
    """One line per task whose tests take names from the solution that its prompt never mentions,
    the first few.
    """
    said: list[str] = []
    for task in tasks:
        with suppress(TaskError, Unproxied):  # another check's business
            if names := borrowed(task.prompt, tests_of(task, default)):
                said.append(
                    f"task {task.id!r}: its tests take {', '.join(names)} from the solution, and"
                    " the prompt names no such thing; import it in the test or in setup, or ask"
                    " for it in the prompt"
                )
    return first_few(said, "more tasks take such names from the solution")


def borrowed(prompt: str, tests: Tests) -> list[str]:
    """The names, besides the entry point, in order of the alphabet.

    Raises:
        Unproxied: a test cannot be run at all.
    """
    if tests.kind != "asserts" or tests.entry_point is None:
        return []
    found: set[str] = set()
    for case in tests.cases:
        made = plan(case.test, tests.setup, prompt, tests.entry_point)
        found.update(made.names, made.errors)
    return sorted(found - {tests.entry_point} - set(re.findall(r"\w+", prompt)))
