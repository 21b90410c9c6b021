"""Runs of one response: each in a place of its own, repeated where a sandbox breaks, within one
budget.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from functools import cache, partial
from pathlib import Path

from rlenv.sandbox import Session, Tier, rank

from rlenv_plugin_code.artifacts import Answer, Compiled
from rlenv_plugin_code.languages import language as language_of
from rlenv_plugin_code.languages import tools
from rlenv_plugin_code.retry import retried

from .asserts import Changes, Pair, asserts, with_changes
from .box import Box
from .claims import Check
from .clock import Clock
from .direct import direct
from .function import functions
from .link import FUNCTION_BOOT, Link
from .ran import Ran
from .stdio import Programs, Start
from .turns import in_turn

__all__ = ["Runs", "start_of"]


def start_of(compiled: Compiled) -> Start:
    """How a whole program is started."""
    entry = language_of(compiled.program.language)
    source = compiled.program.source
    if entry.warm:
        return Start(source)
    if compiled.binary is not None:
        return Start(entry.run_argv(), {"program": (compiled.binary, 0o755)})
    return Start(entry.run_argv(), {entry.file: source.encode("utf-8", "surrogatepass")})


@cache
def _shim() -> bytes:
    return (Path(__file__).parents[1] / "guest" / "shim.js").read_bytes()


class Runs:
    """Args:
    box: where.
    clock: the budget of the response.
    timeout: seconds of one case, of CPU and on the program's clock.
    retries: how often a run is repeated that a sandbox broke.

    Attributes:
        tier: the weakest tier that anything ran in.
    """

    def __init__(self, box: Box, clock: Clock, timeout: float, retries: int = 2) -> None:
        self.box = box
        self.clock = clock
        self.timeout = timeout
        self.retries = retries
        self.tier: Tier | None = None

    async def calls(
        self, source: str, calls: Sequence[bytes], language: str = "python"
    ) -> tuple[Answer, ...]:
        """The answers of a source's functions to calls, see ``call_text``.

        Raises:
            ConfigError: such a sandbox cannot be had here.
            VerifierFault: the sandbox broke.
        """
        if language_of(language).warm:
            start = Start(FUNCTION_BOOT)
        else:
            start = Start([tools(language), "--stack-size=3000", "shim.js"], {"shim.js": _shim()})

        async def play() -> Ran:
            async with self._place(language) as session:
                link = Link(session, self.clock, self.timeout)
                return await functions(link, source, calls, start.program, start.files)

        return await self._retried(play)

    async def programs(
        self, compiled: Compiled, inputs: Sequence[bytes], *, early: bool = False
    ) -> tuple[Answer, ...]:
        """The outputs of a program on texts; ``early`` stops at the first that gives none.

        Raises:
            as ``calls``.
        """
        cases = Programs(start_of(compiled), inputs, self.timeout, early=early)

        async def play() -> Ran:
            async with self._place(compiled.program.language) as session:
                return await cases.run(session, self.clock)

        return await self._retried(play)

    async def direct(self, source: str, texts: Sequence[Sequence[Check]]) -> tuple[Answer, ...]:
        """Whether assertions hold that the judge can decide itself, see ``checks_of``.

        Raises:
            as ``calls``.
        """

        async def play() -> Ran:
            async with self._place("python") as session:
                return await direct(Link(session, self.clock, self.timeout), source, texts)

        return await self._retried(play)

    async def asserts(self, source: str, tests: Sequence[bytes], changes: Changes = "all") -> Ran:
        """Whether tests pass, see ``run_text``, and which changes of their arguments they have
        seen.

        Raises:
            as ``calls``; VerifierFault also where a test fails by itself.
        """
        texts = [with_changes(test, changes) for test in tests]

        async def play() -> Ran:
            async with in_turn():
                return await asserts(self.pair(), source, texts, self.clock, self.timeout)

        return await retried(play, self.clock, self.retries)

    async def _retried(self, play: Callable[[], Awaitable[Ran]]) -> tuple[Answer, ...]:
        return (await retried(play, self.clock, self.retries)).answers

    def pair(self) -> Pair:
        """Two places for Python programs, of the tier that is asked for."""
        return Pair(self._open, partial(self._open, beside=True))

    async def _open(self, language: str = "python", *, beside: bool = False) -> Session:
        session = await self.box.open(language, beside=beside)
        self.clock.watch(session)
        if self.tier is None or rank(session.isolation) < rank(self.tier):
            self.tier = session.isolation
        return session

    @asynccontextmanager
    async def _place(self, language: str) -> AsyncIterator[Session]:
        async with in_turn():
            session = await self._open(language)
            try:
                yield session
            finally:
                await session.close()
