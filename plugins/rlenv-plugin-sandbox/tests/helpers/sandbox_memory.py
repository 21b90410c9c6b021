"""An adapter in memory, for tests of what uses the port: a program is a thread of this process.

The channel is a real socket pair at descriptor 3, and standard input, output and error are the
thread's own, because the thread leaves the table of descriptors and the working directory that it
was born with. Nothing keeps it from harm: it shares memory with the judge, CPU and memory have no
limit, and it ends at its deadline only where it runs Python code; a thread that does not end is
left alone, and said so by a fault.  So it is for trusted programs; its tier is "process".
"""

from __future__ import annotations

import asyncio
import builtins
import contextlib
import ctypes
import os
import random
import shutil
import socket
import struct
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from rlenv import ConfigError, Fault
from rlenv.sandbox import (
    CHANNEL,
    ChannelEnded,
    ChannelTimeout,
    Diagnosis,
    Exit,
    FrameTooLong,
    Profile,
    rank,
)
from rlenv_plugin_sandbox.files import checked
from rlenv_plugin_sandbox.guest import tree
from rlenv_plugin_sandbox.metering import Meter
from rlenv_plugin_sandbox.trees import END, decode
from rlenv_plugin_sandbox.workspace import Leased, Workspaces

__all__ = ["Memory"]

_OWN = 0x200 | 0x400  # CLONE_FS | CLONE_FILES: a working directory and descriptors of one's own
_GRACE = 1.0


class Memory(Workspaces):
    """Programs as threads of this process, for trusted programs in tests only."""

    async def lease(self, profile: Profile) -> _Session:
        if rank(profile.min_isolation) > rank("process"):
            raise ConfigError(
                f"a sandbox in memory gives tier process, and {profile.min_isolation} is asked for:"
                ' use "jail", or min_isolation = "process" for trusted programs'
            )
        if profile.runtime == "native":
            raise ConfigError("a sandbox in memory runs Python source only: use another sandbox")
        return _Session(profile)

    async def aclose(self) -> None:
        """Nothing is kept warm."""

    def diagnose(self) -> Sequence[Diagnosis]:
        return [
            Diagnosis("tier", "process: a thread without isolation; for trusted programs in tests")
        ]


class _Ended(BaseException):
    """Raised inside a program to end it."""


class _Run:
    """One program and its thread."""

    def __init__(self, source: str, folder: Path, stdin: bytes, profile: Profile) -> None:
        self.source = source
        self.folder = folder
        self.profile = profile
        self.judge, self.program = socket.socketpair()
        self.judge.settimeout(0)
        self.stdin = folder.with_name("stdin")
        self.stdin.write_bytes(stdin)
        self.status: int | None = None
        self.outputs = [folder.with_name("stdout"), folder.with_name("stderr")]
        self.began = time.monotonic()
        self.meter = Meter()
        self.cpu = self.wall = 0.0
        self.reason: Any = "exit"
        self.born = threading.Event()
        self.thread = threading.Thread(target=self._whole, daemon=True)

    def start(self) -> None:
        """Begin; from here on the program's end of the channel is open in its thread only."""
        self.thread.start()
        self.born.wait()
        self.program.close()

    def _whole(self) -> None:
        try:
            self._move()
        finally:
            self.born.set()
        try:
            self.status = self._run()
        except _Ended:
            self.status = -9
        finally:
            self.cpu = time.thread_time()
            self.wall = time.monotonic() - self.began

    def _move(self) -> None:
        if ctypes.CDLL(None, use_errno=True).unshare(_OWN) != 0:
            raise OSError(ctypes.get_errno(), "unshare")
        os.chdir(self.folder)
        files = [os.open(self.stdin, os.O_RDONLY)]
        files += [os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND) for path in self.outputs]
        high = [os.dup(os.dup(fd)) for fd in (*files, self.program.fileno())]
        for place, fd in enumerate(high):
            os.dup2(fd, place)
        os.closerange(CHANNEL + 1, os.sysconf("SC_OPEN_MAX"))

    def _run(self) -> int:
        names = _Names()
        with contextlib.ExitStack() as stack:
            stack.callback(names.end)
            stack.enter_context(_importable(self.folder, [name for name, _ in self.profile.files]))
            try:
                random.seed(self.profile.hash_seed)
                code = compile(self.source, "main.py", "exec", dont_inherit=True)
                exec(code, names.main)
            except SystemExit as stop:
                return names.status(stop.code)
            except _Ended:
                raise
            except BaseException:
                traceback.print_exc(file=names.sys.stderr)
                return 1
        return 0

    def end(self) -> None:
        """Ask the thread to end, at its next step of Python code or when it waits for a frame."""
        with contextlib.suppress(OSError):
            self.judge.shutdown(socket.SHUT_RDWR)
        if self.thread.is_alive() and self.thread.ident:
            ctypes.pythonapi.PyThreadState_SetAsyncExc(
                ctypes.c_ulong(self.thread.ident), ctypes.py_object(_Ended)
            )

    def close(self) -> None:
        self.judge.close()
        self.program.close()
        shutil.rmtree(self.folder.parent, ignore_errors=True)


