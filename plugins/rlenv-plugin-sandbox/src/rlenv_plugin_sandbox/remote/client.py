"""The adapter of the port that runs programs in a sandbox of another machine."""

from __future__ import annotations

import asyncio
import os
from collections import deque
from collections.abc import Awaitable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from time import monotonic
from typing import Any, ClassVar

from rlenv import ConfigError, RlenvError, VerifierFault
from rlenv.sandbox import (
    TIERS,
    ChannelEnded,
    Diagnosis,
    Exit,
    FrameTooLong,
    Profile,
    Tier,
)

from rlenv_plugin_sandbox.files import checked
from rlenv_plugin_sandbox.metering import WALL
from rlenv_plugin_sandbox.trees import END, longest
from rlenv_plugin_sandbox.workspace import Leased, Workspaces

from .address import Address
from .connection import CONNECT_S, SMALL, Answer, Connection, LostConnectionError
from .failures import error_in, expected, gone, isolation_in
from .keys import check_token
from .payload import (
    HEADER_MOST,
    MEDIA,
    PATH,
    BadPayload,
    end_of,
    json_object,
    said_of,
    session_name,
    unwrap,
    wrap,
)

__all__ = ["Remote"]

_SLACK_S = 30.0  # an answer may take longer than what was asked for
_WAIT_MOST_S = 86_400.0
_IDLE_MOST = 1024  # connections that are kept for the next session


class Remote(Workspaces):
    """Programs in the sandbox of a server.  Its tier is that of the server's sandbox.

    Args:
        url: ``https://host:port``, or ``http://127.0.0.1:port`` on this machine;
            RLENV_SANDBOX_URL when None.
        token: the key of the server; RLENV_SANDBOX_TOKEN when None.
        ca: for ``https``: a file of certificates that are trusted, besides the machine's own.
        plain_http: ``http`` may reach other machines, as in a network that is itself encrypted;
            RLENV_SANDBOX_PLAIN_HTTP=1 when None.
    """

    is_deferred: ClassVar[bool] = True

    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        ca: str | None = None,
        plain_http: bool | None = None,  # noqa: FBT001 - options are named
    ) -> None:
        self.url = url or os.environ.get("RLENV_SANDBOX_URL", "")
        self._token = os.environ.get("RLENV_SANDBOX_TOKEN", "") if token is None else token
        self._ca = ca
        said = os.environ.get("RLENV_SANDBOX_PLAIN_HTTP", "") == "1"
        self._plain_http = said if plain_http is None else plain_http
        self._address: Address | None = None
        self._idle: deque[Connection] = deque()
        self._owner = os.getpid()

    async def lease(self, profile: Profile) -> _Session:
        """See `rlenv.sandbox.Sandbox.open`."""
        contents = [content for _, content in profile.files]
        body = wrap({"profile": said_of(profile)}, *contents)
        stream = self.connection()
        is_kept = False
        try:
            asking = stream.open_stream(f"{PATH}/sessions", self.headers(), body, until=None)
            answer = await self.sent(asking)
            if answer.status != HTTPStatus.OK:
                raise expected(error_in(answer, self.url), "open")
            said = json_object(answer.body)
            name = session_name(said.get("session"))
            session = _Session(self, stream, name, isolation_in(said, profile), profile)
            is_kept = True
        except BadPayload as error:
            raise VerifierFault(gone(f"{self.url}: {error}")) from error
        finally:
            if not is_kept:
                self.give_back(stream)
        return session

    async def sent(self, asking: Awaitable[Answer]) -> Answer:
        """Wait for an answer.

        Raises:
            VerifierFault: there is none.
            ConfigError: TLS does not trust the server.
        """
        try:
            return await asking
        except LostConnectionError as error:
            raise VerifierFault(gone(f"{self.url}: {error}")) from error
        except ConfigError as error:
            raise ConfigError(f"no trusted connection to {self.url}: {error}") from error

    def headers(self) -> dict[str, str]:
        """Make the headers of a request."""
        made = {"Content-Type": MEDIA}
        if self._token:
            made["Authorization"] = f"Bearer {self._token}"
        return made

    def connection(self) -> Connection:
        """Take a connection that is idle, or make one; ``give_back`` gives it back.

        Raises:
            ConfigError: the address of the server, or the token, is none.
        """
        if self._owner != os.getpid():
            self._owner = os.getpid()
            self._idle.clear()
        while self._idle:
            found = self._idle.pop()
            if found.is_alive():
                return found
            found.close()
        if self._address is None:
            check_token(self._token)
            self._address = Address.parse(self.url, ca=self._ca, plain_http=self._plain_http)
        return Connection(self._address)

    def give_back(self, connection: Connection) -> None:
        """Keep a connection for the next session, where it is of use."""
        is_ours = self._owner == os.getpid()
        is_usable = is_ours and not connection.is_lost and not connection.is_streaming
        if is_usable and len(self._idle) < _IDLE_MOST:
            self._idle.append(connection)
        else:
            connection.close()

    async def aclose(self) -> None:
        """Hang up."""
        while self._idle:
            self._idle.popleft().close()

    def diagnose(self) -> Sequence[Diagnosis]:
        """Ask the server what it gives."""

        async def ask() -> dict[str, Any]:
            connection = self.connection()
            until = monotonic() + CONNECT_S
            try:
                asking = connection.ask("GET", PATH, self.headers(), most=SMALL, until=until)
                answer = await self.sent(asking)
            finally:
                connection.close()
            if answer.status != HTTPStatus.OK:
                raise expected(error_in(answer, self.url), "about")
            return json_object(answer.body)

        try:
            with ThreadPoolExecutor(1) as pool:  # whoever asks may have an event loop of their own
                about = pool.submit(asyncio.run, ask()).result()
        except BadPayload as error:
            return [Diagnosis("server", f"{self.url}: {error}", ok=False)]
        except RlenvError as error:
            return [Diagnosis("server", str(error), ok=False)]
        tier = str(about.get("tier"))[:50]
        name = str(about.get("sandbox"))[:100]
        if tier not in TIERS:
            said = f"the sandbox at {self.url} cannot be used: it reports an unknown tier {tier!r}"
            return [Diagnosis("server", said, ok=False)]
        return [Diagnosis("server", f"tier {tier}, by {name} at {self.url}")]


