"""JSON-RPC 2.0, as MCP and OpenEnv use it: one request, its methods by name, and its answer."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Literal, TypeAlias

import msgspec

from .http.problems import Problem

INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, INTERNAL, REFUSED = -32600, -32601, -32602, -32603, -32000  # fmt: skip
MESSAGE = 500  # characters of a decoder's message
logger = logging.getLogger("rlenv_serve")

Params: TypeAlias = Mapping[str, object]
Method: TypeAlias = Callable[[Params], Awaitable[object]]


class RpcError(Exception):
    """A request that is answered with an error.

    Args:
        code: of JSON-RPC.
        message: what was expected.
        data: for programs.
    """

    def __init__(self, code: int, message: str, data: object = None) -> None:
        super().__init__(message)
        self.code, self.message, self.data = code, message, data


class RpcRequest(msgspec.Struct):
    """A request; where ``id`` is left out or null it is a notification, and has no answer over MCP."""

    jsonrpc: Literal["2.0"]
    method: str
    params: dict[str, object] | None = None
    id: str | int | None = None


def request_of(value: object) -> RpcRequest:
    """The request that ``value`` is.

    Raises:
        RpcError: where it is none; several in a list are none either.
    """
    try:
        return msgspec.convert(value, RpcRequest)
    except msgspec.ValidationError as error:
        raise RpcError(INVALID_REQUEST, f"not a request of JSON-RPC 2.0: {str(error)[:MESSAGE]}") from None  # fmt: skip


async def answered(request: RpcRequest, methods: Mapping[str, Method]) -> dict[str, object]:
    """The answer to a request.

    Args:
        request: to one of the methods, or to another one, which is an error.
        methods: by name; what they raise is an error too.
    """
    try:
        method = methods.get(request.method)
        if method is None:
            raise RpcError(METHOD_NOT_FOUND, f"there is no method {request.method!r:.80}; there are {', '.join(methods)}")  # fmt: skip
        return succeeded(await method(request.params or {}), request.id)
    except RpcError as error:
        return failed(error, request.id)
    except Problem as problem:
        data = {"code": problem.code, "status": problem.status}
        return failed(RpcError(REFUSED, problem.detail, data), request.id)
    except Exception:
        logger.exception("%s failed", request.method[:80])
        return failed(RpcError(INTERNAL, "the server failed; its log says why"), request.id)


def succeeded(result: object, id: object) -> dict[str, object]:  # noqa: A002 - the field's name
    """The answer that has this result."""
    return {"jsonrpc": "2.0", "id": id, "result": result}


def failed(error: RpcError, id: object = None) -> dict[str, object]:  # noqa: A002 - the field's name
    """The answer that is this error."""
    told: dict[str, object] = {"code": error.code, "message": error.message}
    told |= {} if error.data is None else {"data": error.data}
    return {"jsonrpc": "2.0", "id": id, "error": told}
