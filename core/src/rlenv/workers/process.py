"""One worker process, seen from its caller."""

from __future__ import annotations

import os
import pickle
import re
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from glob import glob
from typing import Any

from . import board as b
from . import guard, wire
from .delays import Delays, seconds_in_queues
from .environ import visible_env
from .items import TARGET, Item, Known
from .values import Env

TAIL = 4096  # bytes of its stderr that are kept
# seconds from the close of its pipes to the end of a process that dies, on a loaded machine
DYING = 0.25
FULL = 2 * TARGET  # seconds of work that a worker may hold
MOST = 2048  # items in one message
LOOKS = 1024  # descriptors of a worker that are looked at
HOARDS = "took too much memory"  # what a worker did that shares more than it may
GRACE_END = 1.0  # seconds that an idle worker has to end in peace


class Worker:
    """A process with its socket, its life pipe and its board, and the items it was given.

    Attributes:
        pid: of the worker, once it is ready; ``popen`` is its parent and guard.
        items: sent and not done, in the order of their sending.
        programs: what it was taught; ``building``: of these, what it has not said to be built, with
            the last item that was sent before.
        held: the item that it was on when it was last looked at; ``stuck``: it has been on it for
            long.
        company: the items that it has were there together.
        revoked: the last item that may be answered though it was taken back.
        size: bytes of results since items were last sent.
        forged: it sent what is not a result; ``manner``: what it did so that it had to be killed.
        worn: another one is to take its place; ``leaving``: which is there, or it fails items: no
            more for it.
        heard: when its last record came; ``moved``: when the last news of an item came.
        helpers: threads and processes that its programs start.
        delays: how long its items had to wait for a processor.
    """

    def __init__(self, hello: dict[str, Any], env: Env = None) -> None:
        self.ready = self.looped = self.stuck = self.company = False
        self.forged = self.worn = self.leaving = False
        self.last_seq = self.held = self.revoked = self.size = self.pid = 0
        self.items: dict[int, Item] = {}
        self.load = 0.0
        self.programs: set[int] = set()
        self.building: dict[int, int] = {}
        self.helpers: set[int] = set()
        self.unsent: list[memoryview] = []
        self.buffer = wire.Buffer()
        self.tail = b""
        self.manner = ""
        self._memory: int = hello["memory_mb"] << 20
        self.grace_period: float = hello["grace_period"]
        self.born = self.heard = self.moved = self.ended = time.monotonic()
        self.pidfd = -1
        self.delays = Delays(seconds_in_queues)
        self._start(hello, env)

    def _start(self, hello: dict[str, Any], env: Env) -> None:
        with ExitStack() as theirs, ExitStack() as ours:
            mine, its = socket.socketpair()
            ours.enter_context(mine)
            theirs.enter_context(its)
            life, kept = os.pipe()
            theirs.callback(os.close, life)
            self._life = os.fdopen(kept, "wb")  # its guard ends the worker when this is closed
            ours.callback(self._life.close)
            self.stderr, stderr = os.pipe()
            ours.callback(os.close, self.stderr)
            theirs.callback(os.close, stderr)
            shared = b.make()
            theirs.callback(os.close, shared)
            self._memory_fs = os.fstat(shared).st_dev
            self.board = b.Board(shared)
            ours.callback(self.board.close)
            self.popen = _popen((its.fileno(), life, shared), stderr, visible_env(env))
            self._ours = ours.pop_all()
        self.socket = mine
        mine.setblocking(False)  # noqa: FBT003 - the socket's own signature
        os.set_blocking(self.stderr, False)
        self._tell(hello)

    def _tell(self, word: object) -> None:
        self.send(wire.record(wire.CONTROL, 0, pickle.dumps(word)))

    def send(self, data: bytes) -> None:
        """Send, or keep what does not fit for ``push``."""
        self.unsent.append(memoryview(data))
        self.push()

    def push(self) -> bool:
        """Go on sending; whether all is sent.

        A dead worker takes everything: its death is seen elsewhere.
        """
        try:
            while self.unsent:
                self.unsent[0] = self.unsent[0][self.socket.send(self.unsent[0]) :]
                if not self.unsent[0]:
                    del self.unsent[0]
        except BlockingIOError:
            return False
        except OSError:
            self.unsent.clear()
        return True

    def teach(self, known: Known) -> None:
        """Send a program, once."""
        if known.number not in self.programs:
            self.programs.add(known.number)
            self.building[known.number] = self.last_seq
            self._tell((known.number, known.program.factory, known.program.blob))

    def unlearn(self, known: Known) -> None:
        """Tell it that this program will not come again."""
        if known.number in self.programs:
            self.programs.discard(known.number)
            self._tell((known.number, None, b""))

    def give(self, items: Sequence[Item]) -> None:
        """Send items of one program, in one message."""
        first = self.last_seq + 1
        known = items[0].known
        mine = self.items
        self.heard = now = time.monotonic()
        if not mine:
            self.moved = now
            self.company = False
        self.company |= len(mine) + len(items) > 1
        for item in items:
            item.sent = now
            item.cost = known.cost
        mine.update(enumerate(items, first))
        self.load += known.cost * len(items)
        self.last_seq = self.last_seq + len(items)
        self.size = 0
        self.send(wire.record(known.number, first, pickle.dumps([item.blob for item in items])))

    def starts(self, pid: int) -> None:
        """It says that it is ready, before anything else runs there.

        From now on its number means no other.
        """
        self.ready = True
        self.pid = pid
        with suppress(OSError, AttributeError):  # Linux only
            fd = os.pidfd_open(pid)
            self._ours.callback(os.close, fd)
            self.pidfd = fd if self._lives() else -1

    def crowded(self, *, anyone: bool) -> bool:
        """Whether there are threads or processes there that an earlier item may have left behind.

        Args:
            anyone: also those that started after the item that it is on.
        """
        since = 0.0 if anyone else time.monotonic() - self.moved
        return any(age >= since for one, age in self.others() if one not in self.helpers)

    def others(self) -> list[tuple[int, float]]:
        """Its threads, but for the first, and what descends from it, each with its age."""
        threads = [int(os.path.basename(one)) for one in glob(f"/proc/{self.pid}/task/*")]
        pids = {*threads, *guard.descendants(self.popen.pid)} - {self.pid}
        return [(pid, _age(pid)) for pid in pids]

    def count(self, body: bytes) -> None:
        """Count what it sent of results.

        Raises:
            WireError: when it is more than one message of items can come to.
        """
        self.size += wire.weight(body)
        if self.size > 2 * wire.LONGEST:
            raise wire.WireError("too many bytes of results")

    def find(self, seq: int) -> Item | None:
        """The item with this number; None for one taken back.

        Raises:
            WireError: when it has no such item.
        """
        item = self.items.get(seq)
        if item is None and not (type(seq) is int and 0 < seq <= self.revoked):
            raise wire.WireError(f"a result of item {seq}, which it does not have")
        return item

    def take(self, seq: int) -> Item:
        """The item with this number, which it has; it is done with here."""
        self.stuck = self.stuck and seq != self.held
        self.moved = self.heard
        item = self.items.pop(seq)
        self.load = self.load - item.cost if self.items else 0.0
        return item

    def room(self, item: Item) -> int:
        """How many more items like this one it may hold now."""
        held = len(self.items)
        known = item.known
        used = self.last_seq if item.fresh else self.leaving
        if not self.ready or self.stuck or used or (held and next(iter(self.items.values())).solo):
            return 0
        if item.solo or known.in_flight is None:
            return 0 if held else 1
        if known.in_flight:
            return known.in_flight - held if self.looped or not held else 0
        if self.looped and held:
            return 0
        if not held:
            return max(1, min(MOST, int(FULL / known.cost)))
        return min(MOST, int((FULL - self.load) / known.cost)) if self.load < TARGET else 0

    def receive(self) -> bytes:
        """What has arrived; b"" when the worker hung up."""
        try:
            return self.socket.recv(wire.CHUNK)
        except OSError:
            return b""

    def dead(self) -> bool:
        """Whether the guard has ended or is stopped.

        It stays a zombie, so that its session keeps its number.
        """
        if not hasattr(os, "waitid"):  # macOS before Python 3.13
            return self.popen.poll() is not None
        try:
            flags = os.WEXITED | os.WSTOPPED | os.WNOHANG | os.WNOWAIT
            return os.waitid(os.P_PID, self.popen.pid, flags) is not None
        except ChildProcessError:
            return True

    def _lives(self) -> bool:
        """Whether the worker itself has not ended: no other process is in the session of its guard
        by chance.
        """
        if self.pidfd >= 0:
            ended = select.poll()
            ended.register(self.pidfd, select.POLLIN)
            return not ended.poll(0)
        try:
            return os.getsid(self.pid) == self.popen.pid
        except OSError:
            return False

    def hung_up(self) -> None:
        """Its end of the socket is closed: it is about to end, or it closed the pipe and lives
        on.
        """
        limit = time.monotonic() + DYING
        while (lives := self._lives()) and time.monotonic() < limit:
            time.sleep(0.001)
        self.manner = "closed its pipe" if lives else ""

    def hoards(self) -> bool:
        """Whether what it shares or keeps in memory files, neither of which RLIMIT_DATA counts, is
        over the limit.
        """
        home = f"/proc/{self.pid}"
        held = 0
        with suppress(OSError), open(f"{home}/status", "rb") as status:
            held = int((re.findall(rb"\nRssShmem:\s*(\d+)", status.read()) or [0])[0]) << 10
            found = [os.stat(f"{home}/fd/{fd}") for fd in os.listdir(f"{home}/fd")[:LOOKS]]
            files = {one.st_ino: one.st_blocks for one in found if one.st_dev == self._memory_fs}
            held = max(held, sum(files.values()) << 9)
        return 0 < self._memory < held

    def listen(self) -> bool:
        """Keep the end of what it wrote to stderr, a little at a time.

        False once nothing more can come.
        """
        try:
            data = os.read(self.stderr, wire.CHUNK)
        except OSError as err:  # nothing has come, or another thread has closed it
            return isinstance(err, BlockingIOError)
        self.tail = (self.tail + data)[-TAIL:]
        return bool(data)

    def kill(self) -> None:
        """End the worker and what descends from it.

        Its guard, which is waited for, does so too where it still can.
        """
        self.ended = time.monotonic()
        strays = guard.descendants(self.popen.pid)
        if self._lives() and self.dead():
            self.manner = self.manner or "ended its guard"
            strays += [self.pid, *guard.descendants(self.pid)]
            with suppress(OSError):
                os.killpg(self.pid, signal.SIGKILL)
            with suppress(OSError, AttributeError):  # it may have left its group
                signal.pidfd_send_signal(self.pidfd, signal.SIGKILL)
        self._life.close()
        guard.kill(strays)
        with suppress(OSError):
            os.kill(self.popen.pid, signal.SIGCONT)
        try:
            self.popen.wait(3.0)
        except subprocess.TimeoutExpired:  # who starts a process next reaps it
            guard.kill([*guard.descendants(self.popen.pid), self.popen.pid])

    def hang_up(self) -> None:
        """Ask it to end: nothing more will be sent."""
        with suppress(OSError):
            self.socket.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        """Let go of the file descriptors; closing the life pipe kills what is left of the group."""
        self._ours.close()

    def disown(self) -> None:
        """In a forked child: let go of the descriptors and never touch the process."""
        self.popen.returncode = 0
        self.close()


