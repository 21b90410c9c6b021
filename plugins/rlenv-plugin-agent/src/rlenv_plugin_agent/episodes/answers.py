"""Answers of an episode to its policy: it observes tools, or asks the user."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from inspect import isawaitable
from typing import TypeAlias

from rlenv import VerifierFault
from rlenv.steps import Steps, wait

from rlenv_plugin_agent.errors import ToolError, error_text
from rlenv_plugin_agent.messages import Message, text_of
from rlenv_plugin_agent.tools.calling import observe
from rlenv_plugin_agent.tools.context import ToolContext
from rlenv_plugin_agent.tools.observations import (
    CALLS,
    Observe,
    ToolCallRequest,
    ToolResults,
    answer_calls,
)
from rlenv_plugin_agent.tools.tool import Function, Tool
from rlenv_plugin_agent.waiting import at_once, has_loop

from .harness import Harness
from .ledger import Ledger
from .steps import ENDINGS, Stop
from .user import End

Info: TypeAlias = dict[str, object]
GO_ON = "No tool was called. Go on, and call done when the task is finished."


class EpisodeAnswers:
    """The part of an episode that calls its tools and asks its user."""

    harness: Harness
    ledger: Ledger
    stop: Stop | None
    named: Mapping[str, Tool]
    tools: list[Message]
    _context: ToolContext
    _observe: Observe
    _is_plain: bool
    _user: Callable[..., object] | None

    def _call_tools(self, asked: Sequence[ToolCallRequest]) -> Steps[ToolResults]:
        """Return an observation for each call, without an event loop where no tool needs one."""
        named = [each for call in asked if (each := self.named.get(call["name"]))]
        aside = [each for each in named if each.where != "inline"]
        together = len(asked) > 1 and bool(aside) and not any(each.stateful for each in named)
        blocks = not (together or has_loop() or any(each.is_async for each in aside))
        work = self._answers(asked, together=together)
        if (blocks or not aside) and self._is_plain and self.ledger.seconds_left is None:
            return at_once(work)
        return (yield from wait(work))

    async def _answers(self, asked: Sequence[ToolCallRequest], *, together: bool) -> ToolResults:
        """Return an observation for each call; a call that ends the episode ends it when all are
        answered.
        """
        limit = min(CALLS, self.ledger.calls_left)
        found = await answer_calls(asked, self._call, limit, together=together)
        self.ledger.calls_left -= len(asked[:CALLS])
        if self.harness.kind == "agentic":
            self.stop = next(
                (ENDINGS[each["name"]] for each in asked[:limit] if each["name"] in ENDINGS), None
            )
        return found

    def _set_tools(self, named: Mapping[str, Tool]) -> None:
        self.named = named
        self.tools = [each.offered for each in named.values()]

    def _plain(self, name: str, arguments: str, context: ToolContext) -> Awaitable[str]:
        return observe(self.named, name, arguments, context)

    async def _call(self, asked: ToolCallRequest) -> str:
        try:
            made = self._observe(asked["name"], asked["arguments"], self._context)
            left = self.ledger.seconds_left
            return await (made if left is None else asyncio.wait_for(made, left))
        except TimeoutError:
            return error_text("timeout", asked["name"], "the time of the episode is over")

    def _ask(self, value: object) -> Steps[tuple[list[Message], Info]]:
        """Return what the user answers, as a message and as it is."""
        assert self._user is not None
        found = yield from answer_of_user(self._user, value, self.ledger.seconds_left)
        if isinstance(found, End):
            self.stop = "done"
            found = found.observation
        answers = [] if found is None else [{"role": "user", "content": text_of(found)}]
        return [*answers], {"observation": found}


def answer_of_user(user: Function, said: object, seconds: float | None) -> Steps[object]:
    """Return what the user returns; where they raise, an error that the policy sees.

    Args:
        user: takes the action, and may be async.
        said: the text of the policy's message, or the value that it returned.
        seconds: that an async user may take, None for no limit.

    Raises:
        VerifierFault: the environment failed.
    """
    try:
        found = user(action=said)
        if isawaitable(found):
            found = yield found if seconds is None else asyncio.wait_for(found, seconds)
    except VerifierFault:
        raise
    except TimeoutError:
        return error_text("timeout", "user", "no answer in time")
    except Exception as error:  # noqa: BLE001 - a user may raise anything; its text may hold what is secret
        why = str(error) if isinstance(error, ToolError) else f"failed with {type(error).__name__}"
        return error_text("error", "user", why[:2000])
    return found
