"""One call of a tool: whatever the policy asks for, there is an observation, within the tool's
time.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from functools import partial
from math import isfinite
from time import perf_counter
from typing import NoReturn, TypeAlias, cast

from attrs import field, frozen
from rlenv.authoring import suggest

from rlenv_plugin_agent.errors import EpisodeError, error_text

from .context import ToolContext
from .pool import Late, LoopBlocked, in_thread, left_running, on_background_loop, on_loop
from .results import Failure, call_function, failure, show_value
from .tool import Function, Tool

Tools: TypeAlias = Mapping[str, Tool]
Ready: TypeAlias = tuple[Tool, dict[str, object]]  # with its arguments
LONGEST = 1 << 20  # characters of the arguments of one call
NEAR = 32  # names that one which is not there is compared with
# calls of one tool by one episode that may run on after their time; further ones are not begun
STUCK = 16


@frozen
class _Caller:
    """A tool and an episode, which calls that run on are counted by; held, so that no other takes
    their ids.
    """

    function: Function = field(eq=id)
    context: ToolContext = field(eq=id)


class _CallRejected(Exception):
    """A call that is not begun."""


async def observe(tools: Tools, name: object, arguments: object, context: ToolContext) -> str:
    """Call a tool, and return the result, or ``{"error": {"type", "tool", "message", "seconds"}}``
    as JSON.

    The type of an error is one of unknown_tool, role, arguments (the call was not begun), timeout,
    and error.

    Args:
        tools: those that the policy may call.
        name: of one of them, if the policy did not err.
        arguments: a mapping, or its text as JSON.
        context: what the tool is given if it wants it.

    Raises:
        VerifierFault: the tool raised it: what the environment is made of failed, not the policy.
    """
    start = perf_counter()
    try:
        tool, given = _ready(tools, name, arguments, context)
        result = await _result(tool, given, context)
    except _CallRejected as refused:
        result = Failure(*refused.args)
    if isinstance(result, str):
        return result
    if result.fault is not None:
        raise result.fault
    return error_text(result.kind, str(name), result.message, perf_counter() - start)


def _ready(tools: Tools, name: object, arguments: object, context: ToolContext) -> Ready:
    tool = tools.get(name) if isinstance(name, str) else None
    if tool is None:
        asked = str(name)[:64]  # which is compared with few: 64 calls of a message may be wrong
        some = (
            tools
            if len(tools) <= NEAR
            else [each for each in tools if each[:2] == asked[:2]][:NEAR]
        )
        hint = suggest(asked, some, what="tools are") or f"there are {len(tools)} tools"
        raise _CallRejected("unknown_tool", f"there is no such tool; {hint}")
    if tool.roles and context.role not in tool.roles:
        raise _CallRejected(
            "role", f"it is for {', '.join(tool.roles)}, and you are {context.role}"
        )
    given = _arguments(arguments)
    try:
        problem = tool.problem(given)
    except Exception as error:  # noqa: BLE001 - nested too deeply, or a schema from elsewhere that is broken
        problem = f"they cannot be checked: {type(error).__name__}"
    if problem:
        raise _CallRejected("arguments", problem)
    if tool.context:
        given[tool.context] = context
    return tool, given


async def _result(tool: Tool, given: dict[str, object], context: ToolContext) -> str | Failure:
    if tool.where == "inline":
        return call_function(tool.function, given)
    key = _Caller(tool.function, context)
    result = cast("str | Failure | None", None)
    if left_running[key] >= STUCK:
        raise _CallRejected("timeout", f"{STUCK} earlier calls of this tool have not ended")
    try:
        if not tool.is_async:
            result = await in_thread(
                partial(call_function, tool.function, given), tool.timeout, key
            )
        elif tool.where == "caller":
            result = await on_loop(partial(_await_call, tool, given), tool.timeout, key, tool.code)
        else:
            result = await on_background_loop(
                partial(_await_call, tool, given), tool.timeout, key, tool.code
            )
    except Late:
        return Failure("timeout", f"no result within {tool.timeout:g} s")
    except LoopBlocked:
        told = (
            f"{tool.name}: another async tool blocks the event loop of async tools; make that a"
            " plain function, which runs in a thread"
        )
        return Failure("fault", told, EpisodeError(told, kind="unavailable", transient=True))
    return Failure("error", "the call was canceled") if result is None else result


async def _await_call(tool: Tool, given: dict[str, object]) -> str | Failure:
    try:
        return show_value(await tool.function(**given))  # type: ignore[misc] # it is async
    except asyncio.CancelledError:
        raise
    except BaseException as error:  # noqa: BLE001 - as above
        return failure(error)


def _arguments(arguments: object) -> dict[str, object]:
    if isinstance(arguments, Mapping):
        return dict(arguments)
    text = arguments if isinstance(arguments, str) else ""
    if len(text) > LONGEST:
        raise _CallRejected(
            "arguments", f"they have {len(text):,} characters; {LONGEST:,} are the most"
        )
    try:
        found = DECODER.decode(text or "{}")
    except (ValueError, RecursionError) as error:
        raise _CallRejected("arguments", f"they are not JSON: {error}"[:300]) from None
    if not isinstance(found, dict):
        raise _CallRejected("arguments", "they are a JSON object")
    return found


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number of JSON")


def _finite(text: str) -> float:
    """JSON has no infinity, but ``1e999`` is read as one."""
    number = float(text)
    return number if isfinite(number) else _no_constant(text[:40])


DECODER = json.JSONDecoder(parse_constant=_no_constant, parse_float=_finite)
