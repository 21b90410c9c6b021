"""The process that holds a GPU: frames to it and from it, its deadline, and whose fault its silence
is.
"""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

from attrs import define, frozen
from rlenv import Fault, VerifierFault
from rlenv.sandbox import ChannelEnded, ChannelError, ChannelTimeout, Exit, Profile, Session

from rlenv_plugin_cuda.box import Box

from .device import LIBRARY, devices, folder

__all__ = ["About", "Process", "Silent", "about", "opened", "trusted"]

BOOT = "import gpu_serve; gpu_serve.serve()"
MODULES = ("gpu_driver", "gpu_machine", "gpu_serve", "kernel_wire")
START_S = 30.0  # of wall time, for a driver to wake a device
ROOM = 1 << 20  # bytes of a frame beside the outputs
MEMORY_MB = 16 << 10
REMEDY = (
    "where a sandbox keeps the driver from its device, try isolation = 'process' with min_isolation"
    " = 'process'"
)
LOADED: list[str] = []  # the driver's library, where it is not the system's


class Silent(Exception):
    """It said nothing more, by the answer's doing: ``what`` in a word."""

    def __init__(self, what: str, said: str) -> None:
        self.what = what
        self.said = said
        super().__init__(said)


@frozen
class About:
    """A device.

    Args:
        name: as its maker calls it.
        arch: such as "sm_90".
        l2: bytes of its second cache.
        memory: bytes.
    """

    name: str
    arch: str
    l2: int
    memory: int


@define
class Process:
    """One process with one context, at most.

    Args:
        session: where it runs.
        limit: seconds on its clock.
        library: the driver's.
    """

    session: Session
    limit: float
    library: str
    ended: bool = False

    async def end(self, grace: float = 0.0) -> Exit | None:
        """End it, with whatever it does on the device; None where it was ended before."""
        if self.ended:
            return None
        self.ended = True
        return await self.session.finish(grace)

    async def say(
        self, order: Mapping[str, object], parts: Sequence[bytes] = (), room: int = 0
    ) -> tuple[dict[str, Any], bytes]:
        """Its word on one order, and the bytes behind it.

        Args:
            room: bytes that may come back.

        Raises:
            Silent: the answer ended it, or keeps the device.
            VerifierFault: the machine broke.
        """
        head = {**order, "library": self.library, "sizes": [len(part) for part in parts]}
        frame = json.dumps(head).encode() + b"\0" + b"".join(parts)
        try:
            await self.session.send(frame)
            left = max(0.1, self.limit - self.session.clock())
            said, _, body = (await self.session.recv(ROOM + room, left)).partition(b"\0")
        except ChannelError as error:
            exit_ = await self.end(0.2 if isinstance(error, ChannelEnded) else 0)
            assert exit_ is not None
            raise _silent(error, exit_) from None
        found: dict[str, Any] = json.loads(said)
        if "lost" in found:
            said_of = f"the GPU cannot be used: {found['lost']}; {REMEDY}"
            raise VerifierFault(Fault("unavailable", said_of[:400]))
        return found, body


def _silent(error: ChannelError, exit_: Exit) -> Silent:
    if exit_.fault is not None and (not exit_.started or exit_.reason == "lost"):
        raise VerifierFault(exit_.fault)
    if isinstance(error, ChannelTimeout) and error.starved:
        raise VerifierFault(
            Fault("timeout", "the process of a GPU got no processor", transient=True)
        )
    if isinstance(error, ChannelTimeout) or exit_.reason in ("wall", "cpu"):
        return Silent("endless", "it did not end in its time")
    if exit_.reason == "memory":
        return Silent("memory", "it takes more memory than there is for it")
    return Silent("crash", "the process that launched it ended before it answered")


@lru_cache(1)
def _files() -> tuple[tuple[str, bytes], ...]:
    folder_ = Path(__file__).parents[1] / "guest"
    return tuple((f"{name}.py", (folder_ / f"{name}.py").read_bytes()) for name in MODULES)


def clock_of(budget: float) -> float:
    """Seconds on the clock of a process that holds a GPU."""
    return START_S + 2 * budget


def _profile(box: Box) -> Profile:
    seconds = clock_of(box.budget)
    beside = () if LOADED else (folder(),)
    return Profile(
        cpu_s=seconds,
        wall_s=seconds,
        memory_mb=MEMORY_MB,
        pids=64,
        output_bytes=1 << 14,
        files=_files(),
        paths=tuple(path for path in beside if path),
        devices=devices(),
        min_isolation=box.min_isolation,
    )


@asynccontextmanager
async def opened(box: Box) -> AsyncIterator[Process]:
    """A fresh process; it is ended with whatever it does on the device.

    Raises:
        VerifierFault: the sandbox broke.
    """
    profile = _profile(box)
    async with box.session(profile) as session:
        await session.start(BOOT)
        library = LOADED[0] if LOADED else LIBRARY
        process = Process(session, profile.wall_s, library)
        try:
            yield process
        finally:
            await process.end()


_known: dict[str, About] = {}


async def about(box: Box, *, fresh: bool = False) -> About:
    """The device; asked once per process, and again where it may have been hurt.

    Raises:
        VerifierFault: it cannot be used (kind "unavailable", with the remedy).
    """
    key = repr(box)
    if key in _known and not fresh:
        return _known[key]
    try:
        async with opened(box) as process:
            said, _ = await process.say({"do": "about"})
    except Silent as silent:
        said_of = f"the GPU does not answer ({silent.said}); {REMEDY}"
        raise VerifierFault(Fault("unavailable", said_of)) from None
    found = said["about"]
    _known[key] = About(found["name"], found["arch"], found["l2"], found["memory"])
    return _known[key]


async def trusted(box: Box) -> None:
    """That the device still answers, after an answer trapped it or had to be ended.

    Raises:
        VerifierFault: it does not: nothing can be held against the answer, since nothing is known.
    """
    await about(box, fresh=True)


assert sys.byteorder == "little"  # as every machine with such a device is
