"""Frames on the channel of a sandbox: how many bytes there are, as four of them, little endian, and
then these.
"""

from __future__ import annotations

import json
import os
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["Broken", "cut", "read", "say", "write"]

CHANNEL = 3
_LENGTH = struct.Struct("<I")


class Broken(Exception):
    """A compiler itself does not work here."""


def read() -> bytes | None:
    """The next frame; None where the channel has ended."""
    head = _exactly(_LENGTH.size)
    return None if head is None else _exactly(_LENGTH.unpack(head)[0])


def _exactly(count: int) -> bytes | None:
    parts = []
    while count:
        more = os.read(CHANNEL, min(count, 1 << 20))
        if not more:
            return None
        parts.append(more)
        count -= len(more)
    return b"".join(parts)


def write(data: bytes) -> None:
    """One frame."""
    view = memoryview(_LENGTH.pack(len(data)) + data)
    while view:
        view = view[os.write(CHANNEL, view) :]


def say(head: Mapping[str, object], parts: Iterable[bytes] = ()) -> None:
    """One frame of JSON, NUL and bytes."""
    write(json.dumps(head).encode() + b"\0" + b"".join(parts))


def cut(body: bytes, sizes: Iterable[int]) -> list[bytes]:
    """Bytes in parts of these sizes."""
    parts = []
    place = 0
    for size in sizes:
        parts.append(body[place : place + size])
        place += size
    return parts
