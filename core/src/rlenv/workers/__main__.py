"""``python -m rlenv.workers SOCKET LIFE BOARD``: what a pool starts.

The numbers are file descriptors.

This process forks at once: the child is the worker, and the parent its guard.
"""

from __future__ import annotations

import faulthandler
import os
import sys
from typing import Any


def main(socket: int, life: int, board: int) -> None:
    from .guard import fork_guard

    guarded = fork_guard(socket, life)
    faulthandler.enable()
    sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  # to print any response
    from . import inherit, wire
    from .board import Board, seal

    for fd in (socket, board):
        os.set_inheritable(fd, False)  # noqa: FBT003 - its own signature
    hello = _hello(socket)
    sys.path[:] = hello["path"]
    os.environ.pop("PYTHONPATH", None)
    os.environ.update(hello["env"])
    inherit.SECRET = hello["secret"]

    from .serve import Server

    memory = Board(board)
    seal(board)
    os.close(board)
    server = Server(socket, memory, hello["grace_period"], hello["memory_mb"] << 20)
    server.make_loop = _loop
    if not os.read(guarded, 1):
        os._exit(1)  # the guard has ended
    os.close(guarded)
    server.out.append(wire.record(wire.READY, os.getpid(), b""))
    server.flush()
    server.run()
    sandboxes = sys.modules.get("rlenv.sandbox")
    if sandboxes is not None:
        sandboxes.close_all()
    os._exit(0)


def _loop(server: Any) -> object:
    from .looped import Loop

    return Loop(server)


def _hello(socket: int) -> dict[str, Any]:
    from . import wire

    buffer = wire.Buffer(wire.LONGEST_SENT)
    while data := os.read(socket, 4096):
        for _, _, body in buffer.feed(data):
            return wire.unpickle(body)  # type: ignore[no-any-return]
    os._exit(0)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:4]))
