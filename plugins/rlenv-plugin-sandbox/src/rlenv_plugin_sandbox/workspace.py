"""Sessions with a workspace: its content goes to a place with each program, and comes back when
that has ended.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Protocol

from attrs import evolve
from rlenv import ConfigError, Fault
from rlenv.sandbox import Entry, Exit, Profile, Session, Tier, Workspace, WorkspaceError

from . import trees

Program = str | Sequence[str]
Files = Mapping[str, bytes | tuple[bytes, int]]
Seconds = float | None

__all__ = ["Files", "Leased", "Program", "Seconds", "WorkspaceSession", "Workspaces"]


class Leased(Session, Protocol):
    """An adapter's own session.

    Attributes:
        given: the content of the workspace that the next program runs in, as entries.
        left: what the last program left there, as entries with an end; None where that is not to be
            had.
    """

    given: bytes = b""
    left: bytes | None = None

    @property
    def workspace(self) -> Workspace:
        raise ConfigError("this session has no workspace: give its Profile workspace_mb")


Lease = Callable[[Profile], Awaitable[Leased]]


class Workspaces:
    """The part of an adapter that gives sessions their workspaces."""

    async def open(self, profile: Profile, /) -> Session:
        """See `rlenv.sandbox.Sandbox.open`."""
        leased = await self.lease(profile)
        if not profile.workspace_mb:
            return leased
        await leased.close()
        return WorkspaceSession(self.lease, profile, leased.isolation)

    lease: Lease  # a place; raises as ``open`` does


class WorkspaceSession:
    """See `rlenv.sandbox.Session`.

    It is its own `Workspace`, and holds a place only while a program runs.
    """

    def __init__(self, lease: Lease, profile: Profile, isolation: Tier) -> None:
        self.isolation = isolation
        self.content: trees.Tree = {}
        self.snapshots: dict[str, trees.Tree] = {}
        self._lease = lease
        self._profile = profile
        self.leased: Leased | None = None
        self._busy = self._closed = False
        self._clock = 0.0
        self._lock = asyncio.Lock()

    @property
    def workspace(self) -> WorkspaceSession:
        return self

    def clock(self) -> float:
        """See the port."""
        return self._clock + (0.0 if self.leased is None else self.leased.clock())

    async def start(
        self,
        program: Program,
        files: Files | None = None,
        *,
        stdin: bytes = b"",
        cpu_s: Seconds = None,
        wall_s: Seconds = None,
    ) -> None:
        self._needs_peace()
        content = self.content
        for name, given in (files or {}).items():
            data, mode = given if isinstance(given, tuple) else (given, 0)
            content = trees.placed(content, name, data, executable=mode & 0o100 > 0)
        trees.check(content, self._profile)
        self._busy = True
        try:
            leased = self.leased = await self._lease(self._profile)
            self._needs_peace(running=True)  # it may have been closed meanwhile
            leased.given = trees.encode(content)
            await leased.start(program, stdin=stdin, cpu_s=cpu_s, wall_s=wall_s)
        except BaseException:
            await self._leave()
            raise

    async def send(self, frame: bytes) -> None:
        await self._running().send(frame)

    async def recv(self, max_bytes: int, timeout: float) -> bytes:  # noqa: ASYNC109 - the port's word
        return await self._running().recv(max_bytes, timeout)

    async def finish(self, wait: float | None = None) -> Exit:
        leased = self._running()
        try:
            return await self._kept(await leased.finish(wait), leased.left)
        finally:
            await self._leave()

    async def close(self) -> None:
        self._closed = True
        await self._leave()
        self.content = {}
        self.snapshots = {}

    def _needs_peace(self, *, running: bool = False) -> None:
        if self._closed or self._busy is not running:
            raise RuntimeError("a session runs one program at a time, and none once it is closed")

    async def _leave(self) -> None:
        """Give the place back; kills what still runs there."""
        leased = self.leased
        self.leased = None
        try:
            if leased is not None:
                self._clock += leased.clock()
                await leased.close()
        finally:
            self._busy = False

    def _running(self) -> Leased:
        if self.leased is None:
            raise RuntimeError("no program was started in this session")
        return self.leased

    async def _kept(self, end: Exit, left: bytes | None) -> Exit:
        """Take over what a program left; the ``Exit`` then says where that could not be."""
        try:
            if end.fault is None and end.started and left is not None:
                await self.load(left)
            elif end.fault is None and end.reason in ("exit", "signal"):
                raise trees.Damaged("it did not come back")
        except WorkspaceError:
            return evolve(end, reason="disk")
        except trees.Damaged as error:
            what = f"sandbox: what a program left in its workspace is lost: {error}"
            return evolve(end, fault=Fault("unavailable", what, transient=True))
        return end

    async def load(self, entries: bytes) -> None:
        """Make these entries, with an end, its content.

        Raises:
            WorkspaceError: they are more than it may hold.
            Damaged: they are no entries.
        """
        most = self._profile.workspace_files
        content = await asyncio.to_thread(trees.decode, entries, self.content, most)
        trees.check(content, self._profile)
        self.content = content

    # -- the workspace
    # -------------------------------------------------------------------------------

    @asynccontextmanager
    async def _turn(self) -> AsyncIterator[None]:
        async with self._lock:
            self._needs_peace()
            yield

    async def run(
        self, program: Program, *, stdin: bytes = b"", cpu_s: Seconds = None, wall_s: Seconds = None
    ) -> Exit:
        async with self._turn():
            await self.start(program, stdin=stdin, cpu_s=cpu_s, wall_s=wall_s)
            return await self.finish()

    async def read(self, path: str, max_bytes: int | None = None) -> bytes:
        async with self._turn():
            data = trees.file_at(self.content, path)
        if max_bytes is not None and len(data) > max_bytes:
            raise WorkspaceError(f"{path[:200]!r} has {len(data):,} bytes, more than {max_bytes:,}")
        return data

    async def write(self, path: str, content: bytes, *, executable: bool = False) -> None:
        async with self._turn():
            made = trees.placed(self.content, path, content, executable=executable)
            trees.check(made, self._profile)
            self.content = made

    async def list(self) -> Sequence[Entry]:
        async with self._turn():
            return [trees.entry(*item) for item in sorted(self.content.items())]

    async def snapshot(self) -> str:
        async with self._turn():
            name = await asyncio.to_thread(trees.digest, self.content)
            self.snapshots[name] = self.content
            return name

    async def restore(self, snapshot: str, source: Workspace | None = None) -> None:
        async with self._turn():
            content: trees.Tree | None = getattr(source or self, "snapshots", {}).get(snapshot)
            if content is None:
                raise WorkspaceError(f"there is no snapshot {snapshot[:200]!r} of this workspace")
            trees.check(content, self._profile)
            self.content = content
