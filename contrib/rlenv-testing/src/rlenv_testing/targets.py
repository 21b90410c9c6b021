"""A verifier that no plugin brings as a subject of the laws: a function, a stage, or an
env.toml.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from rlenv.compose.composites import as_stage
from rlenv.compose.functions import is_reference
from rlenv.config.references import refer
from rlenv.hooks import Examples
from rlenv.model.errors import ConfigError, InputError
from rlenv.model.messages import suggest
from rlenv.model.values import Task

from .bench import Pair
from .rows import read_responses, read_tasks
from .subject import Effort, Subject

MOST = 20  # tasks
MADE_UP = Task("What is 6 * 7?", answer="42", id="made-up")
TEXTS = ("The answer is \\boxed{42}.", "42", "", "I do not know.")  # of unknown worth


def is_target(name: str) -> bool:
    """Whether this names code or an env.toml, and no plugin."""
    return is_reference(name) or name.endswith(".toml")


def verifier_of(verifier: object) -> Any:
    """Return the stage or composite that a user means by an object, a function, a list or a name.

    Raises:
        ConfigError: it is none of these.
    """
    from rlenv.compose.composites import composite_of

    if isinstance(verifier, str):
        found = refer(verifier, os.getcwd())
        return verifier_of(found() if isinstance(found, type) else found)
    return composite_of(verifier) if isinstance(verifier, (list, tuple)) else as_stage(verifier)


def subject_of(target: str, tasks_from: str, right_from: str, effort: Effort) -> Subject:
    """A target as a subject.  What it is asked is of known worth only where a file says so.

    Args:
        target: ``module:name``, ``./file.py:name`` or an env.toml.
        tasks_from: a file of tasks; "": those of the env.toml, else a made-up one.
        right_from: a file of responses with their task, and ``right``: false for wrong ones.

    Raises:
        RlenvError: it cannot be loaded, or a file cannot be read.
    """
    if is_reference(target):
        stage = verifier_of(target)
        tasks = [MADE_UP]
    else:
        stage, tasks = _of_file(target)
    tasks = read_tasks(tasks_from) if tasks_from else tasks
    right, wrong = _examples(tasks, right_from)
    files = (("tasks", tasks_from), ("right", right_from))
    command = " ".join(
        ["rlenv check", target, *(f"--{name} {file}" for name, file in files if file)]
    )
    others = [(task, text) for text in TEXTS for task in tasks[:MOST]]
    made_up = tasks == [MADE_UP]
    return Subject(
        target,
        stage,
        Examples(right, wrong),
        effort=effort,
        others=others,
        command=command,
        made_up=made_up,
    )


def _of_file(path: str) -> tuple[Any, list[Task]]:
    from rlenv.environment import Environment

    with Environment.load(path) as env:
        alone = len(env.slots) == 1
        return env.slots[0].stage if alone else env.root, list(env.tasks) or [MADE_UP]


def _examples(tasks: Sequence[Task], path: str) -> tuple[list[Pair], list[Pair]]:
    known = {str(task.id): task for task in tasks}
    found: dict[bool, list[Pair]] = {True: [], False: []}
    for name, response, right in read_responses(path) if path else ():
        if name not in known:
            raise InputError(f"{path}: no task {name!r}; {suggest(name, known, what='there is')}")
        if not isinstance(response, str):
            raise ConfigError(
                f"{path}: the laws ask about single texts, not about messages: give response as a"
                " string"
            )
        found[right].append((known[name], response))
    return found[True], found[False]
