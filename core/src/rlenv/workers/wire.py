"""Records on the socket between a caller and its worker: (tag, seq, length) and that many bytes."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from struct import Struct

HEADER = Struct("<IQQ")
CHUNK = 1 << 18
LONGEST = 1 << 30  # bytes of one record; more is a bomb

# both ends are our own processes; what they run is trusted, what it judges is not
load = pickle.loads

CONTROL = 0  # to a worker: a pickled (word, value); every other tag is a program's number
DONE, FAILED, PARTIAL, READY, BUILT, SPENT = 1, 2, 3, 4, 5, 6  # to the caller

FLUSH_SECONDS = 0.005  # a finished result waits no longer than this in a worker


class WireError(ValueError):
    """Bytes that are no records."""


class Buffer:
    """Bytes that arrived, cut into records."""

    __slots__ = ("_data",)

    def __init__(self) -> None:
        self._data = bytearray()

    def feed(self, data: bytes) -> Iterator[tuple[int, int, bytes]]:
        """Yield the records that ``data`` completes.

        Raises:
            WireError: when a record claims to be longer than LONGEST.
        """
        held = self._data
        if held:
            held += data
            data = bytes(held) if len(held) >= self._wanted() else b""
        at, size = 0, len(data)
        unpack, head = HEADER.unpack_from, HEADER.size
        while size - at >= head:
            tag, seq, length = unpack(data, at)
            if length > LONGEST:
                raise WireError(f"a record of {length} bytes")
            end = at + head + length
            if end > size:
                break
            yield tag, seq, data[at + head : end]
            at = end
        if data or not held:
            self._data = bytearray(data[at:])

    def _wanted(self) -> int:
        """How many bytes complete the first record held."""
        if len(self._data) < HEADER.size:
            return HEADER.size
        length = int(HEADER.unpack_from(self._data)[2])
        return HEADER.size + (length if length <= LONGEST else 0)


def record(tag: int, seq: int, body: bytes) -> bytes:
    """One record."""
    return HEADER.pack(tag, seq, len(body)) + body
