"""Several processes of one server, which share its port and its state."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress

import click

SOON = 5.0  # seconds: a process that exits with an error so early would do it again
LOOK = 0.2  # seconds between looks at the processes


class Processes:
    """Starts processes that serve, and starts another for one that ends.

    Args:
        bound: the socket, which listens.
        count: how many.
        grace: seconds that they have to end.
    """

    def __init__(self, bound: socket.socket, count: int, grace: float) -> None:
        self._bound = bound
        self._count = count
        self._grace = grace
        self._started: dict[subprocess.Popen[bytes], float] = {}

    def run(self) -> int:
        """Serve until a signal asks to end; the exit status."""
        try:
            while True:
                while len(self._started) < self._count:
                    self._start()
                time.sleep(LOOK)
                for process in [each for each in self._started if each.poll() is not None]:
                    since = self._started.pop(process)
                    if time.monotonic() - since < SOON and process.returncode > 0:
                        click.echo(
                            "rlenv: a process of the server cannot start, for the reason above",
                            err=True,
                        )
                        return 1
                    click.echo(
                        f"rlenv: process {process.pid} ended with {process.returncode}: another"
                        " takes its place",
                        err=True,
                    )
        except KeyboardInterrupt:
            return 0
        finally:
            self._end()

    def _start(self) -> None:
        fd = self._bound.fileno()
        # Its standard input is a pipe of this process: it ends with it, however that ends.
        command = [sys.executable, "-m", "rlenv", *sys.argv[1:], "--listen-on", str(fd)]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, pass_fds=(fd,))  # noqa: S603 - what was typed
        self._started[process] = time.monotonic()

    def _end(self) -> None:
        for process in self._started:
            process.terminate()
        end = time.monotonic() + self._grace
        for process in self._started:
            with suppress(subprocess.TimeoutExpired):
                process.wait(max(0.1, end - time.monotonic()))
            process.kill()
            process.wait()


def end_with_parent() -> None:
    """In such a process: end in order when the one that started it is gone."""

    def watch() -> None:
        while os.read(0, 1 << 16):
            pass
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, name="rlenv-parent", daemon=True).start()
