"""Jails for the tests of the jail; where the machine allows none, the reason is the skip's."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from rlenv.model.errors import ConfigError
from rlenv.sandbox import Exit, Profile, Session
from rlenv_plugin_sandbox.jail import Jail


class Cell:
    """One jail with short words for what tests do."""

    def __init__(self, places: int | None = None) -> None:
        self.jail = Jail(places)

    def drive(self, talk: Callable[[Session], Awaitable[Any]], **options: Any) -> Any:
        async def whole() -> Any:
            session = await self.jail.open(Profile(**options))
            try:
                return await talk(session)
            finally:
                await session.close()

        return asyncio.run(whole())

    def end(self, program: Any, files: Any = None, stdin: bytes = b"", **options: Any) -> Exit:
        async def talk(session: Session) -> Exit:
            await session.start(program, files or {}, stdin=stdin)
            return await session.finish()

        result: Exit = self.drive(talk, **options)
        return result

    def zygotes(self) -> list[int]:
        """Pids of the idle places, as this machine counts."""
        return [slot._process.pid for slot in self.jail.pool._idle if slot._process is not None]


@pytest.fixture
def cell() -> Iterator[Cell]:
    made = Cell()
    try:
        made.end("pass")
    except ConfigError as problem:
        pytest.skip(f"no jail here: {problem}")
    yield made
    asyncio.run(made.jail.aclose())


@pytest.fixture
def alive() -> Callable[[int], bool]:
    def there(pid: int) -> bool:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return False
        return state not in "ZX"

    return there


@pytest.fixture
def root() -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root")
