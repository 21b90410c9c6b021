"""What of a task stays the same from response to response: read, checked and encoded once per
process.
"""

from __future__ import annotations

import marshal
from collections import OrderedDict

from attrs import frozen
from rlenv import Task, TaskError

from .codec import Unencodable
from .drive.asserts import run_text
from .drive.claims import Check, checks_of
from .drive.function import call_text
from .drive.plan import Unproxied, plan
from .reading import known_as, tests_of
from .spec import Case, Tests

__all__ = ["Prepared", "prepared"]

_KEPT = 256
_KEPT_BYTES = 1 << 20  # of a task's frames; larger ones are made anew
_seen: OrderedDict[bytes, Prepared] = OrderedDict()


@frozen
class Prepared:
    """A task's tests and the frames of its scored cases.

    Args:
        tests: as ``tests_of`` reads them.
        frames: calls (function), runs of a test (asserts) or standard inputs (stdio); golden: none.
        checks: asserts that the judge can decide itself: the assertions of each text; else ().
    """

    tests: Tests
    frames: tuple[bytes, ...] = ()
    checks: tuple[tuple[Check, ...], ...] = ()


def prepared(task: Task, language: str = "python") -> Prepared:
    """The same for tasks of the same content.

    Args:
        task: its tests are in ``info["tests"]``.
        language: of tests that name none.

    Raises:
        TaskError: the tests are no tests, or cannot be sent to a sandbox.
    """
    key = _key(task, language)
    found = _seen.get(key) if key is not None else None
    if found is None:
        found = _made(task, language)
        if key is not None and sum(map(len, found.frames)) <= _KEPT_BYTES:
            _seen[key] = found
            if len(_seen) > _KEPT:
                _seen.popitem(last=False)
    else:
        known_as(task, language, found.tests)  # the stages after this one ask for them
    return found


def _key(task: Task, language: str) -> bytes | None:
    """The content, None where it is not plain: a worker gets a new object with every attempt."""
    try:
        content = (task.id, task.prompt, task.info.get("tests"), language)
        return marshal.dumps(content, 2)  # type: ignore[arg-type]  # it may hold anything
    except ValueError:
        return None


def _made(task: Task, language: str) -> Prepared:
    tests = tests_of(task, language)
    try:
        frames = tuple([_frame(task, tests, case) for case in tests.scored])
        return Prepared(tests, frames, _checks(tests))
    except Unencodable as err:
        raise TaskError(
            f"tests: a value that cannot be sent to a sandbox: {err}", task.id
        ) from None
    except Unproxied as err:
        raise TaskError(f"tests: {err}", task.id) from None


def _checks(tests: Tests) -> tuple[tuple[Check, ...], ...]:
    if tests.kind != "asserts" or tests.setup or tests.entry_point is None:
        return ()
    found = [checks_of(case.test, tests.entry_point) for case in tests.scored]
    return tuple([checks for checks in found if checks is not None]) if all(found) else ()


def _frame(task: Task, tests: Tests, case: Case) -> bytes:
    if tests.kind == "stdio":
        return case.stdin.encode("utf-8", "surrogatepass")
    if tests.kind == "golden" or tests.entry_point is None:
        return b""
    if tests.kind == "function":
        return call_text(tests.entry_point, case.args, case.kwargs)
    made = plan(case.test, tests.setup, task.prompt, tests.entry_point)
    return run_text(made, tests.entry_point)
