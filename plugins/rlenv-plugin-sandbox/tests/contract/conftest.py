"""One contract for every adapter: each test runs on all of them, and an adapter that cannot run
says why.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from importlib import import_module
from typing import Any

import attrs
import pytest
import sandbox_serving
from rlenv import sandbox as port
from rlenv.model.errors import ConfigError
from rlenv.sandbox import Exit, Profile, Sandbox, Session, Workspace
from sandbox_memory import Memory

# What a program of these tests begins with: frames on descriptor 3.
FRAMES = """
import os, struct, sys, time
def read_exactly(n):
    data = b""
    while len(data) < n:
        more = os.read(3, min(n - len(data), 1 << 20))
        if not more:
            raise EOFError
        data += more
    return data
def receive():
    return read_exactly(struct.unpack("<I", read_exactly(4))[0])
def send(data):
    data = struct.pack("<I", len(data)) + data
    while data:
        data = data[os.write(3, data):]
"""
ALL = frozenset(
    {
        "kill",
        "native",
        "fresh",
        "limits",
        "walls",
        "visible",
        "hidden",
        "room",
        "entries",
        "numbers",
    }
)


@attrs.frozen
class Adapter:
    """How to make one adapter, and what of the contract it promises.

    Promises: ``kill`` a program that does not end by itself; ``native`` command lines; ``fresh``
    processes; ``limits`` of CPU, memory and processes; ``walls`` around files, network and other
    processes; ``visible`` processes, which the machine of the tests can look for; ``hidden`` ones
    of the sandbox itself, of which not even the command line can be read; ``room`` and ``entries``:
    a program itself is told (ENOSPC) when it writes more bytes, or makes more files, than its
    workspace may hold; ``numbers``: no program reads one that another has written, but for those of
    `sandbox_numbers.KERNEL` (docs/explanation/sandbox.md names them).
    """

    name: str
    part: str
    promises: frozenset[str] = ALL
    options: Mapping[str, Any] = attrs.field(factory=dict)


ADAPTERS: tuple[Adapter, ...] = (
    Adapter("memory", "memory", frozenset()),
    Adapter("process", "process", frozenset({"kill", "native", "fresh", "visible"})),
    Adapter("jail", "jail"),
    Adapter("docker", "docker"),
    Adapter("docker+gvisor", "docker+gvisor", ALL - {"visible", "hidden", "entries"}),
    Adapter("remote", "remote"),
)
# A module with a context manager ``sandbox()``: an adapter of another distribution, instead of
# these.
OTHER = os.environ.get("RLENV_TEST_SANDBOX", "")
if OTHER:
    ADAPTERS = (Adapter("remote, " + OTHER, "other"),)


GVISOR = pytest.mark.slow  # each program starts a kernel of its own


@pytest.fixture(
    scope="session",
    params=[
        pytest.param(a, id=a.name, marks=[GVISOR] * a.name.endswith("gvisor")) for a in ADAPTERS
    ],
)
def box(request: pytest.FixtureRequest) -> Iterator[Box]:
    adapter: Adapter = request.param
    with contextlib.ExitStack() as stack:
        options = dict(adapter.options)
        if adapter.part == "remote":
            options |= stack.enter_context(request.getfixturevalue("served")())
        if adapter.part == "other":
            sandbox = stack.enter_context(import_module(OTHER).sandbox())
        elif adapter.part == "memory":  # no part of the plugin: made for tests like these
            sandbox = Memory()
        else:
            sandbox = port.get(adapter.part, **options)
        made = Box(adapter, sandbox)
        try:
            made.tier = asyncio.run(_tier(made.sandbox))
        except ConfigError as problem:
            pytest.skip(f"{adapter.name} cannot run here: {problem}")
        yield made
        asyncio.run(made.sandbox.aclose())


async def _tier(sandbox: Sandbox) -> str:
    session = await sandbox.open(Profile(min_isolation="process"))
    await session.close()
    return session.isolation


class Box:
    """One sandbox under test, with short words for what the tests do all the time."""

    def __init__(self, adapter: Adapter, sandbox: Sandbox) -> None:
        self.name = adapter.name
        self.promises = adapter.promises
        self.sandbox = sandbox
        self.tier = "process"

    def needs(self, *promises: str) -> None:
        missing = sorted(set(promises) - self.promises)
        if missing:
            pytest.skip(f"{self.name} does not promise {', '.join(missing)}")

    def profile(self, **options: Any) -> Profile:
        return Profile(**{"min_isolation": self.tier, "wall_s": 20.0, **options})

    @contextlib.asynccontextmanager
    async def session(self, **options: Any) -> AsyncIterator[Session]:
        session = await self.sandbox.open(self.profile(**options))
        try:
            yield session
        finally:
            await session.close()

    def drive(self, talk: Callable[[Session], Awaitable[Any]], **options: Any) -> Any:
        """What ``talk`` returns for a session of its own, in an event loop of its own."""

        async def whole() -> Any:
            async with self.session(**options) as session:
                return await talk(session)

        return asyncio.run(whole())

    def work(self, talk: Callable[[Workspace, Session], Awaitable[Any]], **options: Any) -> Any:
        """What ``talk`` returns for the workspace of a session of its own."""

        async def whole(session: Session) -> Any:
            return await talk(session.workspace, session)

        return self.drive(whole, **{"workspace_mb": 4, "workspace_files": 200, **options})

    def end(
        self,
        program: Any,
        files: Mapping[str, Any] | None = None,
        stdin: bytes = b"",
        **options: Any,
    ) -> Exit:
        """How a program ends that is only started and waited for."""

        async def talk(session: Session) -> Exit:
            await session.start(program, files or {}, stdin=stdin)
            return await session.finish()

        result: Exit = self.drive(talk, **options)
        return result


@pytest.fixture
def frames() -> str:
    return FRAMES


@pytest.fixture(scope="session")
def served() -> Callable[[], contextlib.AbstractContextManager[Mapping[str, Any]]]:
    """A server of its own for the remote adapter, with the strongest sandbox that this machine
    has.
    """

    @contextlib.contextmanager
    def serving() -> Iterator[Mapping[str, Any]]:
        token = "contract"
        for inner in ("jail", "process"):
            try:
                asyncio.run(_tier_of(inner))
            except ConfigError:
                continue
            with sandbox_serving.serving(inner, token=token) as url:
                yield {"url": url, "token": token}
                return
        pytest.skip("remote cannot run here: no local sandbox to serve")

    return serving


async def _tier_of(name: str) -> str:
    sandbox = port.get(name)
    try:
        return await _tier(sandbox)
    finally:
        await sandbox.aclose()
