"""What an asynchronous runner of these tests does."""

from __future__ import annotations

import asyncio
import ctypes
import os
import time

SECONDS = 0.4  # for what never ends; everything else has ample time, however loaded the machine
ENDLESS = {"block", "block_in_a_subtask", "stubborn", "long_nap", "brief_nap"}


async def echo(report, *args):
    await asyncio.sleep(0)
    return args


async def nap(report, seconds):
    await asyncio.sleep(seconds)
    return seconds


async def long_nap(report):
    await asyncio.sleep(3600)


async def brief_nap(report):
    await asyncio.sleep(0.1)


async def pid(report):
    await asyncio.sleep(0.05)
    return os.getpid()


async def wrong(report):
    await asyncio.sleep(0)
    raise ValueError("a wrong thing")


async def block(report):
    await asyncio.sleep(0.02)
    time.sleep(3600)


async def block_in_a_subtask(report):
    await asyncio.create_task(block(report))


async def block_shortly(report):
    """Longer than the others may take, shorter than it may take itself."""
    await asyncio.sleep(0.02)
    time.sleep(1.5)
    return "well"


async def stubborn(report):
    while True:
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            continue


async def segfault(report):
    await asyncio.sleep(0.02)
    ctypes.string_at(8)


async def leave_in_a_subtask(report):
    async def leave():
        await asyncio.sleep(0.02)
        os._exit(5)

    await asyncio.create_task(leave())


async def quit_in_a_subtask(report):
    async def leave():
        raise SystemExit(3)

    await asyncio.create_task(leave())


async def eat(report):
    await asyncio.sleep(0.02)
    hoard = []
    while True:
        hoard.append(bytearray(1 << 24))


async def partly(report):
    report.partial(["some"])
    await asyncio.sleep(0.02)
    os._exit(5)


class Runner:
    is_async = True

    def __init__(self, blob):
        self.seconds = float(blob or 0)

    async def arun(self, payload, report):
        name, *args = payload
        seconds = self.seconds or (SECONDS if name in ENDLESS else 60.0)
        report.begin(seconds, 7)
        try:
            async with asyncio.timeout(seconds):
                return await globals()[name](report, *args)
        except TimeoutError:
            return "cancelled"
        finally:
            report.end()
