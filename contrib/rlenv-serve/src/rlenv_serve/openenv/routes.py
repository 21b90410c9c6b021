"""``/openenv/{env}`` over HTTP."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from rlenv_serve.http.endpoint import Call, Endpoint
from rlenv_serve.http.problems import Problem
from rlenv_serve.jsonrpc import respond

from .methods import Methods
from .schema import metadata, schemas

TAG = "openenv"


async def health(call: Call) -> object:
    """The environment is served."""
    call.server.catalog.named(call.path["env"])
    return {"status": "healthy"}


async def described(call: Call) -> object:
    """Name, description and version."""
    return metadata(call.server.catalog.named(call.path["env"]))


async def schema(call: Call) -> object:
    """JSON Schemas of what frames hold."""
    return schemas(call.server.catalog.named(call.path["env"]))


async def names(call: Call) -> object:
    """The one environment that this address has."""
    return [call.server.catalog.named(call.path["env"]).name]


async def rpc(call: Call) -> object:
    """Sessions and tools; each error is one of JSON-RPC, at status 200."""
    served = call.server.catalog.named(call.path["env"])
    return await respond(call.body, Methods(call.server, call.tenant, served).named)


async def stateful(call: Call) -> NoReturn:
    """
    Raises:
        Problem: 409.  Official servers make a new environment for each of these requests, so that no step follows another.
    """
    call.server.catalog.named(call.path["env"])
    raise Problem(409, "stateful", "an episode has several requests, which one connection keeps together: use the WebSocket /openenv/{env}/ws, or POST /episodes")  # fmt: skip


ENDPOINTS: Sequence[Endpoint] = (
    Endpoint("GET", "/openenv/{env}/health", health, "Whether the environment is served", public=True, tag=TAG, errors=(404,)),
    Endpoint("GET", "/openenv/{env}/metadata", described, "Name, description and version", tag=TAG, errors=(404,)),
    Endpoint("GET", "/openenv/{env}/schema", schema, "JSON Schemas of actions, observations, state and reset", tag=TAG, errors=(404,)),
    Endpoint("GET", "/openenv/{env}/list_environments", names, "The environment, as routes of tasks name it", tag=TAG, errors=(404,)),
    Endpoint("POST", "/openenv/{env}/mcp", rpc, "Sessions and tools, as JSON-RPC", object, tag=TAG, errors=(404,)),
    *(
        Endpoint(method, f"/openenv/{{env}}/{name}", stateful, f"Not over HTTP: {name} is a frame of the WebSocket", tag=TAG, errors=(404, 409))
        for method, name in (("POST", "reset"), ("POST", "step"), ("GET", "state"))
    ),
)  # fmt: skip
