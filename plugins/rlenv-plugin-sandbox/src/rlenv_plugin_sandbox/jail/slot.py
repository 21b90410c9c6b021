"""One place in the jail: a zygote, its sockets and its control group."""

from __future__ import annotations

import array
import asyncio
import json
import os
import select
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Mapping
from itertools import count
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple
from weakref import WeakSet

from rlenv import ConfigError, Fault, VerifierFault
from rlenv.sandbox import Profile

from rlenv_plugin_sandbox.guest.tree import put
from rlenv_plugin_sandbox.pool import Place
from rlenv_plugin_sandbox.start import memory_file
from rlenv_plugin_sandbox.trees import longest

from . import cgroups
from .advice import advice
from .channel import SOON_MS
from .setup import GUEST, OVERHEAD_MB, interpreter, plan, taken, unused_ids

__all__ = ["NoJail", "Slot", "Start", "check_preload", "lost"]

_HANDSHAKE_S = 30.0
_FAREWELL_S = 5.0
_PACKING_S = 300.0  # for a zygote to hand over a workspace
_STARTED = b"s"
_ENVIRONMENT = {
    "LANG": "C.UTF-8",
    "MALLOC_ARENA_MAX": "2",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
}
_numbers = count()
_slots: WeakSet[Slot] = WeakSet()
_lock = Lock()  # one spawn at a time: a descriptor of one zygote must not leak into another


class Start(NamedTuple):
    """What a child says that has START."""

    pid: int | None  # our number for the process that began to run its program
    failure: str  # why it could not
    # Descriptors to read its standard output and error from: the caller's to close.
    outputs: list[int]


class NoJail(ConfigError):
    """The kernel refused a step of the isolation; ``step`` and ``number`` say which and why."""

    def __init__(self, message: str, step: str, number: int | None) -> None:
        self.step = step
        self.number = number
        super().__init__(message)


def _own_folder(*, native: bool) -> str:
    """A folder for programs that are not isolated.

    Raises:
        ConfigError: none can be made, or nothing in it can be executed: that would be held against
            programs.
    """
    try:
        made = tempfile.mkdtemp(prefix="rlenv-process-")
    except OSError as error:
        raise ConfigError(f"no temporary folder: {error}; set TMPDIR to one") from error
    if native and os.statvfs(made).f_flag & os.ST_NOEXEC:
        os.rmdir(made)
        raise ConfigError(
            f"nothing below {tempfile.gettempdir()} can be executed, for it is mounted noexec: set"
            ' TMPDIR to another folder, or use the sandbox "jail"'
        )
    return made


def lost(what: str) -> Fault:
    """The sandbox broke; elsewhere it may work."""
    return Fault("unavailable", f"sandbox: {what}", transient=True)


def check_preload(message: Mapping[str, Any]) -> None:
    """Raises:
    ConfigError: what was not made failed at a module that it should preload.
    """
    if message["step"] == "preload":
        raise ConfigError(
            f"preload: {message['failed']}; every module of the profile must import in the sandbox"
        )


