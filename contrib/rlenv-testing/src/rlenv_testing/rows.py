"""Tasks and responses of a verifier that brings none, from files whose columns have their usual
names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rlenv.config.rows import read_rows
from rlenv.model.errors import InputError
from rlenv.model.values import Task

__all__ = ["read_responses", "read_tasks"]

PROMPT = ("prompt", "question", "problem", "input", "instruction")
ANSWER = ("answer", "ground_truth", "gold", "target", "solution", "reference")


def read_tasks(path: str) -> list[Task]:
    """Rows with a prompt and an answer under one of their usual names; every other column is info.

    Raises:
        InputError: a row has no prompt, or there is no row.
    """
    found = []
    for number, row in read_rows(path):
        prompt = _first(row, PROMPT)
        if prompt is None:
            raise InputError(
                f"{path}: row {number} has no column prompt (nor question, problem, input); it has"
                f" {', '.join(row)}"
            )
        info = {key: value for key, value in row.items() if key not in ("prompt", "id")}
        text = prompt
        if isinstance(prompt, list):
            info["messages"] = prompt
            text = next((m["content"] for m in reversed(prompt) if m.get("role") == "user"), "")
        name = str(row.get("id", f"row-{number}"))
        found.append(Task(str(text), answer=_first(row, ANSWER), info=info, id=name))
    if not found:
        raise InputError(f"{path}: no tasks in it")
    return found


def _first(row: Mapping[str, Any], names: Sequence[str]) -> Any:
    return next((row[name] for name in names if row.get(name) is not None), None)


def read_responses(path: str) -> Iterator[tuple[str, str | list[Mapping[str, object]], bool]]:
    """Read (id of the task, response, whether it is right) from rows with task and response.

    Raises:
        InputError: a row that is none.
    """
    for number, row in read_rows(path):
        name = row.get("task")
        response = row.get("response")
        right = row.get("right", True)
        if isinstance(name, str) and isinstance(response, (str, list)) and isinstance(right, bool):
            yield name, response, right
            continue
        raise InputError(
            f"{path}: row {number} needs task, a string, and response, a string or a list of"
            " messages; right, where it is given, is true or false"
        )
