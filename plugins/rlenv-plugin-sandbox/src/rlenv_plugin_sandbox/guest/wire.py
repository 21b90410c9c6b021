"""Frames of a byte stream between a judge and what runs programs for it: a kind, a length, that
many bytes.
"""

from __future__ import annotations

import struct

HEAD = struct.Struct("<BI")
# Wall seconds, bytes kept of each output, length of text, of payload.
START_HEAD = struct.Struct("<dIII")
KILL_BODY = struct.Struct("<?")  # whether the program had answered all that it was asked
# Seconds so far that the program waited for a processor and was asked something, and CPU seconds
# of its processes.
STATE_BODY = struct.Struct("<ddd")
# Wait status, then began, order, out of memory, truncated, dirty (each 0 or 1, order also 2), then
# (seconds) waiting for a processor and asked, as in STATE, user and system CPU, wall, then peak
# bytes, error number of a fork that failed. What follows is text: why it never began.
END_BODY = struct.Struct("<iBBBBBdddddQi")

# judge to guest
CONFIG = 1  # JSON, once and first
START = 2  # START_HEAD, then text, payload and standard input
DATA = 3  # bytes for the program's channel; from the guest: bytes from it
KILL = 4
ASK = 5

# guest to judge
READY = 16  # JSON
FAILED = 17  # JSON
BEGAN = 18
OUT = 19
ERR = 20
SILENT = 21  # the program closed its channel
DEAF = 22  # the program no longer reads from its channel
TREE = 26  # part of the workspace, before END; the first one is empty: the program has ended
TAKEN = 23  # four bytes: how many of DATA the program has taken since the last time
STATE = 24
END = 25  # END_BODY; the last of a run, and nothing of it runs any more

NOT_ORDERED = 0
KILLED = 1
WALL = 2
AHEAD = 1 << 20  # bytes of DATA that may be on their way to a program


def frame(kind: int, *parts: bytes | memoryview) -> bytes:
    """One frame, as bytes."""
    return b"".join((HEAD.pack(kind, sum(map(len, parts))), *parts))


def first(buffer: bytearray, most: int) -> tuple[int, bytes] | None:
    """(kind, body) of the first frame in a bytearray, which loses it; None while it is not whole.

    Raises:
        ValueError: its length is beyond ``most``.
    """
    if len(buffer) < HEAD.size:
        return None
    kind, length = HEAD.unpack_from(buffer)
    if length > most:
        raise ValueError("a frame of %d bytes" % length)
    end = HEAD.size + length
    if len(buffer) < end:
        return None
    with memoryview(buffer) as view:
        body = bytes(view[HEAD.size : end])
    del buffer[:end]
    return kind, body
