"""Runs in the sandbox: starts a server and carries lines between it and descriptor 3, one frame a
line.

The first frame is a JSON object with ``command``, ``env`` and ``most``, the longest line in bytes.
A longer line of the server becomes an empty frame.
"""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
import threading
from typing import BinaryIO

SOURCE = open(3, "rb", closefd=False)  # noqa: SIM115 - until the end
SINK = open(3, "wb", closefd=False)  # noqa: SIM115 - as above


def frame() -> bytes:
    """Return the next frame of the channel; ends with it."""
    head = SOURCE.read(4)
    if len(head) < 4:
        os._exit(0)
    return SOURCE.read(struct.unpack("<I", head)[0])


def give(content: bytes) -> None:
    """Write one frame."""
    SINK.write(struct.pack("<I", len(content)) + content)
    SINK.flush()


def carry(source: BinaryIO, most: int) -> None:
    """Carry what the server writes, until it ends.

    Args:
        source: the standard output of the server.
        most: bytes of one line.
    """
    while line := source.readline(most + 1):
        if len(line) > most and not line.endswith(b"\n"):
            while line and not line.endswith(b"\n"):
                line = source.readline(1 << 16)
            give(b"")
        elif line.strip():
            give(line.strip())
    os._exit(0)


def main() -> None:
    """Start the server that the first frame names, and carry until it or the channel ends."""
    given = json.loads(frame())
    words = [
        sys.executable if n == 0 and w == "python" else w for n, w in enumerate(given["command"])
    ]
    env = {**os.environ, **given["env"]}
    server = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env)  # noqa: S603 - the operator's command
    assert server.stdin and server.stdout  # noqa: PT018 - not a test
    threading.Thread(target=carry, args=(server.stdout, given["most"]), daemon=True).start()
    while True:
        line = frame()
        try:
            server.stdin.write(line + b"\n")
            server.stdin.flush()
        except OSError:
            # it has ended, or reads no more: what it has written is carried first
            threading.Event().wait()


if __name__ == "__main__":
    main()
