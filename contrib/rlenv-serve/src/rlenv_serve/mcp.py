"""The Model Context Protocol over streamable HTTP: tools of environments for agents.

At ``/mcp/{env}`` and ``/mcp/{env}/{task_id}`` a POST brings each message and is answered as JSON.
A session is an episode, and has its id.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from importlib.metadata import version

import msgspec
from starlette.responses import Response

from . import jsonrpc
from .http.answers import answer
from .http.body import check_members, convert
from .http.problems import Problem, invalid
from .jsonrpc import INVALID_PARAMS, Method, Params, RpcRequest
from .server.endpoint import Call, Endpoint
from .sessions import Session
from .sessions.actions import END
from .sessions.choice import TaskChoice, begin_first, tasks_of
from .state.journal import Entry
from .tools import action_of_call, result, tools_of

VERSIONS = ("2025-03-26", "2025-06-18", "2025-11-25")
SESSION = "Mcp-Session-Id"
VERSION = "MCP-Protocol-Version"
# of later versions, which have no sessions; clients then fall back to ``initialize``
DISCOVER = "server/discover"
PROBES = (DISCOVER, "initialize")  # what a client may ask in any version
EPISODE = "rlenv/episode_id"
NAME = 200  # characters of a client's name
HEADERS = {
    SESSION: "of the answer to initialize; it is the id of the episode",
    VERSION: f"one of {', '.join(VERSIONS)}",
}
QUERY = {
    "seed": "picks the task, where the path names none, and draws in the episode",
    "split": "of the tasks that the seed picks from",
}


class ClientInfo(msgspec.Struct):
    """The name that the client gives itself."""

    name: str = ""


class Initialize(msgspec.Struct, rename="camel"):
    """The parameters of ``initialize``; other members are left alone."""

    protocol_version: str = VERSIONS[-1]
    client_info: ClientInfo = msgspec.field(default_factory=ClientInfo)


async def message(call: Call) -> object:
    """One message of a client."""
    _check_version(call)
    try:
        request = jsonrpc.request_of(call.body)
    except Problem as problem:
        return answer(jsonrpc.error_answer(problem), 400)
    if request.method == "initialize":
        return await _begin_session(call, request)
    if request.method == DISCOVER:
        return await jsonrpc.answer_request(request, {})
    entry = await _session(call)
    if request.id is None:
        return Response(status_code=202)
    return await jsonrpc.answer_request(request, _methods(call, entry.begun.id))


async def end(call: Call) -> object:
    """The session ends: its episode is judged as it is, and forgotten where nothing was done in
    it.
    """
    _check_version(call)
    sessions = call.server.sessions
    entry = await _session(call)
    if entry.ended is None and not entry.steps:
        await sessions.delete(call.tenant, entry.begun.id)
    elif entry.ended is None:
        await sessions.step(call.tenant, entry.begun.id, END)
    return Response(status_code=204)


async def _begin_session(call: Call, request: RpcRequest) -> Response:
    """A session that plays a new episode of the task that path and query ask for."""
    served = call.server.catalog.lookup(call.path["env"])
    query = call.request.query_params
    check_members(query, ("task_id", *QUERY))
    picked = convert(
        {**query, **call.path}, TaskChoice, f"in the query {str(query)!r:.80}: ", strict=False
    )
    tasks, seed = tasks_of(served, picked)
    try:
        if request.id is None:
            raise Problem(400, "invalid_request", "initialize needs an id")
        asked = convert(request.params or {}, Initialize, code=INVALID_PARAMS)
    except Problem as problem:
        return answer(jsonrpc.error_answer(problem, request.id))
    agent = asked.client_info.name[:NAME]
    begin = partial(call.server.sessions.begin, call.tenant, served, seed=seed, agent=agent)
    session = await begin_first(tasks, begin)
    made = answer(jsonrpc.result_answer(_greeting(session, asked), request.id))
    made.headers[SESSION] = session.id
    return made


def _greeting(session: Session, asked: Initialize) -> dict[str, object]:
    """Return the answer to ``initialize``: its instructions are what the policy is given at the
    start of the episode.
    """
    agreed = asked.protocol_version if asked.protocol_version in VERSIONS else VERSIONS[-1]
    return {
        "protocolVersion": agreed,
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "rlenv", "version": version("rlenv-serve")},
        "instructions": session.first.text,
        "_meta": {EPISODE: session.id},
    }


async def _session(call: Call) -> Entry:
    """The session's episode.

    Raises:
        Problem: 400 without the header; 404 where the tenant has no such session with this
            environment.
    """
    served = call.server.catalog.lookup(call.path["env"])
    if not (id_ := call.header(SESSION)):
        raise Problem(400, "no_session", f"send {SESSION}, as the answer to initialize has it")
    return await call.server.sessions.entry(call.tenant, id_, served)


def _methods(call: Call, id_: str) -> Mapping[str, Method]:
    """The methods of a session by name."""
    server = call.server
    served = call.server.catalog.lookup(call.path["env"])

    async def ping(_: Params) -> object:
        return {}

    async def list_tools(_: Params) -> object:
        return await tools_of(server.sessions, call.tenant, served, id_, "inputSchema")

    async def call_tool(params: Params) -> object:
        action = action_of_call(params, server.limits.depth)
        return result(await server.sessions.step(call.tenant, id_, action))

    return {"ping": ping, "tools/list": list_tools, "tools/call": call_tool}


def _check_version(call: Call) -> None:
    """
    Raises:
        Problem: 400 for a version that this server does not speak.
    """
    given = call.header(VERSION)
    is_probe = isinstance(call.body, Mapping) and call.body.get("method") in PROBES
    if given and given not in VERSIONS and not is_probe:
        raise invalid(f"{VERSION} is one of {', '.join(VERSIONS)}, not {given!r:.80}", 400)


ENDPOINTS: Sequence[Endpoint] = tuple(
    endpoint
    for path in ("/mcp/{env}", "/mcp/{env}/{task_id:path}")
    for endpoint in (
        Endpoint(
            "POST",
            path,
            message,
            "A message of the Model Context Protocol",
            object,
            tag="mcp",
            lenient=True,
            errors=(400, 404),
            headers=HEADERS,
            query=QUERY,
        ),
        Endpoint(
            "DELETE",
            path,
            end,
            "End a session; its episode is judged as it is",
            status=204,
            tag="mcp",
            errors=(400, 404),
            headers=HEADERS,
        ),
    )
)
