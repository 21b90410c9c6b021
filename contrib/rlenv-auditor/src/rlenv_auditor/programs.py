"""Programs inside responses and tasks: where they stand, what they are called with, and how two of
them differ.
"""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from rlenv.model.values import Task
from rlenv.text import fenced_blocks, visible

__all__ = ["arguments", "difference", "entry_point", "of_code", "program_of"]

KEYS = ("tests", "test", "entry_point", "test_list")


def of_code(archetypes: Sequence[str], tasks: Sequence[Task]) -> bool:
    """Whether a verifier runs programs: it says so, or its tasks hold tests."""
    if archetypes:
        return "code" in archetypes
    return any(key in task.info for task in tasks[:3] for key in KEYS)


def entry_point(task: Task) -> str:
    """The name of the function that a task asks for; "solution" where it does not say."""
    tests = task.info.get("tests")
    inner = tests.get("entry_point") if isinstance(tests, Mapping) else None
    return str(inner or task.info.get("entry_point") or "solution")


def program_of(response: str) -> str | None:
    """The program of a response: its one block of Python, or all of it where it defines a
    function.
    """
    found = [block.text for block in fenced_blocks(visible(response), ("python", "py", ""))]
    if found:
        return found[0] if len(found) == 1 and found[0] in response else None
    return response if re.search(r"(?m)^(?:async )?def \w+\(", response) else None


def arguments(task: Task) -> list[list[Any]]:
    """With what a task's tests call its function: arguments of cases, and literals of calls in
    assertions.
    """
    tests = task.info.get("tests")
    body = tests if isinstance(tests, Mapping) else task.info
    found = [
        list(case["args"])
        for case in _cases(body)
        if isinstance(case.get("args"), (list, tuple)) and not case.get("kwargs")
    ]
    for text in _texts(task.info, body):
        found += _called(text, {entry_point(task), "candidate"})
    return [args for args in found if args]


def _cases(body: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    cases = body.get("cases")
    for case in cases if isinstance(cases, (list, tuple)) else ():
        if isinstance(case, Mapping):
            yield case


def _texts(info: Mapping[str, Any], body: Mapping[str, Any]) -> Iterator[str]:
    for where in (info, body) if body is not info else (info,):
        for key in ("test", "test_list"):
            value = where.get(key)
            yield from (
                [value]
                if isinstance(value, str)
                else [one for one in value or () if isinstance(one, str)]
            )
    yield from (case["test"] for case in _cases(body) if isinstance(case.get("test"), str))


def _called(text: str, names: set[str]) -> Iterator[list[Any]]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in names:
            try:
                yield [ast.literal_eval(arg) for arg in node.args]
            except ValueError:
                continue


def difference(one: str, two: str) -> str:
    """What two programs differ in, line by line, written alike first."""
    with suppress(SyntaxError, ValueError, RecursionError):
        one = ast.unparse(ast.parse(one))
        two = ast.unparse(ast.parse(two))
    lines = difflib.unified_diff(one.splitlines(), two.splitlines(), lineterm="", n=0)
    return "\n".join(line for line in lines if not line.startswith(("---", "+++", "@@")))
