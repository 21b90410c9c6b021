"""From what the command line names to something that can be called; runs in the target's own
process.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from attrs import evolve, field, frozen
from rlenv.compose.composites import Composite
from rlenv.compose.functions import is_reference
from rlenv.compose.stages import METHODS, attribute, deadline_of
from rlenv.config.references import refer
from rlenv.model.errors import ConfigError
from rlenv.model.messages import suggest
from rlenv.model.values import Task
from rlenv_testing import read_tasks

from rlenv_auditor.conclusion import FEW
from rlenv_auditor.solved import text_of

from .beside import SIDES, Sides, beside, sider, sides
from .playing import needs_episodes, player, recorded
from .signatures import caller, converses
from .source import words_of

__all__ = ["Loaded", "loaded"]

Pair = tuple[Task, Any]  # a task, and a text, a Trajectory or a Group
TALKING = {"agent", "tools", "web"}  # archetypes whose responses are conversations


@frozen
class Loaded:
    """A target that can be asked.

    Args:
        ask: (task, response) → whatever it says: a number, a Verdict, anything.
        tasks: its own, or those of ``--tasks-from``.
        many: the same for many at once, as (index, what it says), where the target has a way of its
            own.
        limit_s: seconds that it may take for a response by its own limits, each of which ends in a
            verdict.
        steady: whether the same response is to get the same reward; no where a stage measures time,
            and says so.
        converses: whether it reads whole conversations.
        sides: how it judges responses side by side, and "" for one by one.
        right: by task id, right responses that the plugin of its only stage declares.
        added: how many of the last tasks are of that plugin's examples only.
        words: string literals of a function, which say what it looks for.
        weights: of the stages of an environment, by path.
        acts: whether what it judges is an episode with calls of tools, so that a text alone is no
            right response.
    """

    ask: Callable[[Task, Any], Any]
    tasks: Sequence[Task]
    archetypes: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()
    pass_mark: float = 1.0
    many: Callable[[Iterable[Pair]], Iterator[tuple[int, Any]]] | None = None
    limit_s: float = 0.0
    steady: bool = True
    converses: bool = False
    sides: Sides = ""
    right: Mapping[str, Sequence[str]] = field(factory=dict)
    added: int = 0
    words: Sequence[str] = ()
    acts: bool = False
    weights: Mapping[str, float] = field(factory=dict)
    close: Callable[[], None] = field(default=lambda: None)


def loaded(
    target: str,
    signature: str,
    tasks_from: str,
    seed: int,
    *,
    borrowed: bool = False,
    size: int = 200,
) -> Loaded:
    """Load what the command line names.

    Args:
        target: an env.toml, an installed environment, or a function, stage or list of them as
            ``module:name`` or ``/folder/file.py:name``.
        signature: how a function is called; "" for a plain one.
        tasks_from: a file of tasks for a function.
        borrowed: it is asked about tasks of another target, so a function needs none.
        size: tasks that a target makes which makes as many as are asked for.

    Raises:
        RlenvError: nothing is there, or it cannot be used.
    """
    sys.path.insert(0, os.getcwd())
    if ":" in target and not Path(target).exists():
        if signature == "reasoning-gym":
            return _dataset(target, seed, size)
        return _function(target, signature or "plain", tasks_from, borrowed)
    if signature or tasks_from:
        given = "--as" if signature else "--tasks-from"
        raise ConfigError(
            f"{given} is for a target like module:function; {target} brings its own tasks"
        )
    return _environment(target)


def _written(leaves: Sequence[Any]) -> Sequence[str]:
    """The literals of the functions that an environment's author wrote."""
    return [
        word
        for slot in leaves
        if slot.use is None or is_reference(slot.use)
        for word in words_of(getattr(slot.stage, "function", slot.stage))
    ]


def _environment(name: str) -> Loaded:
    from rlenv.environment import Environment

    return _of_environment(Environment.load(name))


def _of_environment(env: Any) -> Loaded:
    leaves = [slot for slot in env.stages.values() if not isinstance(slot.stage, Composite)]
    uses = tuple(
        dict.fromkeys(slot.use for slot in leaves if slot.use and not is_reference(slot.use))
    )
    kinds = tuple(dict.fromkeys(use.partition("/")[0] for use in uses))
    limit_s = sum(map(_seconds, leaves))
    if env.group_only:
        return Loaded(
            beside(env.evaluate_group),
            tuple(env.tasks),
            kinds,
            uses,
            env.pass_mark,
            close=env.close,
            limit_s=limit_s,
            sides="group",
        )
    if needs_episodes(env):
        return Loaded(
            player(env),
            tuple(env.tasks),
            kinds,
            uses,
            env.pass_mark,
            close=env.close,
            limit_s=limit_s,
            converses=True,
            acts=True,
            right=recorded(env, env.tasks),
            weights=_weights(env),
            words=_written(leaves),
        )
    talks = any("tools" in task.info for task in env.tasks)
    unanswered = sum(text_of(task.answer) is not None for task in env.tasks) < FEW
    tasks, right = _with_examples(env) if unanswered else (tuple(env.tasks), {})
    return Loaded(
        env.evaluate,
        tasks,
        archetypes=kinds,
        uses=uses,
        pass_mark=env.pass_mark,
        many=env.evaluate_as_completed,
        close=env.close,
        limit_s=limit_s,
        converses=talks or bool(set(kinds) & TALKING),
        acts=talks or "harness" in env.tables,
        words=_written(leaves),
        steady=all(attribute(slot.stage, "deterministic") for slot in leaves),
        right=right,
        added=len(tasks) - len(env.tasks),
        weights=_weights(env),
    )


