"""Stores of journals that tests start and kill."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import redis
from database import postgres
from serving import reserved_port


class RedisServer:
    """Redis from Debian's package redis-server, with an append-only file that is synced before an
    answer.

    Args:
        folder: for its socket and its data.
    """

    def __init__(self, folder: Path) -> None:
        if (program := shutil.which("redis-server")) is None:
            pytest.skip("redis-server is not installed: apt-get install redis-server")
        port = reserved_port()
        self.url = f"redis://127.0.0.1:{port}/0"
        settings = {
            "bind": "127.0.0.1",
            "port": port,
            "dir": folder,
            "appendonly": "yes",
            "appendfsync": "always",
            "save": "",
        }
        self.command = [
            program,
            *(str(each) for name, value in settings.items() for each in (f"--{name}", value)),
        ]
        self.start()

    def start(self) -> None:
        """Start it, and wait until it answers."""
        self.process = subprocess.Popen(self.command, stdout=subprocess.DEVNULL)
        until = time.monotonic() + 30
        with redis.Redis.from_url(self.url) as link:
            while True:
                try:
                    link.ping()
                    return
                except redis.RedisError:
                    assert self.process.poll() is None, "redis-server did not start"
                    assert time.monotonic() < until
                    time.sleep(0.01)

    def kill(self) -> None:
        """``kill -9``."""
        self.process.kill()
        self.process.wait()

    def kill_and_start(self, away: float = 0.0) -> None:
        """``kill -9``, and start it anew after so many seconds."""
        self.kill()
        time.sleep(away)
        self.start()


@contextmanager
def redis_server(folder: Path) -> Iterator[RedisServer]:
    """A Redis of one's own."""
    server = RedisServer(folder)
    try:
        yield server
    finally:
        server.kill()


@contextmanager
def state_of(store: str, folder: Path) -> Iterator[tuple[str, Callable[..., object]]]:
    """The URL of a store, and what kills it with ``kill -9`` and starts it anew."""
    if store == "redis":
        with redis_server(folder) as server:
            yield server.url, server.kill_and_start
    else:
        assert store == "sqlite"
        yield f"sqlite:{folder / 'journal.db'}", lambda _=0.0: None


@contextmanager
def trajectories_of(store: str, folder: Path) -> Iterator[tuple[str, Callable[..., object]]]:
    """The same of a store of trajectories."""
    if store == "postgresql":
        with postgres() as cluster:
            yield cluster.url, cluster.kill_and_start
    else:
        assert store == "sqlite"
        yield f"sqlite:{folder / 'trajectories.db'}", lambda _=0.0: None
