"""Tools as agents see them: their listing, what a call of one is, and what it gave.  The verifier
is not one of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
from rlenv import ConfigError
from rlenv.authoring import suggest
from rlenv_plugin_agent import Harness
from rlenv_plugin_agent.errors import error_in
from rlenv_plugin_agent.messages import copies

from .catalog import Served
from .http.answers import encode
from .http.body import convert, is_deep
from .http.keys import Tenant
from .http.problems import Problem
from .jsonrpc import INVALID_PARAMS
from .sessions import Action, Answer, Session, Sessions
from .sessions.actions import SUBMIT, call, submit
from .sessions.problems import FINISHED

ENDED = "The episode has ended."
# what `submit` does where a message does not end the episode
SAY = "Write a message, with this text."
# Names that no tool has: what a client of OpenEnv calls itself, and what the server adds.
FORBIDDEN = dict.fromkeys(("reset", "step", "state", "close"), "is a method of OpenEnv") | {
    SUBMIT: "ends every episode"
}
ERRORS = {"unknown_tool": "tool_not_found", "arguments": "invalid_args", "timeout": "timeout"}


class ToolCallParams(msgspec.Struct):
    """The parameters of ``tools/call``."""

    name: str
    arguments: dict[str, object] | None = None


def harness_of(served: Served) -> Harness:
    """Return the harness of an environment, the default one where it has none."""
    found = served.env.tables.get("harness")
    return found if isinstance(found, Harness) else Harness()


def ends_with_message(served: Served) -> bool:
    """Return whether a message of the policy without calls ends an episode."""
    harness = harness_of(served)
    return harness.answering is None and harness.kind != "agentic"


def tool_schemas(served: Served, session: Session | None = None) -> list[dict[str, object]]:
    """Return the tools of an episode, or else those that every episode of the environment has; and
    ``submit``, which says what it does in this environment.

    Args:
        served: the environment.
        session: of an episode; None: before one.
    """
    found = (
        session.episode.tools
        if session
        else [each.offered for each in harness_of(served).named.values()]
    )
    own = [dict(each["function"]) for each in copies([*found, submit.offered])]  # type: ignore[call-overload] # as of chat completions
    if not ends_with_message(served):
        own[-1]["description"] = SAY
    return own


async def tools_of(
    sessions: Sessions,
    tenant: Tenant,
    served: Served,
    id: str | None,  # noqa: A002 - the field's name
    schema: str,
) -> dict[str, object]:
    """Return the tools of an episode, as of ``listing``; those of every episode where none runs.

    Args:
        sessions: the episodes.
        tenant: whose episode it is.
        served: the environment.
        id: of an episode; None: before one.
        schema: the name that the protocol has for the schema of parameters.
    """
    session = None
    try:
        session = await sessions.get(tenant, id) if id else None
    except Problem as problem:
        if problem.code != FINISHED:
            raise
    return listing(tool_schemas(served, session), schema)


def check_names(served: Served) -> None:
    """
    Raises:
        ConfigError: for a tool whose name is a method of OpenEnv's clients, or of every
            environment's own.
    """
    for name in harness_of(served).named:
        if why := FORBIDDEN.get(name):
            raise ConfigError(
                f"{served.name}: the tool {name!r} cannot be served, because {name} {why}: give it"
                " another name"
            )


def listing(tools: Sequence[Mapping[str, object]], schema: str) -> dict[str, object]:
    """Return the tools, with the JSON Schema of their parameters under the name that the protocol
    has for it.

    Args:
        tools: as of chat completions.
        schema: that name.
    """
    return {
        "tools": [
            {
                "name": each["name"],
                "description": each.get("description", ""),
                schema: each["parameters"],
            }
            for each in tools
        ]
    }


def action_of_call(params: Mapping[str, object], depth: int) -> Action:
    """Return the call that the parameters of ``tools/call`` are; arguments that are nested deeper
    are one text, which no tool takes: an error would leave the episode unscored, whenever the
    policy likes.

    Args:
        params: of ``tools/call``.
        depth: levels of nested JSON.

    Raises:
        Problem: for parameters that name no tool.
    """
    found = convert(
        params, ToolCallParams, "expected name and arguments of a tool: ", INVALID_PARAMS
    )
    given = found.arguments or {}
    return call(
        found.name,
        {"arguments": encode(given).decode()} if is_deep(encode(given), depth) else given,
    )


async def check_tool(sessions: Sessions, tenant: Tenant, id: str, name: object) -> None:  # noqa: A002 - the field's name
    """Reject a call of a tool that an open episode does not have, as official servers of OpenEnv
    do.

    Args:
        sessions: the episodes.
        tenant: whose episode it is.
        id: of the episode.
        name: of the tool.

    Raises:
        Problem: 422 for such a name; as ``Sessions.get`` for an episode that is lost.
    """
    try:
        session = await sessions.get(tenant, id)
    except Problem as problem:
        if problem.code == FINISHED:
            return  # the call itself says so
        raise
    names = [*session.episode.named, SUBMIT]
    if name not in names:
        raise Problem(
            422, INVALID_PARAMS, f"Tool not found: {str(name)[:80]}; {suggest(str(name), names)}"
        )


def error_of(answer: Answer) -> dict[str, str] | None:
    """The error of a tool, as OpenEnv has it; None for a result."""
    match answer.messages:
        case [{"role": "tool", "content": str(text)}, *_]:
            found = error_in(text)
            if found is not None:
                kind = ERRORS.get(str(found["type"]), "execution_error")
                return {"error_type": kind, "message": str(found["message"])}
    return None


def result(answer: Answer) -> dict[str, object]:
    """Return what a call gave, as MCP has it.  It has neither reward nor verdict: an agent could
    try answers until one is right.
    """
    texts = [text for text in (answer.text, ENDED if answer.done else "") if text]
    return {
        "content": [{"type": "text", "text": text} for text in texts],
        "isError": error_of(answer) is not None,
    }