def _short(frame: bytes, max_bytes: int) -> bytes:
    if len(frame) > max_bytes:
        raise FrameTooLong(
            f"a frame of {len(frame)} bytes came, at most {max_bytes} were asked for"
        )
    return frame


class _Session(Leased):
    """See `rlenv.sandbox.Session`.

    The server keeps it for as long as the answer on ``stream`` is open.
    """

    def __init__(
        self, remote: Remote, stream: Connection, name: str, isolation: Tier, profile: Profile
    ) -> None:
        self.isolation = isolation
        self._remote = remote
        self._stream = stream
        self._path = f"{PATH}/sessions/{name}"
        self._wall = profile.wall_s
        self._output = profile.output_bytes
        self._holds = profile.workspace_mb > 0
        more = longest(profile) if self._holds else 0
        self._most = HEADER_MOST + 2 * profile.output_bytes + more  # of an answer
        self._received = 0  # frames of the program that runs
        self._running = self._closed = False
        self._began = 0.0
        self._opened = monotonic()
        self._clock = 0.0

    def clock(self) -> float:
        """See the port; what the server said last."""
        return self._clock

    async def _ask(
        self,
        what: str,
        header: dict[str, Any],
        *pieces: bytes,
        seconds: float,
        most: int = SMALL,
    ) -> tuple[dict[str, Any], list[bytes]]:
        """Ask the server, and wait for its answer.

        Raises:
            RlenvError: what the server answered.
            VerifierFault: the connection is lost, or the server does not answer.
        """
        remote = self._remote
        until = monotonic() + seconds + _SLACK_S
        method = "DELETE" if what == "close" else "POST"
        path = self._path if what == "close" else f"{self._path}/{what}"
        body = b"" if what == "close" else wrap(header, *pieces)
        connection = remote.connection()
        try:
            answer = await remote.sent(
                connection.ask(method, path, remote.headers(), body, most=most, until=until)
            )
            if answer.status != HTTPStatus.OK:
                raise error_in(answer, remote.url)
            said, parts = unwrap(answer.body)
        except BadPayload as error:
            connection.close()
            raise expected(VerifierFault(gone(str(error))), what) from error
        except RlenvError as error:
            raise expected(error, what) from error
        finally:
            remote.give_back(connection)
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
        header = {"words": count, "files": names, "cpu_s": cpu_s, "wall_s": wall_s}
        tree = [self.given + END] if self._holds else []
        contents = [content for _, content, _ in given]
        pieces = [stdin, *words, *contents, *tree]
        await self._ask("start", header, *pieces, seconds=_SLACK_S)
        self._received = 0
        self._running = True
        self._began = monotonic()

    async def send(self, frame: bytes) -> None:
        self._needs_program()
        await self._ask("send", {}, frame, seconds=WALL * self._wall)

    async def recv(self, max_bytes: int, timeout: float) -> bytes:  # noqa: ASYNC109 - the port's word
        self._needs_program()
        timeout = max(-_WAIT_MOST_S, min(timeout, _WAIT_MOST_S))  # JSON knows no infinity
        # A frame has a number, so that one that a canceled wait did not get is given again.
        header = {"number": self._received + 1, "max_bytes": max_bytes, "timeout": timeout}
        seconds = WALL * min(timeout, self._wall)
        _, parts = await self._ask("recv", header, seconds=seconds, most=SMALL + max_bytes)
        if len(parts) != 1:
            raise ChannelEnded("the server answered without a frame")
        self._received += 1
        return _short(parts[0], max_bytes)

    def _needs_program(self) -> None:
        if not self._running:
            raise RuntimeError("no program was started in this session")

    async def finish(self, wait: float | None = None) -> Exit:
        self._needs_program()
        self._running = False
        seconds = WALL * self._wall if wait is None else wait
        try:
            said, parts = await self._ask(
                "finish", {"wait": wait}, seconds=seconds, most=self._most
            )
            self.left = parts.pop() if self._holds and parts else None
            if len(parts) != 2 or max(map(len, parts)) > self._output:
                raise BadPayload(
                    "not an exit: two outputs of at most the requested length are expected"
                )
            return end_of(said.get("exit"), *parts)
        except (VerifierFault, BadPayload) as error:
            fault = error.fault if isinstance(error, VerifierFault) else gone(str(error))
            wall = monotonic() - self._began
            return Exit(None, "lost", wall=wall, isolation=self.isolation, fault=fault)

    async def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        try:
            await self._ask("close", {}, seconds=_SLACK_S)
            await self._stream.end_stream(monotonic() + _SLACK_S)
        except (VerifierFault, LostConnectionError):
            self._stream.close()
        except BaseException:
            self._stream.close()
            raise
        finally:
            self._remote.give_back(self._stream)
