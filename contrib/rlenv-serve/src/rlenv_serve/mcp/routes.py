"""``/mcp/{env}`` and ``/mcp/{env}/{task_id}``: a POST for each message, answered as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from starlette.responses import Response

from rlenv_serve.http.answers import answer
from rlenv_serve.http.endpoint import Call, Endpoint
from rlenv_serve.http.problems import Problem, invalid
from rlenv_serve.jsonrpc import (
    RpcError,
    RpcRequest,
    answered,
    failed,
    request_of,
    succeeded,
)
from rlenv_serve.openenv.actions import task_of

from .session import NAME, VERSIONS, McpSession, greeting, initialize_of

SESSION, VERSION = "Mcp-Session-Id", "MCP-Protocol-Version"
DISCOVER = "server/discover"  # of later versions, which have no sessions; clients then fall back to ``initialize``
HEADERS = {SESSION: "of the answer to initialize; it is the id of the episode", VERSION: f"one of {', '.join(VERSIONS)}"}  # fmt: skip
QUERY = {"seed": "picks the task, where the path names none, and draws in the episode", "split": "of the tasks that the seed picks from"}  # fmt: skip


async def message(call: Call) -> object:
    """One message of a client."""
    _check_version(call)
    try:
        request = request_of(call.body)
    except RpcError as error:
        return answer(failed(error), 400)
    if request.method == "initialize":
        return await _begun(call, request)
    if request.method == DISCOVER:
        return await answered(request, {})
    session = await _session(call)
    if request.id is None:
        return Response(status_code=202)
    return await answered(request, session.named)


async def end(call: Call) -> object:
    """The session ends."""
    _check_version(call)
    await (await _session(call)).end()
    return Response(status_code=204)


async def _begun(call: Call, request: RpcRequest) -> Response:
    """A session that plays a new episode."""
    server, served = call.server, call.server.catalog.named(call.path["env"])
    query, id_ = call.request.query_params, call.path.get("task_id")
    task, seed = task_of(served, id_, _seed(query), query.get("split"))
    try:
        asked = initialize_of(request)
    except RpcError as error:
        return answer(failed(error, request.id))
    async with server.turns.of(call.tenant.name):
        session = await server.sessions.begin(call.tenant, served, task, seed=seed, agent=asked.client_info.name[:NAME])  # fmt: skip
    made = answer(succeeded(greeting(session, asked), request.id))
    made.headers[SESSION] = session.id
    return made


async def _session(call: Call) -> McpSession:
    """
    Raises:
        Problem: 400 without the header of a session; 404 where there is no such session.
    """
    served = call.server.catalog.named(call.path["env"])
    if not (id_ := call.header(SESSION)):
        raise Problem(400, "no_session", f"send {SESSION}, as the answer to initialize has it")
    session = McpSession(call.server, call.tenant, served, id_)
    await session.check()
    return session


def _check_version(call: Call) -> None:
    """
    Raises:
        Problem: 400 for a version that this server does not speak.
    """
    given = call.header(VERSION)
    is_probe = isinstance(call.body, Mapping) and call.body.get("method") in (
        DISCOVER,
        "initialize",
    )
    if given and given not in VERSIONS and not is_probe:
        raise invalid(f"{VERSION} is one of {', '.join(VERSIONS)}, not {given!r:.80}", 400)


def _seed(query: Mapping[str, str]) -> int | None:
    """
    Raises:
        Problem: 422 for a seed that is no integer.
    """
    given = query.get("seed")
    if given is None:
        return None
    if len(given) <= 18 and given.removeprefix("-").isdecimal():
        return int(given)
    raise invalid(f"seed is an integer of at most 18 digits, not {given!r:.80}")


ENDPOINTS: Sequence[Endpoint] = tuple(
    endpoint
    for path in ("/mcp/{env}", "/mcp/{env}/{task_id:path}")
    for endpoint in (
        Endpoint("POST", path, message, "A message of the Model Context Protocol", object, tag="mcp", errors=(400, 404), headers=HEADERS, query=QUERY),
        Endpoint("DELETE", path, end, "End a session; its episode is judged as it is", status=204, tag="mcp", errors=(400, 404), headers=HEADERS),
    )
)  # fmt: skip
