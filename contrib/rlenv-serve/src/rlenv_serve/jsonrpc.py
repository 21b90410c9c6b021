"""JSON-RPC 2.0, as MCP and OpenEnv use it: one request, its methods by name, and its answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Literal, TypeAlias

import msgspec

from .http.body import convert
from .http.problems import Problem, result_or_problem

INVALID_PARAMS = "invalid_params"
CODES = {
    "invalid_request": -32600,
    "unknown_method": -32601,
    INVALID_PARAMS: -32602,
    "internal": -32603,
}
REFUSED = -32000  # any other problem

Params: TypeAlias = Mapping[str, object]
Method: TypeAlias = Callable[[Params], Awaitable[object]]


class RpcRequest(msgspec.Struct):
    """A request; where ``id`` is left out or null it is a notification, and has no answer over
    MCP.
    """

    jsonrpc: Literal["2.0"]
    method: str
    params: dict[str, object] | None = None
    id: str | int | None = None


def request_of(value: object) -> RpcRequest:
    """The request that ``value`` is.

    Raises:
        Problem: where it is not one; a list of several is not one either.
    """
    return convert(value, RpcRequest, "not a request of JSON-RPC 2.0: ", "invalid_request")


async def answer_request(request: RpcRequest, methods: Mapping[str, Method]) -> dict[str, object]:
    """The answer to a request.

    Args:
        request: to one of the methods, or to another one, which is an error.
        methods: by name; what they raise is an error too.
    """
    found = await result_or_problem(_result(request, methods), request.method[:80])
    if isinstance(found, Problem):
        return error_answer(found, request.id)
    return result_answer(found, request.id)


async def _result(request: RpcRequest, methods: Mapping[str, Method]) -> object:
    if (method := methods.get(request.method)) is None:
        raise Problem(
            404,
            "unknown_method",
            f"there is no method {request.method!r:.80}; there are {', '.join(methods)}",
        )
    return await method(request.params or {})


async def respond(value: object, methods: Mapping[str, Method]) -> dict[str, object]:
    """Return the answer to what may be a request.

    Args:
        value: decoded.
        methods: by name.
    """
    try:
        request = request_of(value)
    except Problem as problem:
        return error_answer(problem)
    return await answer_request(request, methods)


def result_answer(result: object, id: object) -> dict[str, object]:  # noqa: A002 - the field's name
    """Return the answer that has this result.

    Args:
        result: anything.
        id: of the request.
    """
    return {"jsonrpc": "2.0", "id": id, "result": result}


def error_answer(problem: Problem, id: object = None) -> dict[str, object]:  # noqa: A002 - the field's name
    """Return the answer that is this problem, as an error of JSON-RPC.

    Args:
        problem: that the request met.
        id: of the request; None where it is not known.
    """
    told = {
        "code": CODES.get(problem.code, REFUSED),
        "message": problem.detail,
        "data": {"code": problem.code, "status": problem.status},
    }
    return {"jsonrpc": "2.0", "id": id, "error": told}
