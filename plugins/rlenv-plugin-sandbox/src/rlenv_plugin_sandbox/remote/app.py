"""The server as an ASGI application: sandboxes of this machine over HTTP/1.1.

docs/explanation/sandbox-http.md has the protocol.  A session is one request: its answer stays open
for as long as the session, so whoever is gone takes the session and its programs along.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
import secrets
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import suppress
from http import HTTPStatus
from typing import Any, TypeVar

from rlenv.sandbox import Profile, Sandbox

from .payload import MEDIA, PATH, BadPayload, told, unwrap, wrap
from .session import Limits, ServedSession
from .tenants import Admit, RejectedError, Tenant

__all__ = ["SandboxApp"]

T = TypeVar("T")
Message = Mapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[dict[str, Any]], Awaitable[None]]

_SESSIONS = f"{PATH}/sessions"
_OF_SESSION = re.compile(
    rf"{re.escape(_SESSIONS)}/([A-Za-z0-9_-]{{22}})(?:/(start|send|recv|finish))?"
)
_LOOK_S = 1.0  # seconds between looks whether a session is idle, or the server ends
_STATUSES = {  # of errors of the port
    "config": HTTPStatus.UNPROCESSABLE_ENTITY,
    "fault": HTTPStatus.SERVICE_UNAVAILABLE,
    "timeout": HTTPStatus.GATEWAY_TIMEOUT,
    "long": HTTPStatus.BAD_GATEWAY,
    "ended": HTTPStatus.GONE,
}
_log = logging.getLogger("rlenv")


class _ClientGoneError(Exception):
    """The client has closed its connection: nobody reads an answer."""


class SandboxApp:
    """Serves one sandbox.

    Args:
        sandbox: of this machine.
        name: of it, as clients are told.
        admit: finds the tenant of a request.
        limits: of what a client may ask for.
        is_ending: whether the server ends, with what has no end of its own.
    """

    def __init__(
        self,
        sandbox: Sandbox,
        name: str,
        admit: Admit,
        limits: Limits | None = None,
        is_ending: Callable[[], bool] = lambda: False,
    ) -> None:
        self._sandbox = sandbox
        self._name = name
        self._admit = admit
        self._limits = limits or Limits()
        self._is_ending = is_ending
        self._sessions: dict[str, ServedSession] = {}
        self._tier: str | None = None

    async def tier(self) -> str:
        """The tier that the sandbox gives, from a session that is opened once.

        Raises:
            ConfigError, VerifierFault: the sandbox does not run here.
        """
        if self._tier is None:
            session = await self._sandbox.open(Profile(min_isolation="process"))
            await session.close()
            self._tier = session.isolation
        return self._tier

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            if scope["type"] == "websocket":
                await send({"type": "websocket.close"})
            return
        try:
            await self._route(scope, receive, send)
        except _ClientGoneError:
            return
        except RejectedError as error:
            await _reject(send, error.status, error.said)
        except BadPayload as error:
            await _reject(send, HTTPStatus.BAD_REQUEST, {"error": "request", "message": str(error)})
        except Exception as error:  # noqa: BLE001 - one client's trouble ends nobody else's work
            known = told(error)
            if known is None:
                _log.exception("sandbox server: a request failed")
                known = {"error": "fault", "kind": "error", "message": "the server has failed"}
            with suppress(Exception):  # as in `_reject`
                await _reply(send, _STATUSES[known["error"]], json.dumps(known).encode())

    async def _route(self, scope: Message, receive: Receive, send: Send) -> None:
        method = scope["method"]
        path = scope["path"]
        headers = {
            name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]
        }
        if "origin" in headers:
            raise RejectedError(HTTPStatus.FORBIDDEN, "a web page may not use this server")
        tenant = self._admit(headers)
        if (method, path) == ("GET", PATH):
            about = {"rlenv": 3, "tier": await self.tier(), "sandbox": self._name}
            await _reply(send, HTTPStatus.OK, json.dumps(about).encode())
            return
        if (method, path) == ("POST", _SESSIONS):
            await self._serve(tenant, headers, receive, send)
            return
        found = _OF_SESSION.fullmatch(path)
        what = "close" if method == "DELETE" and found and not found[2] else ""
        if method == "POST" and found and found[2]:
            what = found[2]
        if not found or not what:
            raise RejectedError(
                HTTPStatus.NOT_FOUND, f"{method} {path:.100} is no operation of a sandbox server"
            )
        session = self._sessions.get(found[1])
        if session is None or session.tenant is not tenant or session.ended.is_set():
            raise RejectedError(HTTPStatus.GONE, "this session has ended")
        with session:
            header, pieces = await self._question(headers, receive, has_body=method == "POST")
            said, parts = await _unless_gone(receive, session.answer(what, header, pieces))
            await _reply(send, HTTPStatus.OK, wrap(said, *parts), MEDIA)

    async def _serve(
        self, tenant: Tenant, headers: Mapping[str, str], receive: Receive, send: Send
    ) -> None:
        """Open a session, and keep it until its client or the server ends it."""
        if tenant.sessions >= self._limits.sessions:
            raise RejectedError(
                HTTPStatus.TOO_MANY_REQUESTS,
                f"{self._limits.sessions} sessions are open already: close some, or have more"
                " allowed (--sessions)",
            )
        tenant.sessions += 1
        name = secrets.token_urlsafe(16)
        session = None
        try:
            session = ServedSession(self._sandbox, await self.tier(), self._limits, tenant)
            header, pieces = await self._question(headers, receive)
            said, _ = await _unless_gone(receive, session.answer("open", header, pieces))
            self._sessions[name] = session
            await _begin(send, HTTPStatus.OK, "application/json")
            line = json.dumps({"session": name, **said}).encode() + b"\n"
            await send({"type": "http.response.body", "body": line, "more_body": True})
            await self._hold(session, receive)
            await send({"type": "http.response.body", "body": b""})
        finally:
            self._sessions.pop(name, None)
            tenant.sessions -= 1
            if session is not None:
                await session.end()

    async def _hold(self, session: ServedSession, receive: Receive) -> None:
        """Wait until the session has ended."""
        leaving = asyncio.create_task(_client_gone(receive))
        ended = asyncio.create_task(session.ended.wait())
        try:
            while not (leaving.done() or ended.done() or session.is_idle or self._is_ending()):
                await asyncio.wait(
                    {leaving, ended}, timeout=_LOOK_S, return_when=asyncio.FIRST_COMPLETED
                )
        finally:
            await _stop(leaving)
            await _stop(ended)

    async def _question(
        self, headers: Mapping[str, str], receive: Receive, *, has_body: bool = True
    ) -> tuple[dict[str, Any], list[bytes]]:
        """The header and the pieces of a request.

        Raises:
            BadPayload: it has none.
            RejectedError: it is too long, or does not come in time.
        """
        if not has_body:
            return {}, []
        try:
            async with asyncio.timeout(self._limits.idle_s):
                return unwrap(await _body(headers, receive, self._limits.frame_bytes))
        except TimeoutError:
            raise RejectedError(
                HTTPStatus.REQUEST_TIMEOUT, "the request did not come in time"
            ) from None


async def _body(headers: Mapping[str, str], receive: Receive, most: int) -> bytes:
    """
    Raises:
        RejectedError: it is longer than ``most`` bytes.
    """
    announced = headers.get("content-length", "0")
    size = int(announced) if announced.isdecimal() and len(announced) < 20 else most + 1
    chunks: list[bytes] = []
    came = 0
    more = True
    while more:
        if max(size, came) > most:
            raise RejectedError(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"a request has at most {most:,} bytes"
            )
        message = await receive()
        if message["type"] != "http.request":
            raise _ClientGoneError
        chunk = message.get("body", b"")
        came += len(chunk)
        chunks.append(chunk)
        more = message.get("more_body", False)
    if came > most:
        raise RejectedError(
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"a request has at most {most:,} bytes"
        )
    return b"".join(chunks)


async def _client_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _unless_gone(receive: Receive, work: Coroutine[Any, Any, T]) -> T:
    """Return what this work returns, which is stopped when the client is gone.

    Raises:
        RejectedError: a later request of the session has stopped it.
    """
    doing = asyncio.create_task(work)
    leaving = asyncio.create_task(_client_gone(receive))
    try:
        await asyncio.wait({doing, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not doing.done():
            raise _ClientGoneError
        if doing.cancelled():
            raise RejectedError(HTTPStatus.CONFLICT, "a later request took the place of this one")
        return doing.result()
    finally:
        await _stop(leaving)
        await _stop(doing)


async def _stop(task: asyncio.Task[Any]) -> None:
    """End a task.  Who is canceled meanwhile is so: a server that ends would wait for it
    forever.
    """
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def _begin(send: Send, status: int, media: str, *more: tuple[bytes, bytes]) -> None:
    headers = [(b"content-type", media.encode()), (b"cache-control", b"no-store"), *more]
    await send({"type": "http.response.start", "status": int(status), "headers": headers})


async def _reply(
    send: Send,
    status: int,
    body: bytes,
    media: str = "application/json",
    *more: tuple[bytes, bytes],
) -> None:
    await _begin(send, status, media, (b"content-length", b"%d" % len(body)), *more)
    await send({"type": "http.response.body", "body": body})


async def _reject(send: Send, status: int, said: Mapping[str, Any]) -> None:
    """Answer a request that may have a body that nobody reads."""
    more = [(b"connection", b"close")]
    if status == HTTPStatus.UNAUTHORIZED:
        more.append((b"www-authenticate", b"Bearer"))
    with suppress(Exception):  # its answer has begun, or the client broke HTTP in its body
        await _reply(send, status, json.dumps(said).encode(), "application/json", *more)
