"""``ToolContext``: what a tool may know of the episode in which it is called."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from attrs import define, field

from rlenv_plugin_agent.errors import ToolError

T = TypeVar("T")


@define
class ToolContext:
    """A tool with a parameter of this type is given it; the policy does not see it.

    Args:
        task: what the policy may know of the task: ``Task.public()``.
        role: who calls.
        turn: messages of the policy before this one.
        seed: of the episode; a tool that draws, draws from it.
        parts: what the episode holds, by type, as its ``Workspace``; kept from call to call, and at
            the end given to the stages that take it.
        marks: (tool, mark) pairs of the turn, as ``noise/error`` and ``not_recorded``; for the
            operator, in the trace.
    """

    task: Mapping[str, object] = field(factory=dict)
    role: str = "policy"
    turn: int = 0
    seed: int = 0
    parts: dict[type, object] = field(factory=dict)
    marks: list[tuple[str, str]] = field(factory=list)

    def get(self, kind: type[T]) -> T:
        """Return what the episode holds of a type.

        Raises:
            ToolError: it holds none.
        """
        found = self.parts.get(kind)
        if found is None:
            raise ToolError(f"this episode has no {kind.__name__}")
        return found  # type: ignore[return-value] # `parts` has values by their types
