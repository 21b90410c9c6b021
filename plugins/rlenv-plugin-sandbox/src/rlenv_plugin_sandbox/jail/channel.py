"""The judge's end of a run's channel: frames over a stream socket, read without the loop where that
is enough.
"""

from __future__ import annotations

import select
import struct
from _socket import socket
from asyncio import AbstractEventLoop
from collections.abc import Callable

from rlenv.sandbox import ChannelEnded

from rlenv_plugin_sandbox.stream import program_frame

__all__ = ["Channel"]

SOON_MS = 3
_LENGTH = struct.Struct("<I")
_CHUNK = 1 << 16
_AHEAD = 1 << 20  # bytes taken in while nobody waits for them


class Channel:
    """Frames of one run.

    Args:
        sock: the near end, which does not block.
        wake: called when something came that might be waited for.
    """

    __slots__ = ("_buffer", "_loop", "_poll", "_reading", "_wake", "ended", "sock", "wanted")

    def __init__(self, loop: AbstractEventLoop, sock: socket, wake: Callable[[], None]) -> None:
        self.sock = sock
        self.ended = False
        self.wanted = False  # whether somebody waits for a frame
        self._loop = loop
        self._wake = wake
        self._buffer = bytearray()
        self._reading = False
        self._poll = select.poll()
        self._poll.register(sock, select.POLLIN)

    def soon(self) -> None:
        """Wait a few milliseconds for something to read: cheaper than a turn of the loop."""
        if len(self._buffer) < 4:
            self._poll.poll(SOON_MS)

    def frame(self, most: int) -> bytes | None:
        """The next frame, when it is here.

        Raises:
            FrameTooLong: more than ``most`` bytes are announced.
        """
        return program_frame(self._buffer, most)

    def lacks(self) -> bool:
        """Whether neither a whole frame is here, of any length, nor the end."""
        buffer = self._buffer
        whole = len(buffer) >= 4 and len(buffer) >= 4 + int(_LENGTH.unpack_from(buffer)[0])
        return not whole and not self.ended

    def fill(self) -> None:
        """Take in what is there; one piece at a time, so that no flood keeps the loop."""
        try:
            data = self.sock.recv(_CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if data:
            self._buffer += data
            return
        self.ended = True
        self.deaf()

    def listen(self) -> None:
        """Have the loop take in what comes."""
        if not self._reading and not self.ended:
            self._reading = True
            self._loop.add_reader(self.sock.fileno(), self._arrived)

    def deaf(self) -> None:
        if self._reading:
            self._reading = False
            self._loop.remove_reader(self.sock.fileno())

    def _arrived(self) -> None:
        self.fill()
        if not self.wanted and len(self._buffer) > _AHEAD:
            self.deaf()
        self._wake()

    def send(self, data: memoryview) -> memoryview:
        """What of it could not be sent now.

        Raises:
            ChannelEnded: nobody reads any more.
        """
        try:
            while data:
                data = data[self.sock.send(data) :]
        except BlockingIOError:
            return data
        except OSError:
            raise ChannelEnded("the program no longer reads") from None
        return data

    def close(self) -> None:
        self.deaf()
        self.sock.close()
