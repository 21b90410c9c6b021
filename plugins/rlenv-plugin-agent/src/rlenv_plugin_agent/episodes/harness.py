"""``[harness]``: how an episode goes, with which tools and which user."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Literal, TypeAlias, cast, get_args

from attrs import define, field
from attrs.validators import instance_of
from rlenv import ConfigError
from rlenv.authoring import Safe

from rlenv_plugin_agent.contexts.references import unfold
from rlenv_plugin_agent.tools.catalog import NAMES, find
from rlenv_plugin_agent.tools.tool import FunctionRef, Tool, as_tool, tool, tools_by_name

from .bounds import between
from .user import User

Kind: TypeAlias = Literal["single-turn", "multi-turn", "tool-use", "stateful-tool-use", "agentic"]
if TYPE_CHECKING:
    CatalogName: TypeAlias = str
else:
    CatalogName = Literal[NAMES]
TALK = ("single-turn", "multi-turn")  # kinds without tools


@define(slots=False)
class Harness:
    """``[harness]``: how an episode goes.

    Args:
        kind: ``single-turn``: one message of the policy.  ``multi-turn``: the ``user`` answers each
            message, until it ends the episode.  ``tool-use``: until a message without calls.
            ``stateful-tool-use``: the same, and the tools share what ``[state]`` holds.
            ``agentic``: until the policy calls ``done`` or ``give_up``.
        tools: functions that the policy may call, as ``./file.py:name`` or ``package.module:name``,
            and tools of the catalog by name, as ``calculator`` or ``agent/calculator``.
        user: a function that answers a message without calls: a person, or a game.  It is called
            with ``action`` None at the start, for an opening that may be None, and with each
            message's text, or the value that a policy returned.  It may take ``task``, ``seed`` and
            ``context``, and returns a text, a value, or ``End(observation)``.  If it raises, the
            policy sees an error and the episode goes on.
        system_prompt: the first message; it takes the place of a task's own.
        context: a context manager, which shortens the history to ``[config] context_budget``:
            ``recency``, ``markov``, ``summary``, ``fold``, or a function.
        turn_limit: messages that the policy may write at most, in [1, 10000].
        sandbox: the sandbox of the episode's workspace, as ``sandbox/jail``: tools keep files and
            run programs there. It begins with the task's ``info["files"]``, texts by path.
    """

    kind: Kind = "single-turn"
    tools: Sequence[Callable[..., object] | CatalogName] = field(default=(), kw_only=True)
    user: Callable[..., object] | None = field(default=None, kw_only=True)
    system_prompt: Safe[str] = field(default="", validator=instance_of(str), kw_only=True)
    context: Callable[..., object] | str = field(
        default="", kw_only=True, metadata={"safe": ("recency", "markov", "summary", "fold")}
    )
    turn_limit: int = field(default=20, validator=between(1, 10_000), kw_only=True)
    sandbox: str = field(
        default="", validator=instance_of(str), kw_only=True, metadata={"safe": ("sandbox/jail",)}
    )

    def __attrs_post_init__(self) -> None:
        kinds = get_args(Kind)
        if self.kind not in kinds:
            raise ConfigError(f"kind is one of {', '.join(kinds)}, not {self.kind!r}")
        if self.kind in TALK and self.tools:
            raise ConfigError(f'{self.kind} has no tools: kind = "tool-use", or leave them out')
        if self.kind == "single-turn" and self.user is not None:
            raise ConfigError('a single turn has no user: kind = "multi-turn", or leave it out')
        if self.kind == "multi-turn" and self.user is None:
            raise ConfigError("a multi-turn episode needs user, a function that answers the policy")
        self.user = None if self.user is None else User.of(self.user)
        self.context = (
            self.context if isinstance(self.context, str) else FunctionRef.of(self.context)
        )
        own = [*ENDINGS] if self.kind == "agentic" else []
        own += [unfold] if self.context == "fold" else []
        found = [find(each) if isinstance(each, str) else each for each in self.tools]
        self.tools = tuple(map(as_tool, [*found, *own]))
        tools_by_name(each for each in self.tools if isinstance(each, Tool))

    @property
    def answering(self) -> User | None:
        """Return the user."""
        return cast("User | None", self.user)

    @cached_property
    def named(self) -> dict[str, Tool]:
        """Return the tools by name; imports the files of those that are in files."""
        return tools_by_name(cast("tuple[Tool | FunctionRef, ...]", self.tools))

    def show(self) -> str:
        """Describe the table for ``rlenv show``."""
        many = f"{len(self.tools)} tool{'s' * (len(self.tools) != 1)}"
        parts = [f"H  {self.kind}, at most {self.turn_limit:,} turns, {many}"]
        context = getattr(self.context, "written", self.context)
        named = {"context": context, "sandbox": self.sandbox}
        parts += [f"{key} {value}" for key, value in named.items() if value]
        parts += [f"user {self.answering.written}"] if self.answering else []
        told = [
            each.show() if isinstance(each, Tool) else each.written
            for each in cast("tuple[Tool | FunctionRef, ...]", self.tools)
        ]
        return "\n".join([", ".join(parts), *told])


@tool(category="episode", deterministic=True, where="inline")
def done() -> str:
    """End the episode.  Write the final answer, if one is asked for, as the text of the same message."""  # noqa: E501 - a policy reads it as it stands
    return "The episode has ended."


@tool(category="episode", deterministic=True, where="inline")
def give_up() -> str:
    """End the episode without having solved the task."""
    return "The episode has ended."


ENDINGS = (done, give_up)
