"""Environments that judge the final state of an episode: a response is played, and its right
responses are recorded calls.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from attrs import frozen
from rlenv.compose.composites import Composite
from rlenv.model.values import Task, Verdict

from .forms import conversation

__all__ = ["Played", "needs_episodes", "player", "recorded"]


@frozen
class Played:
    """The verdict of an episode, and the hash of the state that it left."""

    verdict: Verdict
    state: str


def needs_episodes(env: Any) -> bool:
    """Whether a stage takes what only an episode leaves, as ``agent/state`` takes the final
    state.
    """
    leaves = [slot.stage for slot in env.stages.values() if not isinstance(slot.stage, Composite)]
    return "harness" in env.tables and any(getattr(stage, "takes", ()) for stage in leaves)


def player(env: Any) -> Callable[[Task, Any], Played]:
    """A function (task, response) that plays a response in a fresh episode of this environment."""
    play = import_module("rlenv_plugin_agent.policies.scripts").play

    def played(task: Task, response: Any) -> Played:
        return Played(*play(env, task, response))

    return played


def recorded(env: Any, tasks: Sequence[Task]) -> dict[str, list[str]]:
    """Right responses by task id: the gold calls that tasks record."""
    gold = import_module("rlenv_plugin_agent.policies.scripts").gold_conversation
    known = {str(task.id): gold(env, task) for task in tasks if "gold" in task.info}
    return {name: [conversation(messages)] for name, messages in known.items() if messages}
