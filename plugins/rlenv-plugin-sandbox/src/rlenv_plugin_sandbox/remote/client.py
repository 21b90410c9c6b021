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
from typing import Any, ClassVar, cast
from urllib.parse import urlsplit

from rlenv import ConfigError, Fault, RlenvError, VerifierFault
from rlenv.sandbox import (
    TIERS,
    ChannelEnded,
    ChannelError,
    Diagnosis,
    Exit,
    FrameTooLong,
    Profile,
    Tier,
    rank,
)

from rlenv_plugin_sandbox.files import checked
from rlenv_plugin_sandbox.metering import WALL
from rlenv_plugin_sandbox.stream import Link, LinkLost, stay_aware
from rlenv_plugin_sandbox.trees import END, longest
from rlenv_plugin_sandbox.workspace import Leased, Workspaces

from .greeting import ASK, SMALL, Refused, introduce
from .payload import HEADER_MOST, BadPayload, end_of, error_of, said_of, unwrap, wrap

__all__ = ["Remote"]

_CONNECT_S = 10.0
_SLACK_S = 30.0  # an answer may take longer than what was asked for
_WAIT_MOST_S = 86_400.0
_LATE_MOST = 64  # frames that nobody waited for


def _gone(what: str) -> Fault:
    return Fault("unavailable", f"sandbox/remote: {what}", transient=True)


class Remote(Workspaces):
    """Programs in the sandbox of a server.  Its tier is that of the server's sandbox.

    Args:
        url: ``tcp://host:port`` or ``tls://host:port``; RLENV_SANDBOX_URL when None.
        token: what the server and its clients share; RLENV_SANDBOX_TOKEN when None.
        ca: for ``tls``: a file of certificates that are trusted, besides the machine's own.
    """

    is_deferred: ClassVar[bool] = True

    def __init__(
        self, url: str | None = None, token: str | None = None, ca: str | None = None
    ) -> None:
        self._url = url or os.environ.get("RLENV_SANDBOX_URL", "")
        self._token = os.environ.get("RLENV_SANDBOX_TOKEN", "") if token is None else token
        self._ca = ca
        self._idle: deque[tuple[Link, dict[str, Any]]] = deque()
        self._owner = os.getpid()

    async def lease(self, profile: Profile) -> _Session:
        """See `rlenv.sandbox.Sandbox.open`."""
        link, about = await self._link()
        try:
            if rank(profile.min_isolation) > rank(about["tier"]):
                raise ConfigError(
                    f"isolation {profile.min_isolation!r} is required, and this sandbox gives"
                    f" {about['tier']!r} ({about['sandbox']} at {self._url}): have a stronger one"
                    " served, or lower min_isolation"
                )
            session = _Session(link, about, profile, self._back)
            contents = [content for _, content in profile.files]
            asked = {"do": "open", "profile": said_of(profile)}
            header, _ = await session.ask(asked, *contents, seconds=None)
            session.isolation = _isolation(header, profile)
        except BaseException as error:
            link.lost = link.lost or not isinstance(error, ConfigError)
            self._back(link, about)
            raise
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
        link = Link(sock, most=SMALL)
        try:
            about = await introduce(link, self._token, monotonic() + _CONNECT_S)
            if about.get("tier") not in TIERS:
                raise Refused("it reports an unknown isolation tier")
        except BaseException as error:
            link.close()
            if isinstance(error, Refused):
                said = f"the sandbox at {self._url} cannot be used: {error}"
                raise ConfigError(said) from error
            if isinstance(error, (LinkLost, BadPayload)):
                raise VerifierFault(_gone(f"{self._url}: {error}")) from error
            raise
        return link, {"tier": about["tier"], "sandbox": str(about.get("sandbox"))[:100]}

    def _connect(self) -> socket.socket:
        """A connected socket.  Waits."""
        host, port, context = self._address()
        try:
            sock = socket.create_connection((host, port), _CONNECT_S)
            try:
                stay_aware(sock)
                if context is not None:
                    sock = context.wrap_socket(sock, server_hostname=host)
            except BaseException:
                sock.close()
                raise
        except ssl.SSLError as error:
            raise ConfigError(f"no trusted connection to {self._url}: {error}") from error
        except OSError as error:
            raise VerifierFault(_gone(f"{self._url} cannot be reached: {error}")) from error
        return sock

    def _address(self) -> tuple[str, int, ssl.SSLContext | None]:
        """(host, port, what TLS trusts)."""
        try:
            url = urlsplit(self._url)
            host = url.hostname
            port = url.port
        except ValueError:
            host = port = None
        if not host or not port or url.scheme not in ("tcp", "tls"):
            raise ConfigError(
                "sandbox/remote needs the url of a server, as tcp://host:port or tls://host:port,"
                f" not {self._url!r}: give it as an option or in RLENV_SANDBOX_URL"
            )
        if url.scheme == "tcp":
            return host, port, None
        context = ssl.create_default_context()
        try:
            if self._ca is not None:
                context.load_verify_locations(self._ca)
        except OSError as error:
            raise ConfigError(
                f"sandbox/remote: ca = {self._ca!r} is not a file of certificates: {error}"
            ) from error
        return host, port, context

    async def aclose(self) -> None:
        """Hang up."""
        while self._idle:
            self._idle.popleft()[0].close()

    def diagnose(self) -> Sequence[Diagnosis]:
        """Whether the server answers, and what it gives."""

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