def _popen(passed: tuple[int, ...], stderr: int, env: dict[str, str]) -> subprocess.Popen[bytes]:
    flags = ["-P"] + ["-O"] * sys.flags.optimize + (["-X", "utf8"] if sys.flags.utf8_mode else [])
    paths = [path for path in (os.environ.get("PYTHONPATH"), _home()) if path]
    return subprocess.Popen(  # noqa: S603 - our own module
        [sys.executable, *flags, "-m", "rlenv.workers", *map(str, passed)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=stderr,
        pass_fds=passed,
        start_new_session=True,
        env={**env, "PYTHONPATH": os.pathsep.join(paths)},
    )


def _home() -> str | None:
    """The folder that rlenv is imported from, unless a new interpreter finds it by itself."""
    import site

    home = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    return None if home in (*site.getsitepackages(), site.getusersitepackages()) else home


def cpu_seconds(pid: int) -> float:
    """CPU time of a process with all its threads, of what it has waited for, and of its running
    descendants.
    """
    ticks = 0
    # One that ends meanwhile may be missed, and never counts twice.
    for one in (pid, *guard.descendants(pid)):
        with suppress(OSError), open(f"/proc/{one}/stat", "rb") as file:
            ticks += sum(map(int, file.read().rpartition(b")")[2].split()[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def _age(pid: int) -> float:
    """Seconds since a process or a thread started; 0 where that is unknown."""
    with suppress(OSError), open(f"/proc/{pid}/stat", "rb") as file:
        ticks = int(file.read().rpartition(b")")[2].split()[19])
        return time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
    return 0.0
