"""One compile in a place of the sandbox: what came of it, whose doing that is, and another try
where it is nobody's.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar

from attrs import frozen
from rlenv import Fault, VerifierFault
from rlenv.sandbox import ChannelEnded, ChannelError, ChannelTimeout, Exit, FrameTooLong, Session

from .places import BOOT, FRAME_BYTES, PATIENCE

__all__ = ["BREAKS", "LATE", "Asked", "Stopped", "asked", "ran", "tried"]

TRIES = 3
LATE = "compiling it takes more than"
BREAKS = (
    "the compiler breaks on it"  # said of an answer only where it does not break on one of ours
)
_T = TypeVar("_T")


class Stopped(Exception):
    """A compiler came to no end.

    Args:
        said: the answer's fault, should it happen every time.
        fault: what of the machine broke; None where nothing is known to have.
        final: it would happen again: no other try.
    """

    def __init__(self, said: str, fault: Fault | None = None, *, final: bool = False) -> None:
        self.said = said
        self.fault = fault
        self.final = final
        super().__init__(said)


@frozen
class Asked:
    """What a compiler said, and the objects that it made."""

    head: Mapping[str, Any]
    parts: tuple[bytes, ...]


async def tried(once: Callable[[], Awaitable[_T]]) -> _T:
    """The first of ``TRIES`` tries that ends; a response that breaks two of them is at fault.

    Raises:
        Stopped: no try did, and the machine is not to blame for all of them.
        VerifierFault: it is.
    """
    last: Stopped | None = None
    blamed: Fault | None = None
    for _ in range(TRIES):
        try:
            return await once()
        except Stopped as stopped:
            if stopped.final or (last is not None and stopped.fault is None):
                raise
            if stopped.fault is not None and stopped.fault.kind == "timeout":
                raise VerifierFault(stopped.fault) from None  # another try would make it busier
            if stopped.fault is None:
                last = stopped
            else:
                blamed = stopped.fault
    if last is not None:
        raise last
    assert blamed is not None
    raise VerifierFault(blamed)


async def asked(
    session: Session, order: Mapping[str, object], seconds: float, boot: str = BOOT
) -> Asked:
    """Start the warm compilers, send one order, and read what they say.

    Raises:
        Stopped: nothing came.
        VerifierFault: the compiler itself does not work here.
    """
    await session.start(boot, cpu_s=seconds, wall_s=PATIENCE * seconds)
    try:
        await session.send(json.dumps(order).encode())
        frame = await session.recv(FRAME_BYTES, PATIENCE * seconds)
    except ChannelError as error:
        exit_ = await session.finish(0.2 if isinstance(error, ChannelEnded) else 0)
        raise _stopped(error, exit_, seconds) from None
    except BaseException:
        await session.finish(0)
        raise
    await session.finish(0)
    return _read(frame)


def _stopped(error: ChannelError, exit_: Exit, seconds: float) -> Stopped:
    if isinstance(error, FrameTooLong):
        return Stopped(f"it compiles to more than {FRAME_BYTES >> 20} MiB", final=True)
    if isinstance(error, ChannelTimeout):
        starved = exit_.fault or _starved() if error.starved else None
        return Stopped(_late(seconds), starved, final=starved is None)
    return _ended(exit_, seconds)


def _ended(exit_: Exit, seconds: float) -> Stopped:
    """A compiler that was ended, or ended itself."""
    if exit_.reason == "memory":
        return Stopped(f"{LATE} the memory that there is for that", final=True)
    if exit_.reason == "cpu":
        return Stopped(_late(seconds), final=True)
    if exit_.reason == "wall":
        return Stopped(_late(seconds), exit_.fault, final=exit_.fault is None)
    if exit_.fault is not None and not exit_.started:
        return Stopped("the sandbox broke", exit_.fault)
    return Stopped(BREAKS)


def _late(seconds: float) -> str:
    return f"{LATE} {seconds:g} s"


def _starved() -> Fault:
    return Fault("timeout", "a compiler stood ready to run and got no processor", transient=True)


def _read(frame: bytes) -> Asked:
    """The guest is ours, but what it compiles is not: a frame of another form is the answer's
    doing.
    """
    text, _, body = frame.partition(b"\0")
    try:
        head = json.loads(text)
        sizes = head["sizes"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise Stopped(BREAKS, final=True) from None
    if "broken" in head:
        said = f"a compiler does not work here: {str(head['broken'])[:200]}"
        raise VerifierFault(Fault("error", said))
    if type(sizes) is not list or any(type(n) is not int or n < 0 for n in sizes):
        raise Stopped(BREAKS, final=True)
    parts = []
    place = 0
    for size in sizes:
        parts.append(body[place : place + size])
        place += size
    return Asked(head, tuple(parts))


async def ran(
    session: Session, words: Sequence[str], files: Mapping[str, bytes], seconds: float
) -> Exit:
    """Run a program to its end, within ``seconds`` of CPU; what it wrote is in the Exit.

    Raises:
        Stopped: it was ended.
    """
    await session.start(words, files, cpu_s=seconds, wall_s=PATIENCE * seconds)
    try:
        exit_ = await session.finish()
    except BaseException:
        await session.finish(0)
        raise
    if exit_.reason != "exit":
        raise _ended(exit_, seconds)
    return exit_
