"""The user of an episode: a function that answers what the policy writes, as a person would, or a
game.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import cached_property

from attrs import frozen
from rlenv import ConfigError, Task

from rlenv_plugin_agent.tools.context import ToolContext
from rlenv_plugin_agent.tools.tool import FunctionRef, Tool

GIVEN = ("action", "task", "seed", "context")


@frozen
class End:
    """Ends the episode, where a user returns it.

    Args:
        observation: the last one; None where the user says nothing more.
    """

    observation: object = None


@frozen(slots=False)
class User(FunctionRef):
    """A function that answers the policy; it takes any of action, task, seed and context.

    Example:
        def guesser(action, task):
            if action is None:
                return "Which number do I think of?"
            if action == task.answer:
                return End("Yes.")
            return "No."
    """

    def __attrs_post_init__(self) -> None:
        if {*self.names} - {*GIVEN} or "action" not in self.names:
            told = ", ".join(self.names) or "nothing"
            raise ConfigError(
                f"user {self.written}: it takes action, and what it needs of task, seed and"
                f" context; not {told}"
            )

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(inspect.signature(self.function).parameters)

    @cached_property
    def implementation(self) -> Callable[..., object]:
        """Return the function itself, of the file that defines it."""
        found = super().implementation
        return found.function if isinstance(found, Tool) else found

    def arguments_for(self, task: Task, context: ToolContext) -> Mapping[str, object]:
        """Return what it takes besides the action.

        Args:
            task: of the episode.
            context: of the episode.
        """
        known: dict[str, object] = {"task": task, "seed": context.seed, "context": context}
        return {name: known[name] for name in self.names if name in known}
