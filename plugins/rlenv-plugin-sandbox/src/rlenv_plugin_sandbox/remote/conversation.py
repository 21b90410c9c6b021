"""What one client asks a server for, and what it may ask for."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Mapping
from time import monotonic
from typing import Any

from attrs import asdict, frozen
from rlenv import ConfigError
from rlenv.sandbox import Profile, Sandbox, Session

from rlenv_plugin_sandbox import trees
from rlenv_plugin_sandbox.stream import Link
from rlenv_plugin_sandbox.workspace import WorkspaceSession

from .greeting import ANSWER, ASK, Refused
from .payload import BadPayload, number, profile_of, said_of_end, told, unwrap, wrap

__all__ = ["Conversation", "Limits", "Tenant"]

_IDLE_S = 600.0
_SECONDS_MOST = 86_400.0


@frozen
class Limits:
    """What one client may ask for; more is a ConfigError at its side.

    Args:
        connections: at one time, of one tenant; as many again may be in the middle of their
            greeting.
        memory_mb, wall_s, cpu_s, pids, output_bytes: of one program.
        workspace_mb: of one workspace, which travels with each program in one message.
        frame_bytes: of one message.
        paths: folders, devices and interpreters of this machine that a profile may name.
        programs: that one tenant may run at a time, and as many beside these; 0: where there are
            several tenants, one fewer than RLENV_SANDBOX_SLOTS, so that none takes all places.
    """

    connections: int = 64
    memory_mb: int = 8192
    wall_s: float = 3600.0
    cpu_s: float = 36_000.0
    pids: int = 1024
    output_bytes: int = 1 << 26
    frame_bytes: int = 1 << 28
    paths: tuple[str, ...] = ()
    workspace_mb: int = 128
    programs: int = 0

    def check(self, profile: Profile) -> None:
        """Raises:
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


class Tenant:
    """What the connections of one tenant share: how many there are, and turns to hold a place,
    alone or beside others.

    The sandbox serves first who came first, and at most ``programs`` of a tenant's questions wait
    there.
    """

    def __init__(self, programs: int) -> None:
        self.connections = 0
        self.turns = asyncio.Semaphore(programs), asyncio.Semaphore(programs)


class Conversation:
    """What one client asks for, one thing after another."""

    def __init__(self, sandbox: Sandbox, limits: Limits, link: Link, tenant: Tenant) -> None:
        self._sandbox = sandbox
        self._limits = limits
        self._link = link
        self._tenant = tenant
        self._session: Session | None = None
        self._turns = tenant.turns[0]
        self._holds = False

    async def go(self) -> None:
        """Answer until the client hangs up.  A new question stops the work on the one before."""
        coming = asyncio.create_task(self._next())
        doing: asyncio.Task[bytes] | None = None
        try:
            while True:
                idle = None if doing else _IDLE_S
                waits: set[asyncio.Task[Any]] = {coming, doing} if doing else {coming}
                done, _ = await asyncio.wait(
                    waits, timeout=idle, return_when=asyncio.FIRST_COMPLETED
                )
                if not done:
                    return
                if doing in done:
                    await self._link.send(ANSWER, doing.result(), until=monotonic() + _IDLE_S)
                    doing = None
                if coming in done:
                    await _stop(doing)
                    doing = asyncio.create_task(self._answer(coming.result()))
                    coming = asyncio.create_task(self._next())
        finally:
            await _stop(coming)
            await _stop(doing)
            await self._close()

    async def _next(self) -> bytes:
        frame = await self._link.receive()
        if frame is None or frame[0] != ASK:
            raise Refused("a client sent something other than a request")
        return frame[1]

    async def _answer(self, payload: bytes) -> bytes:
        header, pieces = unwrap(payload)
        asked = {"id": number(header.get("id"), 1 << 53, whole=True)}
        try:
            said, parts = await self._do(header.get("do"), header, pieces)
        except Exception as error:
            known = told(error)
            if known is not None:
                return wrap(asked | known)
            if not isinstance(
                error, (KeyError, TypeError, IndexError, ValueError, OverflowError, struct.error)
            ):
                raise
            raise BadPayload(f"a request with missing or wrong parts: {error}") from error
        finally:
            self._leave()
        return wrap(asked | said, *parts)

    async def _do(
        self, what: Any, header: Mapping[str, Any], pieces: list[bytes]
    ) -> tuple[dict[str, Any], list[bytes]]:
        if what == "open":
            await self._close()
            profile = profile_of(header.get("profile"), pieces)
            self._limits.check(profile)
            self._turns = self._tenant.turns[profile.beside]
            await self._enter()
            self._session = await self._sandbox.open(profile)
            return {"isolation": self._session.isolation}, []
        if what == "close":
            await self._close()
            return {}, []
        session = self._session
        if session is None:
            raise BadPayload("no session is open")
        if what == "start":
            await self._enter()
            await _start(session, header, pieces)
            return {}, []
        return await _talk(session, what, header, pieces, self._limits.frame_bytes)

    async def _enter(self) -> None:
        """Wait for this tenant's turn to hold a place."""
        if not self._holds:
            self._holds = await self._turns.acquire()

    def _leave(self) -> None:
        """Give the turn back where no place is held."""
        session = self._session
        free = session is None or (isinstance(session, WorkspaceSession) and session.leased is None)
        if free and self._holds:
            self._turns.release()
            self._holds = False

    async def _close(self) -> None:
        session = self._session
        self._session = None
        try:
            if session is not None:
                await session.close()
        finally:
            self._leave()


async def _start(session: Session, header: Mapping[str, Any], pieces: list[bytes]) -> None:
    if isinstance(session, WorkspaceSession):
        await session.load(pieces.pop())
    source = header["words"] is None
    count = 1 if source else number(header["words"], len(pieces) - 1, whole=True)
    words = [str(piece, "utf-8", "surrogatepass") for piece in pieces[1 : 1 + count]]
    given = zip(header["files"], pieces[1 + count :], strict=True)
    files = {str(name): (content, int(mode)) for (name, mode), content in given}
    limits = {
        key: None if header[key] is None else number(header[key], 1e9)
        for key in ("cpu_s", "wall_s")
    }
    await session.start(words[0] if source else words, files, stdin=pieces[0], **limits)


async def _talk(
    session: Session, what: Any, header: Mapping[str, Any], pieces: list[bytes], most: int
) -> tuple[dict[str, Any], list[bytes]]:
    if what == "send":
        await session.send(pieces[0])
        return {}, []
    if what == "recv":
        seconds = number(header["timeout"], _SECONDS_MOST, -_SECONDS_MOST)
        longest = min(int(header["max_bytes"]), most)
        frame = await session.recv(longest, seconds)
        return {"is": "frame", "clock": session.clock()}, [frame]
    if what == "finish":
        wait = header["wait"]
        end = await session.finish(None if wait is None else number(wait, 1e9, -1e9))
        said = {"exit": said_of_end(end), "clock": session.clock()}
        parts = [end.stdout, end.stderr]
        if isinstance(session, WorkspaceSession):
            parts.append(await asyncio.to_thread(trees.encode, session.content) + trees.END)
            session.content = {}  # it comes again with the next program
        return said, parts
    raise BadPayload(f"there is no request {what!r:.100}")


async def _stop(task: asyncio.Task[Any] | None) -> None:
    """End a task.  Who is canceled meanwhile is so: a server that ends would wait for it
    forever.
    """
    if task is not None:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
