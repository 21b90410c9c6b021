"""Canaries: programs that try to get out of the jail, or to leave something behind in it."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from rlenv.model.errors import ConfigError
from rlenv.sandbox import Exit, Profile
from rlenv_plugin_sandbox.jail import Jail

# What a program of these tests begins with.
TOOLS = """
import ctypes, errno, json, os, resource, signal, socket, struct, sys, threading, time
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def call(number, *args):
    plain = [ctypes.c_long(a) if isinstance(a, int) else a for a in args]
    if libc.syscall(ctypes.c_long(number), *plain) < 0:
        raise OSError(ctypes.get_errno(), "refused")
    return "done"
def attempt(do):
    try:
        return "done: %r" % (do(),)
    except (OSError, ImportError, ValueError) as error:
        return "refused"
def tell(what):
    data = json.dumps(what).encode() + b"\\n"
    while data:
        data = data[os.write(1, data):]
"""


class Place:
    """One place of a jail of its own, where programs run one after the other."""

    tools = TOOLS

    def __init__(self) -> None:
        self.jail = Jail(places=1)

    def several(
        self,
        programs: list[Any],
        files: Mapping[str, bytes | tuple[bytes, int]] | None = None,
        first_wall_s: float | None = None,
        **profile: Any,
    ) -> list[Exit]:
        """How each ends; ``first_wall_s`` limits the first program alone."""
        options = {"wall_s": 20.0, "cpu_s": 10.0, **profile}
        native = options.get("runtime") == "native"

        async def talk() -> list[Exit]:
            ends = []
            for number, program in enumerate(programs):
                wall_s = first_wall_s if number == 0 else None
                session = await self.jail.open(Profile(**options))
                try:
                    source = program if native else TOOLS + program
                    await session.start(source, files or {}, wall_s=wall_s)
                    ends.append(await session.finish())
                finally:
                    await session.close()
            return ends

        return asyncio.run(talk())

    def run(self, program: Any, **options: Any) -> Exit:
        return self.several([program], **options)[0]

    def said(self, program: Any, **options: Any) -> Any:
        """The one thing that a program told."""
        end = self.run(program, **options)
        assert end.reason == "exit", (end, end.stdout, end.stderr)
        assert end.status == 0, (end, end.stdout, end.stderr)
        return json.loads(end.stdout)

    @staticmethod
    def children() -> set[str]:
        """All processes of the machine below this one, named as `ps` names them."""
        lines = subprocess.run(
            ["ps", "-e", "-o", "pid=,ppid=,stat=,args="], capture_output=True, text=True, check=True
        ).stdout.splitlines()
        rows = [line.split(None, 3) for line in lines]
        found = set()
        family = {str(os.getpid())}
        grew = True
        while grew:
            grew = False
            for row in rows:
                if row[1] in family and row[0] not in family:
                    family.add(row[0])
                    grew = True
                    if "ps" not in row[3][:3]:
                        found.add(row[0])
        return found

    @staticmethod
    def groups() -> list[str]:
        """The control groups of this process's jails."""
        return [str(path) for path in Path("/sys/fs/cgroup").glob(f"**/rlenv-{os.getpid()}-*")]


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    if sys.platform != "linux":
        pytest.skip("the jail is Linux's")
    made = Place()
    try:
        made.run("pass")
    except ConfigError as problem:
        pytest.skip(f"there is no jail here: {problem}")
    yield made
    asyncio.run(made.jail.aclose())
