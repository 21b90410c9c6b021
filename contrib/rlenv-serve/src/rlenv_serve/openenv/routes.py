"""``/openenv/{env}`` over HTTP: what a client may know of an environment, which is neither a task's
answer nor its verifier.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import version
from typing import NoReturn

import msgspec

from rlenv_serve.catalog import Served
from rlenv_serve.http.problems import Problem
from rlenv_serve.jsonrpc import respond
from rlenv_serve.server.endpoint import Call, Endpoint
from rlenv_serve.tools import harness_of, tool_schemas

from .actions import CALL_TOOL, Reset
from .methods import methods

TAG = "openenv"
TALK = ("single-turn", "multi-turn")
NUMBER = {"anyOf": [{"type": "number"}, {"type": "null"}]}
MESSAGES = {"type": "array", "items": {"type": "object"}, "description": "as a chat has them"}
TEXT = {"type": "string"}


async def health(call: Call) -> object:
    """The environment is served."""
    call.server.catalog.lookup(call.path["env"])
    return {"status": "healthy"}


async def metadata(call: Call) -> object:
    """For people: a name, a description and a version."""
    served = call.server.catalog.lookup(call.path["env"])
    told = f"{harness_of(served).kind}, {len(served.env.tasks):,} tasks, served by rlenv"
    return {
        "name": served.name,
        "description": told,
        "readme_content": None,
        "version": version("rlenv-serve"),
        "author": None,
        "documentation_url": None,
    }


async def schema(call: Call) -> object:
    """JSON Schemas of what frames hold: actions, observations and state, and besides what ``reset``
    takes.
    """
    _, own = msgspec.json.schema_components([Reset])
    seen: dict[str, object] = {
        "messages": MESSAGES,
        "text": {**TEXT, "description": "The texts of the messages."},
        "value": {"description": "What the user of a game returned."},
        "tool_name": TEXT,
        "result": {"description": "The text of the tool."},
        "error": {"type": ["object", "null"]},
        "task_id": TEXT,
        "episode_id": TEXT,
        "reward": NUMBER,
        "done": {"type": "boolean"},
    }
    state: dict[str, object] = {
        "episode_id": {"type": ["string", "null"]},
        "step_count": {"type": "integer"},
        "session_id": TEXT,
        "task_id": {"type": ["string", "null"]},
        "done": {"type": "boolean"},
    }
    return {
        "action": _action(call.server.catalog.lookup(call.path["env"])),
        "observation": _object("Observation", [], seen),
        "state": _object("State", ["step_count"], state),
        "reset": own["Reset"],
    }


async def names(call: Call) -> object:
    """The one environment that this address has."""
    return [call.server.catalog.lookup(call.path["env"]).name]


async def rpc(call: Call) -> object:
    """Sessions and tools; each error is one of JSON-RPC, at status 200."""
    served = call.server.catalog.lookup(call.path["env"])
    return await respond(call.body, methods(call.server, call.tenant, served))


async def stateful(call: Call) -> NoReturn:
    """
    Raises:
        Problem: 409.  Official servers make a new environment for each of these requests, so that
            no step follows another.
    """
    call.server.catalog.lookup(call.path["env"])
    raise Problem(
        409,
        "stateful",
        "an episode has several requests, which one connection keeps together: use the WebSocket"
        " /openenv/{env}/ws, or POST /episodes",
    )


def _action(served: Served) -> dict[str, object]:
    """The action of an environment.

    Clients put the text of a policy into the one field that is required.
    """
    harness = harness_of(served)
    if harness.kind in TALK:
        field = "answer" if harness.kind == "single-turn" else "message"
        fields: dict[str, object] = {field: {**TEXT, "description": "What the policy says."}}
        if harness.user is not None:
            fields["value"] = {"description": "An action of a game, in place of a message."}
        return _object("Say", [field], fields)
    names = [each["name"] for each in tool_schemas(served)]
    fields = {
        "type": {"const": CALL_TOOL, "default": CALL_TOOL},
        "tool_name": {
            **TEXT,
            "examples": names,
            "description": "A tool; submit ends the episode with an answer.",
        },
        "arguments": {"type": "object", "description": "Arguments of the tool."},
    }
    # Clients know this title: they show the tools with it.
    return _object("CallToolAction", ["tool_name"], fields)


def _object(title: str, required: list[str], properties: dict[str, object]) -> dict[str, object]:
    return {"title": title, "type": "object", "properties": properties, "required": required}


ENDPOINTS: Sequence[Endpoint] = (
    Endpoint(
        "GET",
        "/openenv/{env}/health",
        health,
        "Whether the environment is served",
        public=True,
        tag=TAG,
        errors=(404,),
    ),
    Endpoint(
        "GET",
        "/openenv/{env}/metadata",
        metadata,
        "Name, description and version",
        tag=TAG,
        errors=(404,),
    ),
    Endpoint(
        "GET",
        "/openenv/{env}/schema",
        schema,
        "JSON Schemas of actions, observations, state and reset",
        tag=TAG,
        errors=(404,),
    ),
    Endpoint(
        "GET",
        "/openenv/{env}/list_environments",
        names,
        "The environment, as routes of tasks name it",
        tag=TAG,
        errors=(404,),
    ),
    Endpoint(
        "POST",
        "/openenv/{env}/mcp",
        rpc,
        "Sessions and tools, as JSON-RPC",
        object,
        tag=TAG,
        lenient=True,
        errors=(404,),
    ),
    *(
        Endpoint(
            method,
            f"/openenv/{{env}}/{name}",
            stateful,
            f"Not over HTTP: {name} is a frame of the WebSocket",
            tag=TAG,
            errors=(404, 409),
        )
        for method, name in (("POST", "reset"), ("POST", "step"), ("GET", "state"))
    ),
)
