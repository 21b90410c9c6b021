"""One route: who may call it, what it takes and gives, and what becomes of errors."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeAlias, TypeVar

import msgspec
from attrs import define, field, frozen
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from rlenv_serve.http.answers import JSON, answer
from rlenv_serve.http.body import check_encoding, decode, read
from rlenv_serve.http.keys import Tenant
from rlenv_serve.http.origin import check_origin
from rlenv_serve.http.problems import Problem, invalid, result_or_problem
from rlenv_serve.metrics import TRACEPARENT

from .server import Server

T = TypeVar("T")
logger = logging.getLogger("rlenv_serve")
CLOSED = 499  # what logs say of a request whose client is gone
KEY = "Idempotency-Key"
KEY_LENGTH = 200
ENDING = Problem(
    503,
    "ending",
    "the server ends, and this was not done in time: send it again, with the same Idempotency-Key"
    " if it had one",
    Retry_After="5",
    Connection="close",
)


@define
class Call:
    """One request, read and allowed.

    Args:
        server: what it asks for something.
        request: for headers, query, and to see whether the client is still there.
        tenant: whose request it is.
        body: as ``Endpoint.takes`` has it; None without.
        raw: the bytes of the body.
        headers: of the request, by names in lower case; the first of each.
    """

    server: Server
    request: Request
    tenant: Tenant
    body: object = None
    raw: bytes = b""
    headers: Mapping[str, str] = field(factory=dict)

    @property
    def path(self) -> dict[str, str]:
        """The parameters of the path."""
        return self.request.path_params

    def read(self, kind: type[T]) -> T:
        """The body, which is of the type that ``Endpoint.takes`` says."""
        assert isinstance(self.body, kind)
        return self.body

    def header(self, name: str) -> str:
        """A header, "" where there is none."""
        return self.headers.get(name.lower(), "")


def idempotency_key(call: Call) -> str:
    """The idempotency key of a request, "" without.

    Raises:
        Problem: 422 for one that is too long.
    """
    if len(key := call.header(KEY)) > KEY_LENGTH:
        raise invalid(f"{KEY} has at most {KEY_LENGTH} characters")
    return key


Handler: TypeAlias = Callable[[Call], Awaitable[object]]


@frozen
class Endpoint:
    """One operation; the OpenAPI document says the same.

    Args:
        method: of HTTP.
        path: as Starlette has it, with ``{parameters}``.
        handler: gives a value that is answered as JSON, or a response of its own.
        summary: one line.
        takes: the type of the body; None: there is none.
        gives: the type of what the handler gives, for the document.
        status: of a good answer.
        accepted: the type of what it answers with 202 while it is not done; None: it never does.
        public: no key is needed.
        tag: the protocol, for the document and for metrics.
        lenient: as of ``decode``, for what a policy wrote.
        errors: statuses that it may answer besides those that every operation may.
        headers: of requests that it reads, with a line on each, for the document.
        query: parameters of the query, likewise.
        media: the types of a good answer.
        head: a GET may also be asked for with HEAD; False where asking has an effect, or has no
            end.
    """

    method: str
    path: str
    handler: Handler
    summary: str
    takes: object = None
    gives: object = None
    status: int = 200
    accepted: object = None
    public: bool = False
    tag: str = "rlenv"
    lenient: bool = False
    errors: tuple[int, ...] = ()
    headers: dict[str, str] = field(factory=dict)
    query: dict[str, str] = field(factory=dict)
    media: tuple[str, ...] = (JSON,)
    head: bool = True
    decoder: msgspec.json.Decoder[object] | None = field(init=False, repr=False, eq=False)

    @decoder.default
    def _make_decoder(self) -> msgspec.json.Decoder[object] | None:
        """Make the decoder once, since it is what costs."""
        return None if self.takes is None else msgspec.json.Decoder(self.takes)


@frozen
class Operation:
    """An endpoint as an ASGI application."""

    server: Server
    endpoint: Endpoint

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        started = time.perf_counter()
        request = Request(scope, receive)
        status = CLOSED
        what = f"{self.endpoint.method} {self.endpoint.path}"
        try:
            response = await self._response(request, what)
            status = response.status_code
            await response(scope, receive, send)
        except ClientDisconnect:
            logger.debug("%s: the client is gone", what)
        except asyncio.CancelledError:
            if not self.server.is_ending():
                raise
            logger.warning("%s: its answer was cut off, since the server ends", what)
        finally:
            seconds = time.perf_counter() - started
            self.server.metrics.request(self.endpoint.tag, self.endpoint.path, status, seconds)

    async def _response(self, request: Request, what: str) -> Response:
        try:
            found = await result_or_problem(self._answer(request), what)
        except asyncio.CancelledError:
            # Uvicorn cancels what still runs when its grace is over.
            if not self.server.is_ending():
                raise
            found = ENDING
        return found.response() if isinstance(found, Problem) else found

    async def _answer(self, request: Request) -> Response:
        endpoint = self.endpoint
        server = self.server
        headers = {
            name.decode("latin-1"): value.decode("latin-1")
            for name, value in reversed(request.scope["headers"])
        }
        TRACEPARENT.set(headers.get("traceparent", ""))
        check_origin(headers, keyless=server.keys.tenants is None)
        tenant = Tenant() if endpoint.public else server.keys.tenant(headers)
        call = Call(server, request, tenant, headers=headers)
        if endpoint.decoder is not None:
            check_encoding(headers)
            call.raw = await read(request, server.limits.body)
            call.body = decode(
                call.raw or b"{}", endpoint.decoder, server.limits.depth, lenient=endpoint.lenient
            )
        return answer(await endpoint.handler(call), endpoint.status)


def route(server: Server, endpoint: Endpoint) -> Route:
    """Make the endpoint as a route of Starlette.

    Args:
        server: that answers.
        endpoint: of the operation.
    """
    made = Route(endpoint.path, Operation(server, endpoint), methods=[endpoint.method])
    if not endpoint.head and made.methods:
        made.methods.discard("HEAD")  # which Starlette adds to each GET
    return made
