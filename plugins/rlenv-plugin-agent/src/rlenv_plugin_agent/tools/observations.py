"""Observations: the texts with which the calls of one message are answered."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from time import perf_counter
from typing import NamedTuple, TypeAlias

from rlenv_plugin_agent.errors import error_in, error_text
from rlenv_plugin_agent.messages import Message

from .context import ToolContext


class Call(NamedTuple):
    """One call of a tool, as the log has it.

    Args:
        tool: its name as the policy wrote it, 64 characters at most.
        seconds: wall time.
        error: the type of its error, "" where it has a result.
    """

    tool: str
    seconds: float
    error: str


# One call of a tool: its name, its arguments and the context, to the text that the policy reads.
Observe: TypeAlias = Callable[[str, str, ToolContext], Awaitable[str]]
ToolCallRequest: TypeAlias = Mapping[str, str]  # id, name and arguments of a call
Ask: TypeAlias = Callable[[ToolCallRequest], Awaitable[str]]
Answer: TypeAlias = tuple[str, Call]
ToolResults: TypeAlias = tuple[list[Message], tuple[Call, ...]]
CALLS = 64  # that one message may make; further ones are answered with an error


async def answer_calls(
    asked: Sequence[ToolCallRequest], answer: Ask, limit: int, *, together: bool
) -> ToolResults:
    """Return a message for each call, in order, and the calls for the log; those above the limit
    are not made.

    Args:
        asked: the calls of one message.
        answer: answers one of them.
        limit: how many are made.
        together: they are made at the same time, and else one after another.

    Raises:
        VerifierFault: the environment failed; the other calls have ended.
    """
    if together:
        found = await _gather([_time_call(each, answer) for each in asked[:limit]])
    else:
        found = [await _time_call(each, answer) for each in asked[:limit]]
    if left := asked[limit:]:
        refused = error_text("limit", "", f"not called: this message may make {limit} calls")
        found += [(refused, Call(each["name"][:64], 0.0, "limit")) for each in left]
    pairs = zip(asked, found, strict=True)
    said = [
        {"role": "tool", "tool_call_id": each["id"], "content": text} for each, (text, _) in pairs
    ]
    return [*said], tuple([call for _, call in found])


async def _gather(made: Sequence[Awaitable[Answer]]) -> list[Answer]:
    """Await all of them; where one raises, the others are ended first."""
    running = [asyncio.ensure_future(each) for each in made]
    try:
        return await asyncio.gather(*running)
    finally:
        for each in running:
            each.cancel()
        await asyncio.gather(*running, return_exceptions=True)


async def _time_call(asked: ToolCallRequest, answer: Ask) -> Answer:
    start = perf_counter()
    text = await answer(asked)
    return text, Call(asked["name"][:64], perf_counter() - start, _error(text))


def _error(text: str) -> str:
    """Return the type of the error that an observation is, "" for a result."""
    found = error_in(text)
    return "" if found is None else str(found["type"])[:64]
