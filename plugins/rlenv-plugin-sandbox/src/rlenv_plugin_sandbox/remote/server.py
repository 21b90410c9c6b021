"""The server: one connection is one session at a time, and its sandbox is one of this machine."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import socket
import ssl
import sys
from collections import Counter
from collections.abc import Sequence
from functools import partial
from time import monotonic
from typing import Any

from rlenv import ConfigError
from rlenv.sandbox import Profile, Sandbox, rank

from rlenv_plugin_sandbox.pool import default_places
from rlenv_plugin_sandbox.stream import Link, LinkLost, ready, stay_aware

from .conversation import Conversation, Limits, Tenant
from .greeting import SMALL, Refused, greet
from .keys import Key
from .payload import BadPayload

__all__ = ["Limits", "Server"]

_log = logging.getLogger("rlenv")
_GREETING_S = 10.0
_FULL_S = 0.1  # until it is tried again where no descriptor is left for a connection
# characters, where somebody may listen: who hears a greeting can try tokens at home
_TOKEN_LEAST = 16


class Server:
    """Serves one sandbox to whoever knows the token, or a key.

    Raises:
        ConfigError: whoever connects could do harm.
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
    ) -> None:
        self._sandbox = sandbox
        self._name = name
        self._guessable = 0 < len(token) < _TOKEN_LEAST
        self._keys = (*keys, Key.of(token)) if token else keys
        self._limits = limits or Limits()
        self._context = context
        # from where, "" for who has greeted; oldest first
        self._clients: dict[asyncio.Task[None], str] = {}
        self._tenants: dict[str, Tenant] = {}
        self._about: dict[str, Any] = {}

    async def listen(self, host: str, port: int) -> socket.socket:
        """A listening socket, once the sandbox has shown that it runs here.

        Raises:
            ConfigError: the token is missing, or too short for this address.
        """
        beyond = not ipaddress.ip_address(host).is_loopback
        if not self._keys and beyond:
            raise ConfigError(
                f"a server at {host} would run programs for anyone: give --keys FILE, or set a"
                " token (RLENV_SANDBOX_TOKEN)"
            )
        if beyond and self._guessable:
            raise ConfigError(
                f"RLENV_SANDBOX_TOKEN has fewer than {_TOKEN_LEAST} characters, and can be guessed"
                " by anyone who records a handshake: use the output of `openssl rand -hex 16`"
            )
        session = await self._sandbox.open(Profile(min_isolation="process"))
        await session.close()
        if not self._keys and not rank(session.isolation):
            raise ConfigError(
                f"sandbox {self._name!r} isolates nothing: every user of this machine could run"
                " programs as you; give a token (RLENV_SANDBOX_TOKEN)"
            )
        self._about = {"tier": session.isolation, "sandbox": self._name}
        tenants = {key.tenant for key in self._keys} or {Key.of("").tenant}
        shared = max(1, default_places() - 1) if len(tenants) > 1 else sys.maxsize
        self._tenants = {name: Tenant(self._limits.programs or shared) for name in tenants}
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        sock = socket.create_server((host, port), family=family)
        sock.setblocking(False)  # noqa: FBT003 - the library's word
        return sock

    async def serve(self, sock: socket.socket) -> None:
        """Serve until canceled."""
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
                task = asyncio.create_task(self._client(client))
                self._clients[task] = address[0]
                task.add_done_callback(partial(self._gone, client))
                await asyncio.sleep(0)  # who connects without end leaves the others their turn
        finally:
            for task in self._clients:
                task.cancel()
            await asyncio.gather(*self._clients, return_exceptions=True)
            sock.close()

    def _make_room(self) -> None:
        """Hang up where too many greet, on one from where most do, the oldest: strangers keep
        nobody out.
        """
        greeting = Counter(filter(None, self._clients.values()))
        if greeting.total() >= self._limits.connections:
            crowd = greeting.most_common(1)[0][0]
            next(task for task, where in self._clients.items() if where == crowd).cancel()

    def _gone(self, sock: socket.socket, task: asyncio.Task[None]) -> None:
        self._clients.pop(task, None)
        sock.close()

    async def _client(self, sock: socket.socket) -> None:
        until = monotonic() + _GREETING_S
        try:
            stay_aware(sock)
            if self._context is not None:
                sock = await _secured(sock, self._context, until)
        except OSError as error:
            _log.info("sandbox server: no connection: %s", error)
            return
        link = Link(sock, most=SMALL)
        try:
            tenant = self._tenants[await greet(link, self._keys, self._about, until)]
            await self._serve(link, tenant)
        except (LinkLost, BadPayload, Refused) as error:
            _log.info("sandbox server: %s", error)
        except Exception:  # noqa: BLE001 - one client's trouble ends nobody else's work
            _log.exception("sandbox server: a client's connection failed")
        finally:
            link.close()

    async def _serve(self, link: Link, tenant: Tenant) -> None:
        if tenant.connections >= self._limits.connections:
            raise Refused(f"{self._limits.connections} clients are connected already")
        task = asyncio.current_task()
        assert task is not None
        self._clients[task] = ""
        tenant.connections += 1
        link.most = self._limits.frame_bytes
        try:
            await Conversation(self._sandbox, self._limits, link, tenant).go()
        finally:
            tenant.connections -= 1


async def _secured(sock: socket.socket, context: ssl.SSLContext, until: float) -> socket.socket:
    """On the loop: in threads, who says nothing would keep them from those who make places.

    Raises:
        OSError: the client does not speak TLS, or not in time.
    """
    sock.setblocking(False)  # noqa: FBT003 - the library's word
    secured = context.wrap_socket(sock, server_side=True, do_handshake_on_connect=False)
    try:
        while True:
            try:
                secured.do_handshake()
                return secured
            except (ssl.SSLWantReadError, ssl.SSLWantWriteError) as wait:
                writing = isinstance(wait, ssl.SSLWantWriteError)
            if not await ready(secured, until, writing=writing):
                raise TimeoutError("no handshake in time")
    except BaseException:
        secured.close()
        raise
