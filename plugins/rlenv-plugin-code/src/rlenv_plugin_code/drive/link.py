"""Frames in lockstep with a guest, numbered so that nothing but an answer can be taken for one."""

from __future__ import annotations

import builtins
import os
import struct
from typing import Any

from rlenv.sandbox import ChannelError, Session

from rlenv_plugin_code.codec import MAX_BYTES, BadFrame, decode

from .clock import Clock
from .ran import Stop, stopped_by

__all__ = ["FUNCTION_BOOT", "RAISED", "TOTAL_BYTES", "Link", "numbers", "parsed", "raised", "said"]

FUNCTION_BOOT = "import rlenv_guest; rlenv_guest.serve()"
NOT_PLAIN = "TypeError: the result is no plain value"
RAISED = frozenset(
    name
    for name, kind in vars(builtins).items()
    if isinstance(kind, type) and issubclass(kind, BaseException)
) | {
    # JavaScript's
    *("Error", "EvalError", "RangeError", "ReferenceError", "URIError", "AggregateError"),
}
_KINDS = frozenset(dir(builtins)) | frozenset(
    [
        *("generator", "function", "method", "coroutine", "module", "iterator", "NoneType"),
        *("mappingproxy", "deque", "ndarray", "Decimal", "Fraction", "date", "datetime"),
        *("timedelta", "array", "DataFrame", "Series", "Tensor"),
    ]
)
TOTAL_BYTES = 24 << 20  # of the answers of one response: reading and holding them costs the judge
_ROOM = 256  # bytes of an answer around its value


def numbers(count: int) -> tuple[int, ...]:
    """Numbers for requests: an answer written before its request cannot know it."""
    return struct.unpack(f"<{count}I", os.urandom(4 * count))


class Link:
    """Sends and receives within the time of a case and the budget of the response."""

    __slots__ = ("_room", "clock", "session", "timeout")

    def __init__(self, session: Session, clock: Clock, timeout: float) -> None:
        self.session = session
        self.clock = clock
        self.timeout = timeout
        self._room = TOTAL_BYTES

    async def send(self, frame: bytes) -> None:
        """Send one frame.

        Raises:
            Stop: the program does not read any more.
        """
        try:
            await self.session.send(frame)
        except ChannelError as err:
            raise stopped_by(err) from None

    async def recv(self, seconds: float | None = None) -> bytes:
        """The next frame, within ``seconds`` (None: the time of a case).

        Raises:
            Stop: none came.
        """
        seconds = self.timeout if seconds is None else seconds
        left = self.clock.left()
        if left <= 0:
            raise Stop("timeout", "the budget of the response is used up")
        if seconds <= 0:
            raise Stop("timeout", "the time of the case is used up")
        try:
            frame = await self.session.recv(MAX_BYTES + _ROOM, min(seconds, left))
        except ChannelError as err:
            raise stopped_by(err) from None
        self.clock.carried(len(frame))
        self._room -= len(frame)
        if self._room < 0:
            raise Stop("output", f"answers of more than {TOTAL_BYTES >> 20} MiB in all")
        return frame


def parsed(frame: bytes, n: int) -> list[Any]:
    """An answer to request ``n`` as a list of at least two items, the first a text.

    Raises:
        Stop: it is none.
    """
    try:
        answer = decode(frame)
    except BadFrame as err:
        raise Stop("protocol", f"an answer that cannot be read: {err}") from None
    if type(answer) is not list or len(answer) < 2 or type(answer[0]) is not str:
        raise Stop("protocol", "an answer of no known form")
    if type(answer[1]) is not int or answer[1] != n:
        raise Stop("protocol", "an answer to no request")
    return answer


def raised(what: Any) -> str:
    """What a guest says was raised, as far as it is in words of ours.

    A program that has seen a hidden input could name an exception after it, so only names that
    every Python has are passed on.

    Raises:
        Stop: it is not a string.
    """
    if type(what) is not str:
        raise Stop("protocol", "an answer of no known form")
    if what in RAISED:
        return what
    if what.startswith(NOT_PLAIN):
        kind = what[len(NOT_PLAIN) :].lstrip(": ")
        return f"{NOT_PLAIN}: {kind}" if kind in _KINDS else NOT_PLAIN
    return "an exception of its own"


def said(what: Any) -> str:
    """What a guest says, in printable letters; where it cannot have seen a hidden input.

    Raises:
        Stop: it is not a string.
    """
    if type(what) is not str:
        raise Stop("protocol", "an answer of no known form")
    return "".join([c if c.isprintable() else "?" for c in what[:120]])
