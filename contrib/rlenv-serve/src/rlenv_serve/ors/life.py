"""A session from its beginning to its end, and what its policy is given."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Mapping, Sequence

import msgspec
from starlette.responses import Response

from rlenv_serve.catalog import Served
from rlenv_serve.http.problems import invalid
from rlenv_serve.server.endpoint import Call
from rlenv_serve.sessions import Session
from rlenv_serve.sessions.actions import SUBMIT, submit
from rlenv_serve.state.journal import Entry
from rlenv_serve.tools import ends_with_message, harness_of, listing, tool_schemas

from . import blocks
from .blocks import Object
from .sessions import OrsSessions
from .sse import HEADERS, event
from .tasks import at, environment, in_split

SID = "X-Session-ID"


class NewSession(msgspec.Struct, forbid_unknown_fields=True):
    """The body that begins a session; ``env`` is of the platform, and empty."""

    env: dict[str, object] | None = None


class NewEnvironment(msgspec.Struct, forbid_unknown_fields=True):
    """The task of a session: a reference that the server gave, or a split and an index."""

    task_spec: object = None
    split: str | None = None
    index: int | None = None
    env_name: str | None = None
    toolset_name: str | None = None
    # Clients of `ors-sdk` may send them here too; they are dropped, as those of the header are.
    secrets: dict[str, str] | None = None


async def create_session(call: Call) -> object:
    """Give the id of a session."""
    if call.read(NewSession).env:
        raise invalid(
            "this server has no containers whose variables a client could set: leave env out", 400
        )
    sid = OrsSessions.of(call.server).new(call.tenant)
    return Response(event("task_id", sid) + event("end", ""), headers=HEADERS)


async def create(call: Call) -> object:
    """Begin the session's episode."""
    sid = sid_of(call)
    asked = call.read(NewEnvironment)
    check_secrets(call)
    if asked.toolset_name is not None:
        raise invalid(
            f"unknown toolset {asked.toolset_name!r:.80}: the environment brings its tools", 400
        )
    served = environment(call, asked.env_name)
    match asked.task_spec, asked.split, asked.index:
        case None, str(split), int(index):
            task = at(in_split(served, split), index)
        case spec, None, None if spec is not None:
            task = served.of_spec(spec)
        case _:
            raise invalid("give either task_spec, or split and index")
    await OrsSessions.of(call.server).create(call.tenant, sid, served, task)
    return {"sid": sid}


async def ping(call: Call) -> object:
    """The client is there."""
    await OrsSessions.of(call.server).ping(call.tenant, sid_of(call))
    return {"status": "ok"}


async def delete(call: Call) -> object:
    """End a session; one that has no episode has ended already."""
    sid = sid_of(call)
    await OrsSessions.of(call.server).delete(call.tenant, sid)
    return {"sid": sid}


async def tools(call: Call) -> object:
    """The tools that every task of the environment has."""
    return _tools(environment(call))


async def task_tools(call: Call) -> object:
    """The tools of this session's task."""
    served, found = await session_of(call)
    return _tools(served, found if isinstance(found, Session) else None)


async def prompt(call: Call) -> object:
    """Return what the policy is given, as blocks."""
    return blocks.flat(await _first_messages(call))


async def messages(call: Call) -> object:
    """Return what the policy is given, as messages."""
    return [blocks.message(each) for each in await _first_messages(call)]


async def _first_messages(call: Call) -> Sequence[Mapping[str, object]]:
    served, found = await session_of(call)
    if isinstance(found, Entry):  # it has ended, and what it began with is the task
        return served.task(found.begun.task).messages
    return found.first.messages


def sid_of(call: Call) -> str:
    """
    Raises:
        Problem: 400 without the header.
    """
    if not (found := call.header(SID).strip()):
        raise invalid("X-Session-ID header is required", 400)
    return found


async def session_of(call: Call) -> tuple[Served, Session | Entry]:
    """The session of a request, which is of the environment that the path names.

    Raises:
        Problem: as ``OrsSessions.get``; 400 for a session of another environment.
    """
    found = await OrsSessions.of(call.server).get(call.tenant, sid_of(call))
    name = found.begun.environment
    asked = call.path.get("env")
    if asked and asked.lower() != name:
        raise invalid(
            f"this session is of {name}, not of {asked!r:.80}: name the environment in /create, as"
            " env_name",
            400,
        )
    return call.server.catalog.lookup(name), found


def check_secrets(call: Call) -> None:
    """Secrets are accepted and dropped: environments have those of the operator.

    Raises:
        Problem: 400 for what is not the header that clients send.
    """
    try:
        msgspec.json.decode(b64decode(call.header("X-Secrets"), validate=True) or b"{}", type=dict)
    except (ValueError, RecursionError, msgspec.DecodeError):
        raise invalid("X-Secrets is base64 of an object of JSON", 400) from None


def scores_groups(served: Served) -> bool:
    """Return whether a verdict needs no more than the text of a response."""
    plain = harness_of(served).kind == "single-turn" and "state" not in served.env.tables
    return plain and not served.env.group_only


def _tools(served: Served, session: Session | None = None) -> Object:
    ends = ends_with_message(served)
    terminal = {"name": SUBMIT, "arg": "answer", "description": submit.description}
    return {
        **listing(tool_schemas(served, session), "input_schema"),
        "terminal_tool": terminal if ends else None,
        "supports_score_group": scores_groups(served),
        "message_block_types": blocks.TYPES,
    }  # fmt: skip
