"""Standard output and error of a run: taken in while somebody waits, kept up to the limit."""

from __future__ import annotations

import os
from asyncio import AbstractEventLoop

__all__ = ["Streams"]

_CHUNK = 1 << 16
# bytes beyond the limit that are read and dropped; then the program has to wait
_PATIENCE = 64 << 20


class Streams:
    """The near ends of what a program writes to.

    Its child makes them, and hands them over as it begins.

    Args:
        limit: how many bytes are kept of each; the rest is dropped.
    """

    __slots__ = ("_draining", "_dropped", "_fds", "_kept", "_limit", "_loop", "truncated")

    def __init__(self, loop: AbstractEventLoop, limit: int) -> None:
        self._loop = loop
        self._limit = limit
        self._fds: list[int] = []
        self._kept = (bytearray(), bytearray())
        self._dropped = 0
        self._draining = False
        self.truncated = False

    def take(self, fds: list[int]) -> None:
        """Read these from now on; they do not block."""
        self._fds = fds
        if self._draining:
            self._listen()

    def drain(self) -> None:
        """From now on take in what is printed, whenever the loop turns."""
        if not self._draining:
            self._draining = True
            self._listen()

    def _listen(self) -> None:
        for place, fd in enumerate(self._fds):
            self._loop.add_reader(fd, self._arrived, place, fd)

    @property
    def draining(self) -> bool:
        return self._draining

    def _arrived(self, place: int, fd: int) -> None:
        if not self._take(place, fd) or self._dropped > _PATIENCE:
            self._loop.remove_reader(fd)

    def _take(self, place: int, fd: int) -> int:
        """How many bytes came; 0 at the end, -1 when there are none now."""
        try:
            data = os.read(fd, _CHUNK)
        except BlockingIOError:
            return -1
        if data:
            kept = self._kept[place]
            room = self._limit - len(kept)
            if len(data) > room:
                self.truncated = True
                self._dropped += len(data) - room
                data = data[:room]
            kept += data
            return len(data) or 1
        return 0

    def rest(self) -> tuple[bytes, bytes]:
        """All that was kept, after the program's end."""
        for place, fd in enumerate(self._fds):
            for _ in range(64):  # more than any pipe holds
                if self._take(place, fd) <= 0:
                    break
        return bytes(self._kept[0]), bytes(self._kept[1])

    def close(self) -> None:
        for fd in self._fds:
            if self._draining:
                self._loop.remove_reader(fd)
            os.close(fd)
        self._fds = []
