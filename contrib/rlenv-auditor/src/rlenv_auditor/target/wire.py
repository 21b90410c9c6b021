"""What crosses between an audit and the process of its target: one JSON object a line, ASCII
only.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from rlenv.model.record import plain
from rlenv.model.values import Task

__all__ = ["dump", "load", "task_from", "task_to"]


def dump(message: Mapping[str, Any]) -> bytes:
    """One line; lone surrogates survive as escapes."""
    return json.dumps(message, default=str).encode("ascii") + b"\n"


def load(line: bytes) -> dict[str, Any]:
    """The object of a line.

    Raises:
        ValueError: it is none; a target that finds the pipe may write to it.
    """
    message = json.loads(line)
    if not isinstance(message, dict):
        raise ValueError("no object")
    return message


def task_to(task: Task) -> dict[str, Any]:
    """A task as JSON values."""
    return {
        "id": task.id, "prompt": plain(task.prompt), "answer": plain(task.answer),
        "info": plain(dict(task.info)),
    }  # fmt: skip


def task_from(said: Mapping[str, Any]) -> Task:
    """The task of ``task_to``."""
    return Task(said["prompt"], answer=said["answer"], info=said["info"] or {}, id=said["id"])
