"""The stand-alone server: who may reach the application, and how long they may take.

It needs uvicorn, the extra ``server``; ``rlenv serve`` mounts the same application.
"""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import socket
import ssl
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from rlenv import ConfigError
from rlenv.sandbox import Sandbox, rank

from rlenv_plugin_sandbox.keepalive import stay_aware
from rlenv_plugin_sandbox.pool import default_places

from .app import SandboxApp
from .keys import Key, bearer, check_token, tenant_of
from .session import Limits
from .tenants import RejectedError, Tenant

if TYPE_CHECKING:
    from asyncio import Task

__all__ = ["Server"]

_log = logging.getLogger("rlenv")
_GREETING_S = 10.0  # for TLS, and for the head of the first request
_FULL_S = 0.1  # until it is tried again where no descriptor is left for a connection
_LOOK_S = 0.5  # seconds between looks at a connection
_HEAD_MOST = 1 << 16  # bytes of the head of a request
_STRANGERS = 64  # connections at one time that have brought no request
_TOKEN_LEAST = 16  # characters, where anybody may try tokens


class Server:
    """Serves one sandbox to whoever has the token, or a key.

    Args:
        sandbox: of this machine.
        name: of it.
        token: that everyone may use who has it; "" without.
        keys: of tenants.
        limits: of what a client may ask for.
        context: of TLS; None: connections are not encrypted.
        plain_http: whether other machines may connect without TLS.
    """

    def __init__(
        self,
        sandbox: Sandbox,
        name: str,
        token: str = "",
        keys: Sequence[Key] = (),
        *,
        limits: Limits | None = None,
        context: ssl.SSLContext | None = None,
        plain_http: bool = False,
    ) -> None:
        check_token(token)
        self._name = name
        self._is_guessable = 0 < len(token) < _TOKEN_LEAST
        self._keys = (*keys, Key.of(token)) if token else tuple(keys)
        self._limits = limits or Limits()
        self._context = context
        self._plain_http = plain_http
        self._tenants = self._make_tenants()
        self._app = SandboxApp(sandbox, name, self._admit, self._limits)
        # from where, "" for who has brought a request; oldest first
        self._clients: dict[Task[None], str] = {}

    def _make_tenants(self) -> dict[str, Tenant]:
        names = {key.tenant for key in self._keys} or {""}
        shared = max(1, default_places() - 1) if len(names) > 1 else sys.maxsize
        return {name: Tenant(self._limits.programs or shared) for name in names}

    def _admit(self, headers: Mapping[str, str]) -> Tenant:
        if not self._keys:
            return self._tenants[""]
        found = tenant_of(self._keys, bearer(headers.get("authorization", "")))
        if found is None:
            raise RejectedError(
                HTTPStatus.UNAUTHORIZED,
                "a token is needed, and this is not it: give the option token, or set"
                " RLENV_SANDBOX_TOKEN",
            )
        return self._tenants[found]

    async def listen(self, host: str, port: int) -> socket.socket:
        """Make a listening socket, once the sandbox has shown that it runs here.

        Args:
            host: an address of this machine.
            port: of TCP; 0 takes a free one.

        Raises:
            ConfigError: whoever connects could do harm, or read along.
        """
        if not ipaddress.ip_address(host).is_loopback:
            self._check_reachable(host)
        tier: Any = await self._app.tier()
        if not self._keys and not rank(tier):
            raise ConfigError(
                f"sandbox {self._name!r} isolates nothing: every user of this machine could run"
                " programs as you; give a token (RLENV_SANDBOX_TOKEN)"
            )
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        sock = socket.create_server((host, port), family=family, backlog=1024)
        stay_aware(sock)
        sock.setblocking(False)  # noqa: FBT003 - the library's word
        return sock

    def _check_reachable(self, host: str) -> None:
        """
        Raises:
            ConfigError: other machines could use the server without a key, or read keys.
        """
        if not self._keys:
            raise ConfigError(
                f"a server at {host} would run programs for anyone: give --keys FILE, or set a"
                " token (RLENV_SANDBOX_TOKEN)"
            )
        if self._is_guessable:
            raise ConfigError(
                f"RLENV_SANDBOX_TOKEN has fewer than {_TOKEN_LEAST} characters, and can be guessed:"
                " use the output of `openssl rand -hex 16`"
            )
        if self._context is None and not self._plain_http:
            raise ConfigError(
                f"a server at {host} without TLS would send keys and programs unencrypted: give"
                " --tls-cert and --tls-key, or allow it with --plain-http where a proxy or the"
                " network itself encrypts"
            )

    async def serve(self, sock: socket.socket) -> None:
        """Serve until canceled.

        Args:
            sock: that ``listen`` made.
        """
        protocol = _protocol(self._app)
        loop = asyncio.get_running_loop()
        try:
            while True:
                try:
                    client, address = await loop.sock_accept(sock)
                except OSError as error:  # no descriptor is left, or who knocked is gone
                    _log.warning("sandbox server: no connection: %s", error)
                    await asyncio.sleep(_FULL_S)
                    continue
                self._make_room()
                task = asyncio.create_task(self._client(client, protocol))
                self._clients[task] = address[0]
                task.add_done_callback(partial(self._gone, client))
                await asyncio.sleep(0)  # who connects without end leaves the others their turn
        finally:
            sock.close()
            for task in self._clients:
                task.cancel()
            await asyncio.gather(*self._clients, return_exceptions=True)
            await asyncio.gather(*protocol.args[1].tasks, return_exceptions=True)

    def _make_room(self) -> None:
        """Hang up where too many have brought no request, on one from where most do, the oldest:
        strangers keep nobody out.
        """
        strangers = Counter(filter(None, self._clients.values()))
        if strangers.total() >= _STRANGERS:
            crowd = strangers.most_common(1)[0][0]
            next(task for task, where in self._clients.items() if where == crowd).cancel()

    def _gone(self, sock: socket.socket, task: Task[None]) -> None:
        self._clients.pop(task, None)
        sock.close()

    async def _client(self, sock: socket.socket, protocol: Any) -> None:
        """Keep one connection, until it ends or has brought nothing for too long."""
        loop = asyncio.get_running_loop()
        secured = {} if self._context is None else {"ssl_handshake_timeout": _GREETING_S}
        sock.setblocking(False)  # noqa: FBT003 - the library's word
        try:
            transport, made = await loop.connect_accepted_socket(
                protocol, sock, ssl=self._context, **secured
            )
        except OSError as error:
            _log.info("sandbox server: no connection: %s", error)
            return
        try:
            await self._watch(transport, made)
        finally:
            transport.abort()

    async def _watch(self, transport: asyncio.Transport, made: Any) -> None:
        task = asyncio.current_task()
        assert task is not None
        loop = asyncio.get_running_loop()
        since = loop.time()
        while not transport.is_closing():
            await asyncio.sleep(_LOOK_S)
            cycle = made.cycle  # of the request that came last
            if cycle is not None:
                self._clients[task] = ""
            if cycle is not None and not cycle.response_complete:
                since = loop.time()
            longest = _GREETING_S if cycle is None else self._limits.idle_s
            if loop.time() - since > longest:
                return


def _protocol(app: SandboxApp) -> Any:
    """HTTP/1.1 of uvicorn, on h11, which bounds the head of a request, and reads no more of them
    while one is answered.

    Raises:
        ConfigError: uvicorn is not installed.
    """
    try:
        from uvicorn import Config
        from uvicorn.protocols.http.h11_impl import H11Protocol
        from uvicorn.server import ServerState
    except ImportError:
        raise ConfigError(
            "a server of sandboxes needs uvicorn: `pip install"
            " './plugins/rlenv-plugin-sandbox[server]'` in a clone of rlenv"
        ) from None
    config = Config(
        app,
        http="h11",
        ws="none",
        lifespan="off",
        log_level="error",
        access_log=False,
        server_header=False,
        date_header=False,
        proxy_headers=False,
        h11_max_incomplete_event_size=_HEAD_MOST,
        timeout_keep_alive=86_400,  # `Server._watch` ends idle connections
    )
    config.load()
    return partial(H11Protocol, config, ServerState(), {})