def _weights(env: Any) -> dict[str, float]:
    """The weights of the stages that are no composites, by path."""
    leaves = {
        path: slot for path, slot in env.stages.items() if not isinstance(slot.stage, Composite)
    }
    return {path: float(slot.weight or 0.0) for path, slot in leaves.items()}


def _with_examples(env: Any) -> tuple[tuple[Task, ...], dict[str, list[str]]]:
    """Its tasks and those of the right examples of its one stage, set as it is here, with these
    right responses.

    Where several stages decide, the examples of one say nothing of the whole; what checks a form
    only rewards constants too.
    """
    from rlenv.plugins.registry import registry

    tasks = list(env.tasks)
    right = defaultdict[str, list[str]](list)
    try:
        (slot,) = env.slots
        plugin, _, short = slot.use.partition("/")
        given = registry().supplied(plugin, "rlenv_examples").get(short, ())
        sets = given if isinstance(given, (list, tuple)) else [given]
        stage_type = registry().stage_type(slot.use)
        own = [one for one in sets if not one.gate_only and stage_type(**one.options) == slot.stage]
    except Exception:  # noqa: BLE001 - several stages, one without a plugin, or examples that `rlenv check` finds broken
        own = []
    for task, response in (pair for one in own for pair in one.right):
        wanted = (task.prompt, task.answer, task.info)
        same = next((one for one in tasks if (one.prompt, one.answer, one.info) == wanted), None)
        if same is None:
            same = evolve(task, id=f"example-{len(right)}")
            tasks.append(same)
        right[str(same.id)].append(response)
    return tuple(tasks), dict(right)


def _seconds(slot: Any) -> float:
    """The limit of a stage, and a little for what is around it."""
    return float(slot.timeout or deadline_of(slot.stage)) + 2.0


def _module(target: str) -> tuple[Any, str]:
    module, _, name = target.partition(":")
    try:
        return importlib.import_module(module), name
    except ImportError as error:
        raise ConfigError(
            f"{target}: {module} cannot be imported ({error}); is it installed, or in this folder?"
        ) from error


def _function(target: str, signature: str, tasks_from: str, borrowed: bool) -> Loaded:  # noqa: FBT001 - as it is told
    holder = _found(target)
    if not tasks_from and not borrowed:
        raise ConfigError(
            f"{target} brings no tasks: name a file with --tasks-from (columns prompt and answer)"
        )
    tasks = tuple(read_tasks(tasks_from)) if tasks_from else ()
    if signature in SIDES:
        return Loaded(
            sider(holder, signature), tasks, sides=sides(holder, signature), words=words_of(holder)
        )
    if signature == "plain" and (
        isinstance(holder, (type, list, tuple, Composite))
        or any(hasattr(holder, name) for name in METHODS[:2])
    ):
        from rlenv.environment import Environment

        return _of_environment(
            Environment(target, holder() if isinstance(holder, type) else holder, tasks)
        )
    talks = converses(holder, signature) or any("tools" in task.info for task in tasks)
    return Loaded(caller(holder, signature), tasks, converses=talks, words=words_of(holder))


def _found(target: str) -> Any:
    """What ``module:name``, or ``file.py:name`` with the file's whole path, names."""
    place, _, name = target.rpartition(":")
    if place.endswith(".py"):
        return refer(f"./{os.path.basename(place)}:{name}", os.path.dirname(place)).load()
    holder, name = _module(target)
    for part in name.split("."):
        if not hasattr(holder, part):
            known = [n for n in dir(holder) if not n.startswith("_")]
            raise ConfigError(
                f"{target}: no {part!r} there; {suggest(part, known, what='there is')}"
            )
        holder = getattr(holder, part)
    return holder


def _dataset(target: str, seed: int, size: int) -> Loaded:
    """A data set of reasoning-gym by its name, or an object with ``score_answer``."""
    holder, name = _module(target)
    dataset: Any = getattr(holder, name, None)
    if not hasattr(dataset, "score_answer"):
        try:
            dataset = holder.create_dataset(name, size=size, seed=seed)
        except Exception as error:
            raise ConfigError(
                f"{target}: no data set can be made by this name alone ({error})"
            ) from error
    tasks = []
    for index in range(min(len(dataset), size)):
        entry = dataset[index]
        info = dict(entry.get("metadata") or {})
        tasks.append(
            Task(str(entry["question"]), answer=entry["answer"], info=info, id=f"{name}-{index}")
        )
    return Loaded(caller(dataset, "reasoning-gym"), tuple(tasks))
