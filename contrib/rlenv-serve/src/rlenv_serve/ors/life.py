"""A session from its beginning to its end, and what its policy is given."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.responses import Response

from rlenv_serve.catalog import Served
from rlenv_serve.http.endpoint import Call
from rlenv_serve.http.problems import invalid
from rlenv_serve.sessions import Session
from rlenv_serve.sessions.actions import SUBMIT
from rlenv_serve.sessions.sessions import SUBMIT_TOOL
from rlenv_serve.state.journal import Entry
from rlenv_serve.tools import described, ends_with_message, harness_of, listing, static_tools

from . import blocks
from .requests import NewEnvironment, NewSession, Object, check_secrets, environment, opened, sid_of
from .sse import HEADERS, event
from .tasks import at, in_split


async def create_session(call: Call) -> object:
    """Give the id of a session."""
    if call.read(NewSession).env:
        raise invalid("this server has no containers whose variables a client could set: leave env out", 400)  # fmt: skip
    sid = call.server.ors.new(call.tenant)
    return Response(event("task_id", sid) + event("end", ""), headers=HEADERS, media_type="text/event-stream")  # fmt: skip


async def create(call: Call) -> object:
    """Begin the session's episode."""
    sid, asked = sid_of(call), call.read(NewEnvironment)
    check_secrets(call)
    if asked.toolset_name is not None:
        raise invalid(f"unknown toolset {asked.toolset_name!r:.80}: the environment brings its tools", 400)  # fmt: skip
    served = environment(call, asked.env_name)
    match asked.task_spec, asked.split, asked.index:
        case None, str(split), int(index):
            task = at(in_split(served, split), index)
        case spec, None, None if spec is not None:
            task = served.of_spec(spec)
        case _:
            raise invalid("give either task_spec, or split and index")
    await call.server.ors.create(call.tenant, sid, served, task)
    return {"sid": sid}


async def ping(call: Call) -> object:
    """The client is there."""
    await call.server.ors.ping(call.tenant, sid_of(call))
    return {"status": "ok"}


async def delete(call: Call) -> object:
    """End a session; one that has no episode has ended already."""
    sid = sid_of(call)
    await call.server.ors.delete(call.tenant, sid)
    return {"sid": sid}


async def tools(call: Call) -> object:
    """The tools that every task of the environment has."""
    served = environment(call)
    return _tools(served, static_tools(served))


async def task_tools(call: Call) -> object:
    """The tools of this session's task."""
    served, found = await opened(call)
    own = call.server.sessions.tools(found) if isinstance(found, Session) else static_tools(served)
    return _tools(served, own)


async def prompt(call: Call) -> object:
    """What the policy is given, as blocks."""
    return blocks.flat(await _given(call))


async def messages(call: Call) -> object:
    """What the policy is given, as messages."""
    return [blocks.message(each) for each in await _given(call)]


async def _given(call: Call) -> Sequence[Object]:
    served, found = await opened(call)
    if isinstance(found, Entry):  # it has ended, and what it began with is the task
        return [dict(each) for each in served.task(found.begun.task).messages]
    return [dict(each) for each in found.first.messages]


def scores_groups(served: Served) -> bool:
    """Whether a verdict needs no more than the text of a response."""
    plain = harness_of(served).kind == "single-turn" and "state" not in served.env.tables
    return plain and not served.env.group_only


def _tools(served: Served, found: Sequence[Object]) -> Object:
    ends = ends_with_message(served)
    terminal = {"name": SUBMIT, "arg": "answer", "description": SUBMIT_TOOL["description"]}
    return {
        "tools": listing(described(served, found), "input_schema"),
        "terminal_tool": terminal if ends else None,
        "supports_score_group": scores_groups(served),
        "message_block_types": blocks.TYPES,
    }  # fmt: skip