class Slot(Place):
    """A zygote that is ready, or being made ready; ``close`` ends it with everything in it.

    Raises:
        NoJail: the kernel refuses the isolation.
        VerifierFault: the zygote could not be started.
    """

    def __init__(self, profile: Profile, *, isolate: bool) -> None:
        super().__init__(profile)
        self.number = next(_numbers)
        self.isolate = isolate
        self.group: cgroups.Group | None = None
        self._runs = 0
        self._marked = 0.0
        self._kills = 0
        self._folder: str | None = None
        self._left: list[int] = []  # a pipe to read from what a run left in its workspace
        self._process: subprocess.Popen[bytes] | None = None
        self.control, control = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.job, job = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.job.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        try:
            self._process = self._spawn(control, job, self._config())
            control.close()  # so that the zygote's death is the end of the stream
            self._enter_group(self._process.pid)
            self.landlock = self._handshake(self._process.pid)
        except BaseException:
            self.close()
            raise
        finally:
            control.close()
            job.close()
        self.control.setblocking(False)  # noqa: FBT003 - the library's word
        self.job.setblocking(False)  # noqa: FBT003 - the library's word
        self._poll = select.poll()
        self._poll.register(self.control, select.POLLIN)
        self.cpu(mark=True)
        _slots.add(self)

    def _config(self) -> dict[str, Any]:
        box = home = ""
        if not self.isolate:
            self._folder = _own_folder(native=self.profile.runtime == "native")
            box = f"{self._folder}/box"
            home = f"{self._folder}/home"
            os.mkdir(home)
            for name, content in self.profile.files:
                put(f"{box}/{name}", 0o644, content)
        made = plan(self.profile, isolate=self.isolate, inner=self.isolate, home=home, box=box)
        self.taken = taken([*made["interpreter"], *made["paths"]]) if self.isolate else frozenset()
        return made

    def _spawn(
        self, control: socket.socket, job: socket.socket, config: dict[str, Any]
    ) -> subprocess.Popen[bytes]:
        memory = memory_file(json.dumps(config).encode())
        fds = (control.fileno(), job.fileno(), memory)
        options = ("-X", "utf8", "-s", "-S", "-B")
        words = [interpreter(self.profile.runtime), *options, str(GUEST), *map(str, fds)]
        # -I would ignore the seed, and there is nothing else to ignore
        environment = {**_ENVIRONMENT, "PYTHONHASHSEED": str(self.profile.hash_seed)}
        try:
            with _lock:
                process = subprocess.Popen(  # noqa: S603 - our own program
                    words,
                    pass_fds=fds,
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    cwd="/",
                    start_new_session=True,  # no terminal, and none of its signals
                )
        except OSError as error:
            raise VerifierFault(lost(f"the zygote could not be started: {error}")) from error
        finally:
            os.close(memory)
        return process

    def _enter_group(self, pid: int) -> None:
        """Before the zygote is told to go on, so that all of it is in there."""
        if self.isolate and cgroups.homes():
            try:
                limit = self.profile.memory_mb + OVERHEAD_MB
                self.group = cgroups.Group(self.number, limit << 20, self.profile.pids + 3)
                self._kills = self.group.kills()  # of one that had its name before
                self.group.add(pid)
                cgroups.spare(pid)
            except OSError as error:
                raise VerifierFault(lost(f"no control group: {error}")) from error

    def _handshake(self, pid: int) -> int:
        self.control.settimeout(_HANDSHAKE_S)
        try:
            self.control.send(b"go")
            while True:
                said = self.control.recv(1 << 16)
                if not said:
                    raise VerifierFault(lost("the zygote ended before it was ready"))
                message = json.loads(said)
                if "ready" in message:
                    self._check_room(message["address_space"])
                    return int(message["landlock"])
                if "failed" in message:
                    self._refuse(message)
                self._map(pid)
        except OSError as error:
            raise VerifierFault(lost(f"the zygote does not answer: {error}")) from error

    def _check_room(self, address_space: int) -> None:
        """Whether an inherited limit, which nobody may raise, leaves room for its memory."""
        needed = (self.profile.memory_mb + OVERHEAD_MB) << 20
        if 0 <= address_space < needed:
            raise ConfigError(
                f"memory_mb = {self.profile.memory_mb}: this process may use only"
                f" {address_space >> 20} MiB of addresses, and neither it nor its children can"
                " raise that; raise the hard limit (ulimit -Hv unlimited), or the memory limit of"
                " the workers that run this"
            )

    def _map(self, pid: int) -> None:
        first = unused_ids(self.owner * 64 + self.number)
        for name in ("uid_map", "gid_map"):
            Path(f"/proc/{pid}/{name}").write_text(f"0 {first} 1\n1000 {first + 1} 1\n")
        self.control.send(b"mapped")

    def _refuse(self, message: dict[str, Any]) -> None:
        check_preload(message)
        step = message["step"]
        said = message["failed"]
        number = message["errno"]
        refused = f"this machine refuses the jail ({step}): {said}; {advice(number)}"
        raise NoJail(refused, step, number)

    def fresh(self) -> bool:
        """Whether it can be leased, as far as is known without waiting."""
        if self.healthy:
            self.healthy = self._word() is None
        return self.healthy

    # -- one run -----------------------------------------------------------------------------------

    def submit(self, message: bytes, fds: list[int]) -> None:
        """Send START to the child that waits.

        Raises:
            OSError: the zygote is gone.
        """
        self._runs += 1
        if self.group is not None:
            self.group.peaks.begin()
        rights = array.array("i", fds)
        self.job.sendmsg([message], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)])

    def started(self) -> Start | None:
        """What the child says that has START; None so far."""
        room = socket.CMSG_SPACE(12) + socket.CMSG_SPACE(2 * 4)
        try:
            said, ancillary, _, _ = self.job.recvmsg(256, room)
        except OSError:
            return None
        outputs = array.array("i")
        pid = None
        for level, kind, data in ancillary:
            if level == socket.SOL_SOCKET and kind == socket.SCM_CREDENTIALS:
                pid = int.from_bytes(data[:4], "little", signed=True)
            elif level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                outputs.frombytes(data[: len(data) - len(data) % 4])
        if said != _STARTED:
            return Start(None, said[1:].decode("utf-8", "replace"), list(outputs))
        return Start(pid, "", list(outputs))

    def report(self) -> bytes | None:
        """The zygote's word on the end of this run.

        b"" when it is gone, None when there is none yet.
        """
        while True:
            said = self._word()
            if not said:
                return said
            if int.from_bytes(said[:4], "little") >= self._runs:
                return said

    def _word(self) -> bytes | None:
        try:
            said, fds, _, _ = socket.recv_fds(self.control, 256, 1)
            self._left += fds
        except BlockingIOError:
            return None
        except OSError:
            said = b""
        if not said:
            self.healthy = False
        return said

    async def left_behind(self) -> bytes | None:
        """What the run that was reported left in its workspace; None when that is not to be had."""
        if not self._left:
            return None
        # until its zygote has come to an end with it
        healthy = self.healthy
        self.healthy = False
        reading = asyncio.to_thread(_read, self._left.pop(), longest(self.profile))
        try:
            left = await asyncio.wait_for(reading, _PACKING_S)
        except TimeoutError:
            return None
        self.healthy = healthy
        return left

    def kill(self) -> None:
        """End the run that is on."""
        try:
            self.control.send(self._runs.to_bytes(4, "little"))
        except OSError:
            self.healthy = False

    def soon(self) -> None:
        """Wait a few milliseconds for the zygote's word: cheaper than a turn of the loop."""
        self._poll.poll(SOON_MS)

    def cpu(self, *, mark: bool = False) -> float:
        """Seconds of CPU that all of this place used since the last mark.

        0.0 where nobody counts them.
        """
        if self.group is None:
            return 0.0
        now = self.group.cpu()
        used = now - self._marked
        if mark:
            self._marked = now
        return used

    def peak(self) -> int:
        """Bytes that everything in this place held at most since the last START.

        0 for little or unknown.
        """
        return 0 if self.group is None else self.group.peaks.most()

    def ran_out_of_memory(self) -> bool:
        """Whether the kernel killed for want of memory since it was last asked."""
        before = self._kills
        self._kills = self.group.kills() if self.group is not None else 0
        return self._kills > before

    def close(self) -> None:
        """End the zygote, and everything in it."""
        self.healthy = False
        while self._left:
            os.close(self._left.pop())
        self.control.close()
        self.job.close()
        if self.owner != os.getpid():
            return
        if self._process is not None:
            self._reap(self._process)
        if self.group is not None:
            self.group.remove()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    @staticmethod
    def _reap(process: subprocess.Popen[bytes]) -> None:
        """Without its judge it ends by itself, last of all that it started."""
        try:
            process.wait(_FAREWELL_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _read(fd: int, most: int) -> bytes:
    """All that comes through a pipe, at most so many bytes; waits for its or its writer's end."""
    with open(fd, "rb") as pipe:
        return pipe.read(most)


def _abandon() -> None:
    """In a child of this process: let go, so that zygotes end with the one that they work for."""
    global _lock  # noqa: PLW0603 - another thread may have held it
    _lock = Lock()
    for slot in list(_slots):
        slot.healthy = False
        slot.control.close()
        slot.job.close()


os.register_at_fork(after_in_child=_abandon)