class _Names:
    """What a program finds under names: a ``sys`` with streams of its own, and what prints to
    them.
    """

    def __init__(self) -> None:
        self.sys: Any = ModuleType("sys")
        self.sys.__dict__.update(
            sys.__dict__,
            argv=["main.py"],
            stdin=open(0, encoding="utf-8", closefd=False),  # noqa: SIM115 - lives with the thread
            stdout=open(1, "w", encoding="utf-8", closefd=False),  # noqa: SIM115
            stderr=open(2, "w", encoding="utf-8", closefd=False),  # noqa: SIM115
        )
        own = {
            **vars(builtins),
            "print": self._print,
            "input": self._input,
            "__import__": self._import,
        }
        self.main: dict[str, Any] = {"__name__": "__main__", "__builtins__": own}

    def _print(self, *words: Any, **options: Any) -> None:
        options["file"] = options.get("file") or self.sys.stdout
        print(*words, **options)

    def _input(self, prompt: str = "") -> str:
        self.sys.stdout.write(prompt)
        line: str = self.sys.stdin.readline()
        if not line:
            raise EOFError
        return line.rstrip("\n")

    def _import(self, name: str, *rest: Any) -> Any:
        return self.sys if name == "sys" else __import__(name, *rest)

    def status(self, code: Any) -> int:
        if code is None or isinstance(code, int):
            return (code or 0) & 0xFF
        print(code, file=self.sys.stderr)
        return 1

    def end(self) -> None:
        """Flush, and let go of all names while the program's own descriptors are here.

        A file that a later collection closes in another thread would take a descriptor of the judge
        with it.
        """
        self.main.clear()
        for stream in (self.sys.stdout, self.sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()


class _Session(Leased):
    isolation: Any = "process"

    def __init__(self, profile: Profile) -> None:
        self._profile = profile
        self._run: _Run | None = None
        self._buffer = bytearray()
        self._wall = profile.wall_s
        self._clock = 0.0

    async def start(
        self,
        program: str | Sequence[str],
        files: Mapping[str, bytes | tuple[bytes, int]] | None = None,
        *,
        stdin: bytes = b"",
        cpu_s: float | None = None,
        wall_s: float | None = None,
    ) -> None:
        if not isinstance(program, str):
            raise ConfigError("a sandbox in memory runs Python source only, no command line")
        given = checked({**dict(self._profile.files), **dict(files or {})})
        await self.close()
        folder = Path(tempfile.mkdtemp(prefix="rlenv-memory-")) / "work"
        folder.mkdir()
        for name, content, mode in given:
            tree.put(str(folder / name), mode, content)
        for name, node in decode(self.given + END, {}, 1 << 20).items():
            tree.put(str(folder / name), node.mode, node.content)
        self._wall = min(wall_s or self._profile.wall_s, self._profile.wall_s)
        self._buffer.clear()
        self._run = _Run(program, folder, stdin, self._profile)
        self._run.start()

    def clock(self) -> float:
        """See the port; how long a thread waits for a processor is not known."""
        return self._clock + (0.0 if self._run is None else self._run.meter.clock)

    def _now(self) -> _Run:
        if self._run is None:
            raise ChannelEnded("no program runs")
        return self._run

    def _left(self) -> float:
        return max(0.0, self._now().began + self._wall - time.monotonic())

    async def send(self, frame: bytes) -> None:
        loop = asyncio.get_running_loop()
        data = struct.pack("<I", len(frame)) + frame
        self._now().meter.ask()
        try:
            async with asyncio.timeout(self._left()):
                await loop.sock_sendall(self._now().judge, data)
        except (OSError, TimeoutError) as error:
            raise ChannelEnded("the program no longer reads") from error

    async def recv(self, max_bytes: int, timeout: float) -> bytes:
        meter = self._now().meter
        meter.ask()
        try:
            async with asyncio.timeout(timeout):
                size = struct.unpack("<I", await self._have(4))[0]
                if size > max_bytes:
                    raise FrameTooLong(f"a frame of {size} bytes, {max_bytes} allowed")
                frame = (await self._have(4 + size))[4:]
        except TimeoutError as error:
            raise ChannelTimeout(f"no frame within {timeout} s") from error
        del self._buffer[: 4 + size]
        meter.rest()
        return frame

    async def _have(self, count: int) -> bytes:
        loop = asyncio.get_running_loop()
        while len(self._buffer) < count:
            try:
                more = await loop.sock_recv(self._now().judge, 1 << 16)
            except ConnectionError:
                more = b""
            if not more:
                raise ChannelEnded("the program closed its channel")
            self._buffer += more
        return bytes(self._buffer[:count])

    async def finish(self, wait: float | None = None) -> Exit:
        run = self._now()
        limit = self._left() if wait is None else min(wait, self._left())
        if wait != 0:
            run.meter.ask()
        await self._ended(run, limit)
        reason: Any = "exit"
        if run.thread.is_alive():
            reason = "wall" if self._left() == 0 else "killed"
            run.end()
            await self._ended(run, _GRACE)
        result = self._exit(run, reason)
        self._clock += run.meter.clock
        self._run = None
        if self._profile.workspace_mb:
            left = bytearray()
            most = self._profile.workspace_mb << 20
            tree.pack(str(run.folder), most, self._profile.workspace_files, left.extend)
            self.left = bytes(left)
        run.close()
        return result

    async def _ended(self, run: _Run, seconds: float) -> None:
        until = time.monotonic() + seconds
        while run.thread.is_alive() and time.monotonic() < until:
            await asyncio.sleep(0.002)

    def _exit(self, run: _Run, reason: Any) -> Exit:
        if run.thread.is_alive():
            fault = Fault("sandbox", "a thread cannot be killed, and the program is still running")
            return Exit(None, "lost", wall=time.monotonic() - run.began, fault=fault)
        limit = self._profile.output_bytes
        texts = [path.read_bytes() if path.exists() else b"" for path in run.outputs]
        cut = any(len(text) > limit for text in texts)
        out, err = (text[:limit] for text in texts)
        return Exit(run.status, reason, run.cpu, run.wall, truncated=cut, stdout=out, stderr=err)

    async def close(self) -> None:
        if self._run is not None:
            run = self._run
            self._run = None
            run.end()
            await self._ended(run, _GRACE)
            run.close()


@contextlib.contextmanager
def _importable(folder: Path, names: Sequence[str]) -> Iterator[None]:
    """The files of a profile can be imported meanwhile, and are forgotten afterwards."""
    before = set(sys.modules)
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        for name in {name.partition("/")[0].removesuffix(".py") for name in names} - before:
            sys.modules.pop(name, None)
