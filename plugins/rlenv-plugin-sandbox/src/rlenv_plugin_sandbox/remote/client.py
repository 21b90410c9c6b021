"""The adapter of the port that runs programs in a sandbox of another machine."""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
from collections import deque
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

from rlenv.errors import ConfigError, RlenvError, VerifierFault
from rlenv.sandbox import TIERS, ChannelEnded, Diagnosis, Exit, Profile, Tier, rank
from rlenv.values import Fault

from rlenv_plugin_sandbox.stream import Link, LinkLost

from .greeting import ASK, Refused, introduce
from .parcel import BadParcel, end_of, error_of, files_said, said_of, unwrap, wrap

__all__ = ["Remote"]

_CONNECT_S = 10.0
_SLACK_S = 30.0  # an answer may take longer than what was asked for


def _gone(what: str) -> Fault:
    return Fault("unavailable", f"sandbox/remote: {what}", transient=True)


class Remote:
    """Programs in the sandbox of a server.  Its tier is that of the server's sandbox.

    Args:
        url: ``tcp://host:port`` or ``tls://host:port``; RLENV_SANDBOX_URL when None.
        token: what the server and its clients share; RLENV_SANDBOX_TOKEN when None.
        ca: for ``tls``: a file of certificates that are trusted, besides the machine's own.
    """

    def __init__(
        self, url: str | None = None, token: str | None = None, ca: str | None = None
    ) -> None:
        self._url = url or os.environ.get("RLENV_SANDBOX_URL", "")
        self._token = os.environ.get("RLENV_SANDBOX_TOKEN", "") if token is None else token
        self._ca = ca
        self._idle: deque[tuple[Link, dict[str, Any]]] = deque()
        self._owner = os.getpid()

    async def open(self, profile: Profile, /) -> _Session:
        """See `rlenv.sandbox.Sandbox.open`."""
        link, about = await self._link()
        tier = about["tier"]
        if rank(profile.min_isolation) > rank(tier):
            self._idle.append((link, about))
            raise ConfigError(
                f"isolation {profile.min_isolation!r} is demanded, this sandbox gives {tier!r} "
                f"({about['sandbox']} at {self._url}): have a stronger one served, or lower min_isolation"
            )
        session = _Session(link, about, profile.wall_s, self._back)
        try:
            header, _ = await session.ask({"do": "open", "profile": said_of(profile)}, seconds=None)
        except ConfigError:
            self._idle.append((link, about))
            raise
        except BaseException:
            link.close()
            raise
        session.isolation = header["isolation"]
        return session

    def _back(self, link: Link, about: dict[str, Any]) -> None:
        if self._owner == os.getpid() and not link.lost:
            self._idle.append((link, about))
        else:
            link.close()

    async def _link(self) -> tuple[Link, dict[str, Any]]:
        if self._owner != os.getpid():
            self._owner = os.getpid()
            self._idle.clear()
        while self._idle:
            link, about = self._idle.popleft()
            if link.alive():
                return link, about
            link.close()
        sock = await asyncio.to_thread(self._connect)
        link = Link(sock)
        try:
            about = await introduce(link, self._token, monotonic() + _CONNECT_S)
        except BaseException as error:
            link.close()
            raise self._problem(error) from error
        if about.get("tier") not in TIERS:
            link.close()
            raise ConfigError(f"{self._url} names no isolation that is known")
        return link, about

    def _problem(self, error: BaseException) -> BaseException:
        if isinstance(error, Refused):
            return ConfigError(f"the sandbox at {self._url} cannot be used: {error}")
        if isinstance(error, LinkLost):
            return VerifierFault(_gone(f"{self._url}: {error}"))
        return error

    def _connect(self) -> socket.socket:
        """A connected socket.  Waits."""
        url = urlsplit(self._url)
        if url.scheme not in ("tcp", "tls") or not url.hostname or not url.port:
            raise ConfigError(
                f"sandbox/remote needs the url of a server, as tcp://host:port or tls://host:port, not {self._url!r}: "
                "give it as an option or in RLENV_SANDBOX_URL"
            )
        try:
            sock = socket.create_connection((url.hostname, url.port), _CONNECT_S)
            try:
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                if url.scheme == "tls":
                    context = ssl.create_default_context()
                    if self._ca is not None:
                        context.load_verify_locations(self._ca)
                    sock = context.wrap_socket(sock, server_hostname=url.hostname)
            except BaseException:
                sock.close()
                raise
        except ssl.SSLError as error:
            raise ConfigError(f"no trusted connection to {self._url}: {error}") from error
        except OSError as error:
            raise VerifierFault(_gone(f"{self._url} cannot be reached: {error}")) from error
        return sock

    async def aclose(self) -> None:
        """Hang up."""
        while self._idle:
            self._idle.popleft()[0].close()

    def diagnose(self) -> Sequence[Diagnosis]:
        """Whether the server answers, and what it gives."""
        if not self._url:
            said = "no server is named: set RLENV_SANDBOX_URL (and RLENV_SANDBOX_TOKEN)"
            return [Diagnosis("server", said, ok=False)]

        async def ask() -> dict[str, Any]:
            link, about = await self._link()
            link.close()
            return about

        try:
            with ThreadPoolExecutor(1) as pool:  # whoever asks may have an event loop of their own
                about = pool.submit(asyncio.run, ask()).result()
        except RlenvError as error:
            return [Diagnosis("server", str(error), ok=False)]
        return [Diagnosis("server", f"tier {about['tier']}, by {about['sandbox']} at {self._url}")]


