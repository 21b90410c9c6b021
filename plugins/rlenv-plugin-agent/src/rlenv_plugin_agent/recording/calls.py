"""Calls that are answered from a log, or recorded in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from rlenv import ConfigError
from rlenv.authoring import dumps

from rlenv_plugin_agent.errors import EpisodeError, error_text
from rlenv_plugin_agent.state.world import World
from rlenv_plugin_agent.tools.context import ToolContext
from rlenv_plugin_agent.tools.keys import OWN, Named, canonical, digest, tool_for
from rlenv_plugin_agent.tools.observations import Observe
from rlenv_plugin_agent.tools.tool import Tool

from .log import CallLog

Mode: TypeAlias = Literal["live", "record", "pin"]
MISSING = "not_recorded"


class RecordedCalls:
    """Wraps the calls of an episode.

    A deterministic tool runs always: it gives what it gave.  The calls of others have a key: the
    tool, its arguments
    and, where it is stateful, the state: the task, the seed, the digest of what the episode began
    with, and all calls of
    stateful tools since, from which everything follows that it holds.  To ``record`` is to run a
    call and note what it returned; a call of a stateless tool that is recorded already is not run
    again.  To ``pin`` is to answer from the log and run nothing.  A call that is not recorded gets
    an error as its observation, so a policy cannot end an episode with it.

    Args:
        call: runs a call.
        tools: gives those of the episode by name.
        log: which is written for "record".
        mode: "record" or "pin".
    """

    def __init__(self, call: Observe, tools: Named, log: CallLog, mode: Mode) -> None:
        self._call = call
        self._tools = tools
        self._log = log
        self._mode = mode
        self._context: ToolContext | None = None
        self._state = ""

    async def __call__(self, name: str, arguments: str, context: ToolContext) -> str:
        """Return an observation.

        Args:
            name: of the tool, as the policy wrote it.
            arguments: as the policy wrote them.
            context: one for each episode.

        Raises:
            EpisodeError: the log cannot be read or written.
        """
        tool = tool_for(self._tools(), name, arguments)
        if tool is None:
            return await self._call(name, arguments, context)
        key = self._key(tool, arguments, context)
        if tool.deterministic:
            return await self._call(name, arguments, context)
        try:
            return await self._kept(tool, key, arguments, context)
        except ConfigError as error:
            raise EpisodeError(str(error)) from error

    async def _kept(self, tool: Tool, key: str, arguments: str, context: ToolContext) -> str:
        known = None if self._mode == "record" and tool.stateful else self._log.get(key)
        if known is not None:
            return known
        if self._mode == "pin":
            context.marks.append((tool.name, MISSING))
            return error_text(MISSING, tool.name, "no result of this call is recorded")
        text = await self._call(tool.name, arguments, context)
        return self._log.put(key, tool.name, text, replace=tool.stateful)

    def _key(self, tool: Tool, arguments: str, context: ToolContext) -> str:
        if context is not self._context:
            self._context = context
            start = getattr(context.parts.get(World), "start", "")
            self._state = digest(dumps(dict(context.task)), str(context.seed), start)
        state = self._state if tool.stateful else ""
        key = digest(state, context.role, tool.name, canonical(arguments))
        if tool.stateful:
            self._state = key
        return key


def check_pinned(tools: Mapping[str, Tool]) -> None:
    """A log can answer for a tool that reaches the world, not for one that changes what the episode
    holds.

    Raises:
        ConfigError: it would have to.
    """
    for each in tools.values():
        if each.stateful and each.context and not each.deterministic and each.category != OWN:
            told = "would be answered from the log, and what the episode holds would not change"
            remedy = (
                "declare it deterministic=True if equal arguments in an equal state give equal"
                " results"
            )
            raise ConfigError(f'replay = "pin": {each.name} {told}; {remedy}')
