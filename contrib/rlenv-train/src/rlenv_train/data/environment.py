"""The tasks of the environment whose scores are read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from rlenv import Environment, InputError, Task
from rlenv_cli.console import one_line, visible
from rlenv_cli.scores import Header


def tasks_of(env: str | None, header: Header, path: Path) -> Mapping[str, Task]:
    """Task id to task; empty without an environment.

    Raises:
        InputError: when the score file was made with other tasks.
    """
    if env is None:
        return {}
    with Environment.load(env) as loaded:
        tasks = loaded.tasks
        found = loaded.tasks.sha256
    if found != header.tasks_sha256:
        raise InputError(
            f"{visible(str(path))}: line 1: tasks_sha256: scored with other tasks than"
            f" {one_line(env, 60)} has ({header.tasks_sha256[:12]} there, {found[:12]} now); give"
            " the environment of the run with --tasks"
        )
    return {task.id: task for task in tasks if task.id is not None}
