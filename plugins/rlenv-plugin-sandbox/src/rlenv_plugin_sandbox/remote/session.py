"""A session of one client at the server: what it asks for, one thing after another."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Mapping
from time import monotonic
from typing import Any

from attrs import asdict, frozen
from rlenv import ConfigError
from rlenv.sandbox import Profile, Sandbox, Session, rank

from rlenv_plugin_sandbox import trees
from rlenv_plugin_sandbox.workspace import WorkspaceSession

from .payload import BadPayload, number, profile_of, said_of_end, told
from .tenants import Tenant, Turn

__all__ = ["Limits", "ServedSession"]

_SECONDS_MOST = 86_400.0
# What wrong parts of a request raise where they are used.
_WRONG_PARTS = (KeyError, TypeError, IndexError, ValueError, OverflowError, struct.error)

Reply = tuple[dict[str, Any], list[bytes]]


@frozen
class Limits:
    """What one client may ask for; more is a ConfigError at its side.

    Args:
        sessions: of one tenant, open at one time.
        memory_mb, wall_s, cpu_s, pids, output_bytes: of one program.
        workspace_mb: of one workspace, which travels with each program in one request.
        frame_bytes: of the body of one request.
        paths: folders, devices and interpreters of this machine that a profile may name.
        programs: that one tenant may run at a time, and as many beside these; 0: where there are
            several tenants, one fewer than RLENV_SANDBOX_SLOTS, so that none takes all places.
        idle_s: seconds without a request after which a session ends.
    """

    sessions: int = 64
    memory_mb: int = 8192
    wall_s: float = 3600.0
    cpu_s: float = 36_000.0
    pids: int = 1024
    output_bytes: int = 1 << 26
    frame_bytes: int = 1 << 28
    paths: tuple[str, ...] = ()
    workspace_mb: int = 128
    programs: int = 0
    idle_s: float = 600.0

    def check(self, profile: Profile) -> None:
        """Compare a profile with these limits.

        Raises:
            ConfigError: the profile asks for more.
        """
        problems = [
            f"{name} = {given:g} is more than this server gives ({most:g})"
            for name, most in asdict(self).items()
            if isinstance(given := getattr(profile, name, None), (int, float)) and given > most
        ]
        problems += [
            f"this server shows no programs {path!r}: start it with --allow {path}"
            for path in (*profile.paths, *profile.devices)
            if path not in self.paths
        ]
        # An interpreter starts outside of the jail: who may name any, may start anything.
        if profile.runtime not in ("python", "native", *self.paths):
            problems.append(
                f"this server starts no {profile.runtime!r}: start it with --allow"
                f" {profile.runtime}"
            )
        if problems:
            raise ConfigError(*problems)


class ServedSession:
    """A session of one client.

    A new request stops the work on the one before, as of a client that no longer waits for it.

    Args:
        sandbox: of this machine.
        tier: that it gives.
        limits: of what a client may ask for.
        tenant: whose session it is.

    Attributes:
        ended: is set once no more requests are taken.
    """

    def __init__(self, sandbox: Sandbox, tier: str, limits: Limits, tenant: Tenant) -> None:
        self.tenant = tenant
        self.ended = asyncio.Event()
        self._sandbox = sandbox
        self._tier = tier
        self._limits = limits
        self._session: Session | None = None
        self._turn: Turn | None = None  # that it holds
        self._beside = False
        self._doing: asyncio.Task[Any] | None = None
        self._lock = asyncio.Lock()
        self._used = monotonic()
        self._asked = 0  # requests that are being read or answered
        self._received = 0  # frames of the program that runs
        self._frame: tuple[bytes, float] = (b"", 0.0)  # the last of them, and the clock then

    @property
    def is_idle(self) -> bool:
        """Return True where no request has come for too long."""
        return not self._asked and monotonic() - self._used > self._limits.idle_s

    def __enter__(self) -> None:
        """Begin a request; one that makes no sense ends the session."""
        self._asked += 1

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None and issubclass(kind, BadPayload):
            self.ended.set()
        self._asked -= 1
        self._used = monotonic()

    async def answer(self, what: str, header: Mapping[str, Any], pieces: list[bytes]) -> Reply:
        """Do what a request asks for, and return the answer's header and pieces.

        Args:
            what: open, start, send, recv, finish or close.
            header: of the request.
            pieces: of the request.

        Raises:
            BadPayload: the request makes no sense.
            CancelledError: another request took the place of this one.
        """
        if self._doing is not None:
            self._doing.cancel()
        doing = self._doing = asyncio.current_task()
        try:
            async with self._lock:
                return await self._do(what, header, pieces)
        except _WRONG_PARTS as error:
            if told(error) is not None or isinstance(error, BadPayload):
                raise
            raise BadPayload(f"a request with missing or wrong parts: {error!r:.200}") from error
        finally:
            if self._doing is doing:
                self._doing = None
            self._leave()

    async def end(self) -> None:
        """End the session, and the program that runs in it."""
        self.ended.set()
        if self._doing is not None:
            self._doing.cancel()
        async with self._lock:
            await self._close()

    async def _do(self, what: str, header: Mapping[str, Any], pieces: list[bytes]) -> Reply:
        if what == "open":
            return await self._open(header, pieces)
        if what == "close":
            await self._close()
            self.ended.set()
            return {}, []
        session = self._session
        if session is None:
            raise BadPayload("no session is open")
        if what == "start":
            await self._enter()
            await _start(session, header, pieces)
            self._received = 0
            return {}, []
        if what == "send":
            (frame,) = pieces
            await session.send(frame)
            return {}, []
        if what == "recv":
            return await self._receive(session, header)
        return await _finish(session, header)

    async def _open(self, header: Mapping[str, Any], pieces: list[bytes]) -> Reply:
        profile = profile_of(header["profile"], pieces)
        self._limits.check(profile)
        if rank(profile.min_isolation) > rank(self._tier):
            raise ConfigError(
                f"isolation {profile.min_isolation!r} is required, and this server gives"
                f" {self._tier!r}: have a stronger sandbox served, or lower min_isolation"
            )
        self._beside = profile.beside
        await self._enter()
        self._session = await self._sandbox.open(profile)
        return {"isolation": self._session.isolation}, []

    async def _receive(self, session: Session, header: Mapping[str, Any]) -> Reply:
        """Give the next frame; the last one again to a client that did not get it."""
        wanted = number(header["number"], 1 << 53, whole=True)
        most = min(number(header["max_bytes"], 1 << 53, whole=True), self._limits.frame_bytes)
        seconds = number(header["timeout"], _SECONDS_MOST, -_SECONDS_MOST)
        if wanted == self._received + 1:
            frame = await session.recv(most, seconds)
            self._frame = (frame, session.clock())
            self._received = wanted
        elif wanted != self._received or not wanted:
            raise BadPayload(f"frame {wanted} is not the next one, nor the last")
        frame, clock = self._frame
        return {"clock": clock}, [frame]

    async def _enter(self) -> None:
        """Wait for this tenant's turn to hold a place."""
        if self._turn is None:
            turn = self.tenant.turn(beside=self._beside)
            await turn.acquire()
            self._turn = turn

    def _leave(self) -> None:
        """Give the turn back where no place is held."""
        session = self._session
        is_free = session is None or (
            isinstance(session, WorkspaceSession) and session.leased is None
        )
        if is_free and self._turn is not None:
            self._turn.release()
            self._turn = None

    async def _close(self) -> None:
        session = self._session
        self._session = None
        self._frame = (b"", 0.0)
        try:
            if session is not None:
                await session.close()
        finally:
            self._leave()


async def _start(session: Session, header: Mapping[str, Any], pieces: list[bytes]) -> None:
    if isinstance(session, WorkspaceSession):
        await session.load(pieces.pop())
    is_source = header["words"] is None
    count = 1 if is_source else number(header["words"], len(pieces) - 1, whole=True)
    words = [str(piece, "utf-8", "surrogatepass") for piece in pieces[1 : 1 + count]]
    given = zip(header["files"], pieces[1 + count :], strict=True)
    files = {str(name): (content, int(mode)) for (name, mode), content in given}
    limits = {
        key: None if header[key] is None else number(header[key], 1e9)
        for key in ("cpu_s", "wall_s")
    }
    await session.start(words[0] if is_source else words, files, stdin=pieces[0], **limits)


async def _finish(session: Session, header: Mapping[str, Any]) -> Reply:
    wait = header["wait"]
    end = await session.finish(None if wait is None else number(wait, 1e9, -1e9))
    said = {"exit": said_of_end(end), "clock": session.clock()}
    parts = [end.stdout, end.stderr]
    if isinstance(session, WorkspaceSession):
        parts.append(await asyncio.to_thread(trees.encode, session.content) + trees.END)
        session.content = {}  # it comes again with the next program
    return said, parts
