"""A PostgreSQL of a test's own, from Debian's package, that may be killed and started again."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path

import pytest
import sqlalchemy as sa
from serving import reserved_port

DATABASES = count()


def engine_of(url: str) -> sa.Engine:
    """Connections to a database as `--trajectories` names it, one for each use."""
    place = url.replace("sqlite:", "sqlite:///").replace("postgresql:", "postgresql+psycopg:")
    return sa.create_engine(place, poolclass=sa.NullPool)


def programs() -> Path:
    """Where PostgreSQL's programs are; skips the test where there are none."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))
    named = shutil.which("postgres")
    if not found and named is None:
        pytest.skip(
            "no PostgreSQL on this machine: install the package postgresql to run its tests"
        )
    return found[-1].parent if found else Path(str(named)).parent


class PostgreSQL:
    """One cluster.  It runs as the user postgres where the tests run as root, since it refuses
    root.
    """

    def __init__(self, folder: Path) -> None:
        self._bin = programs()
        self._data = folder / "data"
        self._as = ["runuser", "-u", "postgres", "--"] if os.getuid() == 0 else []
        self.port = reserved_port()
        if self._as:
            shutil.chown(folder, "postgres")
        self._folder = folder
        self._run(
            "initdb", "-D", str(self._data), "-U", "rlenv", "-A", "trust", "--no-instructions"
        )

    @property
    def url(self) -> str:
        return f"postgresql://rlenv@127.0.0.1:{self.port}/postgres"

    def empty(self) -> str:
        """The URL of a new database, with nothing in it."""
        name = f"test{next(DATABASES)}"
        with engine_of(self.url).connect() as connection:
            connection.execution_options(isolation_level="AUTOCOMMIT").exec_driver_sql(
                f"CREATE DATABASE {name}"
            )
        return self.url.replace("/postgres", f"/{name}")

    def _run(self, program: str, *arguments: str) -> None:
        subprocess.run(
            [*self._as, str(self._bin / program), *arguments],
            check=True,
            cwd=self._folder,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=120,
        )

    def start(self) -> None:
        """Start it, and wait until it answers."""
        options = (
            f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c"
            " shared_buffers=16MB"
        )
        self._run("pg_ctl", "-D", str(self._data), "-o", options, "-w", "-t", "60", "start")

    def kill(self) -> None:
        """SIGKILL for the server and all its processes, at once."""
        for pid in self._pids():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def _pids(self) -> list[int]:
        leader = int((self._data / "postmaster.pid").read_text().split()[0])
        below = subprocess.run(
            ["ps", "-o", "pid=", "--ppid", str(leader)], capture_output=True, text=True, check=False
        ).stdout.split()
        return [leader, *map(int, below)]

    def kill_and_start(self, away: float = 0.0) -> None:
        """SIGKILL for all, and start it anew after so many seconds.

        They must be gone then: a process that nobody has waited for looks alive."""
        pids = self._pids()
        until = time.monotonic() + 60
        self.kill()
        while any(Path(f"/proc/{pid}").exists() for pid in pids) and time.monotonic() < until:
            time.sleep(0.02)
        time.sleep(away)
        self.start()

    def pause(self, signal_: signal.Signals) -> None:
        """SIGSTOP for the server and all its processes, or SIGCONT."""
        for pid in self._pids():
            with suppress(ProcessLookupError):
                os.kill(pid, signal_)

    def stop(self) -> None:
        """Stop it in order, if it runs."""
        with suppress(subprocess.CalledProcessError):
            self._run("pg_ctl", "-D", str(self._data), "-m", "immediate", "-w", "stop")


@contextmanager
def postgres() -> Iterator[PostgreSQL]:
    """A cluster that runs until the block ends."""
    programs()
    folder = Path(tempfile.mkdtemp(prefix="rlenv-postgres-"))
    try:
        cluster = PostgreSQL(folder)
        cluster.start()
        try:
            yield cluster
        finally:
            cluster.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
