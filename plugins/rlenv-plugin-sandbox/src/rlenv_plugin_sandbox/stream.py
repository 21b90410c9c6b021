"""The judge's end of a byte stream of frames, over a container's attached socket.

The codec is `guest.wire`.  A link is used by one event loop at a time, tries without waiting first,
and keeps whole frames only, so that a canceled wait loses nothing that arrived.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Callable
from time import monotonic

from rlenv.sandbox import FrameTooLong

from .guest import wire

__all__ = ["MOST", "Link", "LinkLost", "Unwrapped", "program_frame"]

MOST = 1 << 30
_CHUNK = 1 << 18
_LENGTH = struct.Struct("<I")


class LinkLost(ConnectionError):
    """The other side is gone, or said what nobody says; the link is of no more use."""


class Unwrapped:
    """Takes an attached stream apart: eight bytes of head, then a piece of standard output or
    error.
    """

    def __init__(self) -> None:
        self._raw = bytearray()
        self.errors = bytearray()

    def __call__(self, data: bytes) -> bytes:
        """What of standard output is in these bytes; standard error is kept in ``errors``."""
        self._raw += data
        out = bytearray()
        while len(self._raw) >= 8:
            kind, length = struct.unpack_from(">B3xI", self._raw)
            if len(self._raw) < 8 + length:
                break
            piece = self._raw[8 : 8 + length]
            del self._raw[: 8 + length]
            if kind == 2:
                self.errors = (self.errors + piece)[-4096:]
            else:
                out += piece
        return bytes(out)


def _plain(data: bytes) -> bytes:
    return data


class Link:
    """Frames over a connected socket, which it owns from now on.

    A frame has at most ``most`` bytes.
    """

    def __init__(
        self, sock: socket.socket, unwrap: Callable[[bytes], bytes] = _plain, most: int = MOST
    ) -> None:
        self.most = most
        sock.setblocking(False)  # noqa: FBT003 - the library's word
        self._sock = sock
        self._unwrap = unwrap
        self._inbox = bytearray()
        self.lost = False

    def _lose(self, why: str) -> LinkLost:
        self.lost = True
        return LinkLost(why)

    async def send(self, kind: int, *parts: bytes, until: float | None = None) -> None:
        """Send one frame, until this moment (of ``time.monotonic``).

        Canceled in the middle, the link is lost.

        Raises:
            LinkLost: the other side is gone, or did not take the frame in time.
        """
        if self.lost:
            raise LinkLost("the connection was lost earlier")
        rest = memoryview(wire.frame(kind, *parts))
        whole = len(rest)
        try:
            while rest:
                try:
                    rest = rest[self._sock.send(rest) :]
                except BlockingIOError:
                    if not await _ready(self._sock, until, writing=True):
                        raise self._lose("the other side does not take what it is sent") from None
        except LinkLost:
            raise
        except OSError as error:
            raise self._lose(f"the other side is gone: {error}") from error
        finally:
            if 0 < len(rest) < whole:
                self.lost = True

    async def receive(self, until: float | None = None) -> tuple[int, bytes] | None:
        """The next frame; None when there is none until this moment (of ``time.monotonic``).

        Raises:
            LinkLost: the other side is gone.
        """
        while (frame := self._first()) is None:
            if not self._fill():
                if not await _ready(self._sock, until):
                    return None
            elif len(self._inbox) > _CHUNK:  # a sender without pause leaves the others their turn
                await asyncio.sleep(0)
        return frame

    def take(self) -> tuple[int, bytes] | None:
        """The next frame that is here already; None when there is none.

        Raises:
            LinkLost: the other side is gone.
        """
        frame = self._first()
        while frame is None and self._fill():
            frame = self._first()
        return frame

    def _first(self) -> tuple[int, bytes] | None:
        try:
            found: tuple[int, bytes] | None = wire.first(self._inbox, self.most)
        except ValueError as error:
            raise self._lose(f"no frame: {error}") from error
        return found

    def _fill(self) -> bool:
        if self.lost:
            raise LinkLost("the connection was lost earlier")
        try:
            data = self._sock.recv(_CHUNK)
        except BlockingIOError:
            return False
        except OSError as error:
            raise self._lose(f"the other side is gone: {error}") from error
        if not data:
            raise self._lose("the other side hung up")
        self._inbox += self._unwrap(data)
        return True

    def alive(self) -> bool:
        """Whether the other side is still there, as far as is known without waiting."""
        try:
            self._fill()
        except LinkLost:
            return False
        return True

    def close(self) -> None:
        self.lost = True
        self._sock.close()


def program_frame(buffer: bytearray, most: int) -> bytes | None:
    """The first frame of a program's channel, which the buffer loses; None while it is not whole.

    Raises:
        FrameTooLong: more than ``most`` bytes are announced.
    """
    size = _LENGTH.unpack_from(buffer)[0] if len(buffer) >= _LENGTH.size else 0
    if size > most:
        raise FrameTooLong(f"a frame of {size} bytes was announced; {most} were asked for")
    if len(buffer) < _LENGTH.size + size:
        return None
    frame = bytes(memoryview(buffer)[_LENGTH.size : _LENGTH.size + size])
    del buffer[: _LENGTH.size + size]
    return frame


async def _ready(sock: socket.socket, until: float | None, *, writing: bool = False) -> bool:
    """Whether a socket could be read (written) before this moment."""
    loop = asyncio.get_running_loop()
    left = None if until is None else until - monotonic()
    if left is not None and left <= 0:
        return False
    event: asyncio.Future[bool] = loop.create_future()
    begin, end = (
        (loop.add_writer, loop.remove_writer) if writing else (loop.add_reader, loop.remove_reader)
    )
    begin(sock.fileno(), _settle, event, True)  # noqa: FBT003 - the future's result
    timer = None if left is None else loop.call_later(left, _settle, event, False)  # noqa: FBT003
    try:
        return await event
    finally:
        end(sock.fileno())
        if timer is not None:
            timer.cancel()


def _settle(event: asyncio.Future[bool], value: bool) -> None:  # noqa: FBT001 - called by the loop
    if not event.done():
        event.set_result(value)
