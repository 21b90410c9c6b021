"""From what the command line names to something that can be called; runs in the target's own process."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from attrs import field, frozen
from rlenv.errors import ConfigError, InputError
from rlenv.near import suggest
from rlenv.values import Task

from .signatures import caller

__all__ = ["Loaded", "loaded"]

Pair = tuple[Task, str]


@frozen
class Loaded:
    """A target that can be asked.

    Args:
        ask: (task, response) → whatever it says: a number, a Verdict, anything.
        tasks: its own, or those of ``--tasks-from``.
        many: the same for many at once, as (index, what it says), where the target has a way of its own.
    """

    ask: Callable[[Task, str], Any]
    tasks: Sequence[Task]
    archetypes: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()
    pass_mark: float = 1.0
    many: Callable[[Iterable[Pair]], Iterator[tuple[int, Any]]] | None = None
    close: Callable[[], None] = field(default=lambda: None)


def loaded(target: str, signature: str, tasks_from: str, seed: int) -> Loaded:
    """Load what the command line names.

    Args:
        target: an env.toml, an installed environment, or ``module:function``.
        signature: how a function is called; "" for a plain one.
        tasks_from: a file of tasks for a function.

    Raises:
        RlenvError: nothing is there, or it cannot be used.
    """
    sys.path.insert(0, os.getcwd())
    if ":" in target and not Path(target).exists():
        return _function(target, signature or "plain", tasks_from, seed)
    if signature or tasks_from:
        given = "--as" if signature else "--tasks-from"
        raise ConfigError(
            f"{given} is for a target like module:function; {target} brings its own tasks"
        )
    return _environment(target)


def _environment(name: str) -> Loaded:
    from rlenv.environment import Environment

    env = Environment.load(name)
    uses = tuple(dict.fromkeys(_uses(env.slots)))
    if env.group_only:
        raise ConfigError(
            f"{name}: {env.group_only[0]} judges groups of responses, which an audit cannot ask for yet"
        )
    return Loaded(
        env.evaluate, tuple(env.tasks), tuple(dict.fromkeys(use.partition("/")[0] for use in uses)), uses, env.pass_mark,
        env.evaluate_numbered, env.close,
    )  # fmt: skip


def _uses(slots: Iterable[Any]) -> Iterator[str]:
    for slot in slots:
        if slots_of := getattr(slot.stage, "slots", None):
            yield from _uses(slots_of)
        elif slot.use:
            yield slot.use


def _function(target: str, signature: str, tasks_from: str, seed: int) -> Loaded:
    module, _, name = target.partition(":")
    try:
        holder: Any = importlib.import_module(module)
    except ImportError as error:
        raise ConfigError(
            f"{target}: {module} cannot be imported ({error}); is it installed, or in this folder?"
        ) from error
    if signature == "reasoning-gym":
        return _dataset(holder, name, target, seed)
    for part in name.split("."):
        if not hasattr(holder, part):
            known = [n for n in dir(holder) if not n.startswith("_")]
            raise ConfigError(
                f"{target}: no {part!r} there; {suggest(part, known, what='there is')}"
            )
        holder = getattr(holder, part)
    if not tasks_from:
        raise ConfigError(
            f"{target} brings no tasks: name a file with --tasks-from (columns prompt and answer)"
        )
    return Loaded(caller(holder, signature), tuple(_tasks(tasks_from)))


def _dataset(holder: Any, name: str, target: str, seed: int) -> Loaded:
    """A data set of reasoning-gym by its name, or an object with ``score_answer``."""
    dataset: Any = getattr(holder, name, None)
    if not hasattr(dataset, "score_answer"):
        try:
            dataset = holder.create_dataset(name, size=200, seed=seed)
        except Exception as error:
            raise ConfigError(f"{target}: no data set of this name ({error})") from error
    tasks = []
    for index in range(min(len(dataset), 200)):
        entry = dataset[index]
        info = dict(entry.get("metadata") or {})
        tasks.append(
            Task(str(entry["question"]), answer=entry["answer"], info=info, id=f"{name}-{index}")
        )
    return Loaded(caller(dataset, "reasoning-gym"), tuple(tasks))


def _tasks(path: str) -> list[Task]:
    """Rows with a prompt and an answer under one of their usual names; every other column is info."""
    from rlenv.rows import read_rows

    found = []
    for number, row in read_rows(path):
        prompt = _first(row, ("prompt", "question", "problem", "input", "instruction"))
        if prompt is None:
            raise InputError(
                f"{path}: row {number} has no column prompt (nor question, problem, input); it has {', '.join(row)}"
            )
        answer = _first(row, ("answer", "ground_truth", "gold", "target", "solution", "reference"))
        info = {key: value for key, value in row.items() if key not in ("prompt", "id")}
        text = prompt
        if isinstance(prompt, list):
            info["messages"] = prompt
            text = next((m["content"] for m in reversed(prompt) if m.get("role") == "user"), "")
        found.append(
            Task(str(text), answer=answer, info=info, id=str(row.get("id", f"row-{number}")))
        )
    if not found:
        raise InputError(f"{path}: no tasks in it")
    return found


def _first(row: dict[str, Any], names: Sequence[str]) -> Any:
    return next((row[name] for name in names if row.get(name) is not None), None)
