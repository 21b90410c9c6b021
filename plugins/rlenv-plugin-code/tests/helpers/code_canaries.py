"""What an attack must not reach: a secret, folders, sockets, processes, and anything that outlives
its run.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from rlenv.sandbox import close_all

VARIABLE = "RLENV_TEST_CANARY"
KEY = 0x5EED  # of System V objects
PLACES = ("/tmp", "/dev/shm", "/var/tmp", "/run", "/run/lock", "/", os.path.expanduser("~"))


def _stat(pid: int) -> tuple[int, str, int] | None:
    """Parent, state and start time of a process."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text("latin-1").rpartition(")")[2].split()
    except OSError:
        return None
    return int(fields[1]), fields[0], int(fields[19])


class Descendants:
    """Notes every process below this one, several times a second, but those of earlier tests and
    what they start.
    """

    def __init__(self) -> None:
        self.seen: dict[int, int] = {}
        self.before: frozenset[int] = frozenset()
        self.look()
        self.before = frozenset(self.seen)
        self.seen = {}
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _watch(self) -> None:
        while not self._end.wait(0.2):
            self.look()

    def look(self) -> None:
        stats = {int(name): _stat(int(name)) for name in os.listdir("/proc") if name.isdigit()}
        below = {os.getpid()}
        for _ in range(12):  # as deep as the trees of workers, zygotes and runs are
            more = {pid for pid, stat in stats.items() if stat and stat[0] in below}
            more -= below | self.before
            if not more:
                break
            below |= more
        for pid in below - {os.getpid()}:
            stat = stats[pid]
            if stat is not None:
                self.seen[pid] = stat[2]

    def left(self, besides: int, seconds: float) -> list[int]:
        """Those that still live after so many seconds."""
        self._end.set()
        self._thread.join()
        end = time.monotonic() + seconds
        while True:
            alive = [
                pid for pid, born in self.seen.items() if pid != besides and self._same(pid, born)
            ]
            if not alive or time.monotonic() > end:
                return alive
            time.sleep(0.1)

    @staticmethod
    def _same(pid: int, born: int) -> bool:
        stat = _stat(pid)
        return stat is not None and stat[2] == born and stat[1] != "Z"


class Canaries:
    """Makes them, and says which were tripped."""

    def __init__(self) -> None:
        self.secret = "canary-" + secrets.token_hex(16)
        self.folder = Path(tempfile.mkdtemp(prefix="rlenv-canaries-"))
        self.folder.chmod(0o777)
        self.file = self.folder / "secret"
        self.file.write_text(self.secret)
        os.environ[VARIABLE] = self.secret
        argv = [sys.executable, "-S", "-c", "import time; time.sleep(600)"]
        self.victim = subprocess.Popen(argv)
        self.tcp = socket.create_server(("127.0.0.1", 0))
        self.udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.udp.bind(self.tcp.getsockname())
        self.named = self._unix(str(self.folder / "socket"))
        os.chmod(self.folder / "socket", 0o777)
        self.abstract = "canary-" + secrets.token_hex(4)
        self.nameless = self._unix("\0" + self.abstract)
        self.descendants = Descendants()

    @staticmethod
    def _unix(address: str) -> socket.socket:
        made = socket.socket(socket.AF_UNIX)
        made.bind(address)
        made.listen()
        return made

    @property
    def marks(self) -> dict[str, str]:
        return {
            "@TOKEN@": self.secret,
            "@FILE@": str(self.file),
            "@DIR@": str(self.folder),
            "@PORT@": str(self.tcp.getsockname()[1]),
            "@UNIX@": str(self.folder / "socket"),
            "@ABSTRACT@": self.abstract,
            "@PID@": str(self.victim.pid),
            "@VARIABLE@": VARIABLE,
        }

    def tripped(self) -> list[str]:
        """What an attack reached; empty where the sandbox held."""
        return [*self._reached(), *self._planted(), *self._kernel(), *self._processes()]

    def _reached(self) -> Iterator[str]:
        listeners = {
            "a port": self.tcp,
            "a socket in a folder": self.named,
            "a socket without one": self.nameless,
        }
        for what, listener in listeners.items():
            listener.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                listener.accept()[0].close()
                yield f"somebody came to {what}"
        self.udp.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            yield f"a datagram came: {self.udp.recv(64)!r}"

    def _planted(self) -> Iterator[str]:
        own = {"secret", "socket"}
        yield from (f"planted: {path}" for path in self.folder.iterdir() if path.name not in own)
        if self.file.read_text() != self.secret:
            yield "the secret file was changed"
        places = {*PLACES, os.path.dirname(os.__file__), *sys.path}
        for place in filter(os.path.isdir, places):
            yield from (
                f"planted: {place}/{n}" for n in os.listdir(place) if n.startswith("canary")
            )

    @staticmethod
    def _kernel() -> Iterator[str]:
        for kind in ("shm", "msg", "sem"):
            with contextlib.suppress(OSError):
                rows = Path(f"/proc/sysvipc/{kind}").read_text().splitlines()[1:]
                yield from (
                    f"a System V object: {row}" for row in rows if int(row.split()[0]) == KEY
                )
        for table in ("/proc/keys", "/proc/self/mounts", "/proc/net/unix"):
            with contextlib.suppress(OSError):
                rows = [row for row in Path(table).read_text().splitlines() if "canary-" in row]
                yield from (
                    f"{table}: {row}"
                    for row in rows
                    if "rlenv" not in row and "@canary-" not in row
                )

    def _processes(self) -> Iterator[str]:
        stat = _stat(self.victim.pid)
        if self.victim.poll() is not None or stat is None or stat[1] in "Tt":
            yield "a process of the same user was stopped or killed"
        close_all()  # what is kept warm on purpose
        for pid in self.descendants.left(self.victim.pid, 10.0):
            with contextlib.suppress(OSError):
                yield f"left: process {pid}: {Path(f'/proc/{pid}/cmdline').read_bytes()!r}"

    def close(self) -> None:
        os.environ.pop(VARIABLE, None)
        with contextlib.suppress(ProcessLookupError):
            self.victim.send_signal(signal.SIGKILL)
        self.victim.wait()
        for listener in (self.tcp, self.udp, self.named, self.nameless):
            listener.close()
        shutil.rmtree(self.folder, ignore_errors=True)