class _Session:
    """See `rlenv.sandbox.Session`."""

    def __init__(self, link: Link, about: dict[str, Any], wall: float, back: Any) -> None:
        self.isolation: Tier = about["tier"]
        self._link = link
        self._about = about
        self._back = back
        self._wall = wall
        self._number = 0
        self._late: deque[bytes] = deque()  # frames that came after who waited for them was gone
        self._running = self._closed = False
        self._began = 0.0

    async def ask(
        self, header: dict[str, Any], *pieces: bytes, seconds: float | None
    ) -> tuple[dict[str, Any], list[bytes]]:
        """Ask the server, and wait for its answer; None waits as long as it takes.

        Raises:
            RlenvError: what the server answered.
            VerifierFault: the connection is lost, or the server does not answer.
        """
        self._number += 1
        until = None if seconds is None else monotonic() + seconds + _SLACK_S
        try:
            await self._link.send(ASK, wrap({**header, "id": self._number}, *pieces))
            while True:
                frame = await self._link.receive(until)
                if frame is None:
                    raise LinkLost("the server does not answer")
                said, parts = unwrap(frame[1])
                if said.get("id") == self._number:
                    break
                self._late.extend(parts if said.get("is") == "frame" else ())
        except (LinkLost, BadParcel) as error:
            self._link.close()
            raise VerifierFault(_gone(str(error))) from error
        if "error" in said:
            raise error_of(said)
        return said, parts

    async def start(
        self,
        program: str | Sequence[str],
        files: Mapping[str, bytes | tuple[bytes, int]] = {},
        *,
        stdin: bytes = b"",
        cpu_s: float | None = None,
        wall_s: float | None = None,
    ) -> None:
        if self._closed or self._running:
            raise RuntimeError(
                "a session runs one program at a time: finish the one before, open another"
            )
        names, contents = files_said(files)
        words = program if isinstance(program, str) else list(program)
        header = {"do": "start", "program": words, "files": names, "cpu_s": cpu_s, "wall_s": wall_s}
        self._late.clear()
        await self.ask(header, stdin, *contents, seconds=_SLACK_S)
        self._running = True
        self._began = monotonic()

    async def send(self, frame: bytes) -> None:
        self._needs_program()
        try:
            await self.ask({"do": "send"}, frame, seconds=self._wall)
        except VerifierFault as error:
            raise ChannelEnded(error.fault.message) from error

    async def recv(self, max_bytes: int, timeout: float) -> bytes:  # noqa: ASYNC109 - the port's word
        self._needs_program()
        if self._late:
            return self._late.popleft()
        header = {"do": "recv", "max_bytes": max_bytes, "timeout": timeout}
        try:
            _, parts = await self.ask(header, seconds=timeout)
        except VerifierFault as error:
            raise ChannelEnded(error.fault.message) from error
        return parts[0]

    def _needs_program(self) -> None:
        if not self._running:
            raise RuntimeError("no program was started in this session")

    async def finish(self, wait: float | None = None) -> Exit:
        self._needs_program()
        self._running = False
        seconds = self._wall if wait is None else min(wait, self._wall)
        try:
            said, parts = await self.ask({"do": "finish", "wait": wait}, seconds=seconds)
            return end_of(said["exit"], *parts)
        except (VerifierFault, BadParcel) as error:
            fault = error.fault if isinstance(error, VerifierFault) else _gone(str(error))
            wall = monotonic() - self._began
            return Exit(None, "lost", wall=wall, isolation=self.isolation, fault=fault)

    async def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        try:
            if not self._link.lost:
                await self.ask({"do": "close"}, seconds=_SLACK_S)
        except VerifierFault:
            return
        except BaseException:
            self._link.close()
            raise
        finally:
            self._back(self._link, self._about)