def _isolation(said: Mapping[str, Any], profile: Profile) -> Tier:
    """The tier that a session was given.

    Raises:
        VerifierFault: it is none, or less than was demanded.
    """
    tier = said.get("isolation")
    if tier not in TIERS or rank(tier) < rank(profile.min_isolation):
        raise VerifierFault(_gone(f"the server gave isolation {str(tier)[:50]!r}"))
    return cast("Tier", tier)


def _expected(error: RlenvError, asked: str) -> RlenvError:
    """The error of an answer, as one that this question can have."""
    own = {"open": ConfigError, "start": ConfigError, "send": ChannelEnded, "recv": ChannelError}
    if isinstance(error, own.get(asked, VerifierFault)):
        return error
    if asked in ("send", "recv"):
        return ChannelEnded(str(error))
    return error if isinstance(error, VerifierFault) else VerifierFault(_gone(str(error)))


def _short(frame: bytes, max_bytes: int) -> bytes:
    if len(frame) > max_bytes:
        raise FrameTooLong(
            f"a frame of {len(frame)} bytes came, at most {max_bytes} were asked for"
        )
    return frame


class _Session(Leased):
    """See `rlenv.sandbox.Session`."""

    def __init__(self, link: Link, about: dict[str, Any], profile: Profile, back: Any) -> None:
        self.isolation: Tier = about["tier"]
        self._link = link
        self._about = about
        self._back = back
        self._wall = profile.wall_s
        self._output = profile.output_bytes
        self._holds = profile.workspace_mb > 0
        more = longest(profile) if self._holds else 0
        self._most = HEADER_MOST + 2 * profile.output_bytes + more  # of an answer
        self._number = 0
        self._late: deque[bytes] = deque()  # frames that came after who waited for them was gone
        self._running = self._closed = False
        self._began = 0.0
        self._opened = monotonic()
        self._clock = 0.0

    def clock(self) -> float:
        """See the port; what the server said last."""
        return self._clock

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
        asked = wrap({**header, "id": self._number}, *pieces)
        self._link.most = self._most
        try:
            await self._link.send(ASK, asked, until=until)
            while True:
                frame = await self._link.receive(until)
                if frame is None:
                    raise LinkLost("the server does not answer")
                said, parts = unwrap(frame[1])
                if said.get("id") == self._number:
                    break
                self._late.extend(parts if said.get("is") == "frame" else ())
                if len(self._late) > _LATE_MOST:
                    raise LinkLost("the server sent an answer without a request")
        except (LinkLost, BadPayload) as error:
            self._link.close()
            raise _expected(VerifierFault(_gone(str(error))), header["do"]) from error
        if "error" in said:
            raise _expected(error_of(said), header["do"])
        clock = said.get("clock")
        if isinstance(clock, float) and self._clock < clock < monotonic() - self._opened:
            self._clock = clock
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
                "a session runs one program at a time: finish the current one, or open another"
                " session"
            )
        given = checked(files)
        names = [[name, mode] for name, _, mode in given]
        given_words = [program] if isinstance(program, str) else program
        words = [word.encode(errors="surrogatepass") for word in given_words]
        count = None if isinstance(program, str) else len(words)
        header = {"do": "start", "words": count, "files": names, "cpu_s": cpu_s, "wall_s": wall_s}
        tree = [self.given + END] if self._holds else []
        self._late.clear()
        contents = [content for _, content, _ in given]
        await self.ask(header, stdin, *words, *contents, *tree, seconds=_SLACK_S)
        self._running = True
        self._began = monotonic()

    async def send(self, frame: bytes) -> None:
        self._needs_program()
        await self.ask({"do": "send"}, frame, seconds=WALL * self._wall)

    async def recv(self, max_bytes: int, timeout: float) -> bytes:  # noqa: ASYNC109 - the port's word
        self._needs_program()
        if self._late:
            return _short(self._late.popleft(), max_bytes)
        self._most = max(self._most, HEADER_MOST + max_bytes)
        timeout = max(-_WAIT_MOST_S, min(timeout, _WAIT_MOST_S))  # JSON knows no infinity
        header = {"do": "recv", "max_bytes": max_bytes, "timeout": timeout}
        _, parts = await self.ask(header, seconds=WALL * min(timeout, self._wall))
        if len(parts) != 1:
            self._link.close()
            raise ChannelEnded("the server answered without a frame")
        return _short(parts[0], max_bytes)

    def _needs_program(self) -> None:
        if not self._running:
            raise RuntimeError("no program was started in this session")

    async def finish(self, wait: float | None = None) -> Exit:
        self._needs_program()
        self._running = False
        seconds = WALL * self._wall if wait is None else wait
        try:
            said, parts = await self.ask({"do": "finish", "wait": wait}, seconds=seconds)
            self.left = parts.pop() if self._holds and parts else None
            if len(parts) != 2 or max(map(len, parts)) > self._output:
                raise BadPayload(
                    "not an exit: two outputs of at most the requested length are expected"
                )
            return end_of(said.get("exit"), *parts)
        except (VerifierFault, BadPayload) as error:
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
