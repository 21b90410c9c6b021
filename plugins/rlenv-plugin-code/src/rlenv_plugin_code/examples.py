"""Programs whose worth is sure, over every kind of task; hook ``rlenv_examples``.

They are in ``examples.toml``.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rlenv import Task
from rlenv.hooks import Examples

__all__ = ["examples"]


def examples() -> Mapping[str, Sequence[Examples]]:
    """Right and wrong responses for every stage."""
    data = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
    tasks = {name: _task(name, row) for name, row in data["tasks"].items()}
    groups = {
        name: [(tasks[row["task"]], _response(row)) for row in rows]
        for name, rows in data["responses"].items()
    }

    def all_of(names: Sequence[str]) -> list[tuple[Task, str]]:
        return [pair for name in names for pair in groups[name]]

    return {
        stage: [Examples(**{**row, "right": all_of(row["right"]), "wrong": all_of(row["wrong"])})]
        for stage, row in data["stages"].items()
    }


def _task(name: str, row: Mapping[str, Any]) -> Task:
    return Task(row["prompt"], info={"tests": {"time": 2.0, **row["tests"]}}, id=f"code-{name}")


def _response(row: Mapping[str, str]) -> str:
    """A response as it is, or a program in a fence."""
    return row["response"] if "response" in row else f"```python\n{row['source'].strip()}\n```"
