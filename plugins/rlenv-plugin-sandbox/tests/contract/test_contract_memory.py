"""What a program finds in the memory that it begins with: nothing that another run said, was told
or has left there.
"""

from __future__ import annotations

import json
import struct
import time
from typing import Any

import pytest
from rlenv.sandbox import Session

MARK = "MARK-OF-AN-EARLIER-RUN"
TALK = f"""
import os, struct, sys
text = "{MARK}-text"
def all_of(n):
    data = b""
    while len(data) < n: data += os.read(3, n - len(data))
    return data
open("file", "w").write("{MARK}-file " * 50)
print(sys.stdin.read(), "{MARK}-output", flush=True)
for _ in range(30):
    size = struct.unpack("<I", all_of(4))[0]
    os.write(3, struct.pack("<I", size) + all_of(size))
"""
PAGES = """
import ctypes, gc, json, os, re, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
libc.sbrk.restype = ctypes.c_void_p
near, far = os.pipe()
os.set_blocking(far, False)
def page(address):  # the kernel says which are there
    if libc.write(far, ctypes.c_void_p(address), ctypes.c_size_t(4096)) != 4096: return None
    return os.read(near, 4096)
def pages():
    begins = {id(thing) >> 12 << 12 for thing in gc.get_objects()} | {
        libc.sbrk(ctypes.c_ssize_t(0)) - 4096
    }
    seen = set()
    for begin in begins:
        for step in (4096, -4096):
            address = begin if step > 0 else begin - 4096
            while address not in seen:
                seen.add(address)
                content = page(address)
                if content is None: break
                yield content
                address += step
"""
SEARCH = (
    PAGES
    + """
mark = ("MARK-OF-AN-" + "EARLIER-RUN").encode()
print(
    json.dumps(
        sorted(
            {
                part[m.start() : m.start() + 30].decode("latin-1")
                for part in pages()
                for m in re.finditer(mark + b"-(?:text|input|output|file|frame)", part)
            }
        )
    )
)
"""
)
VALUES = (
    PAGES
    + """
gc.disable()
numbers, floats = set(), set()
for part in pages():
    words = struct.unpack("<512Q", part)
    for place in range(508):
        if words[place + 1] == id(int) and words[place + 2] in (1, 2, 8):
            numbers.add(words[place + 3] & 0x3FFFFFFF)
        if words[place + 1] == id(float): floats.add(words[place + 2])
print(json.dumps([sorted(numbers), sorted(floats)]))
"""
)
FORKS = """
import os
for _ in range(700):
    pid = os.fork()
    if not pid: os._exit(0)
    os.waitpid(pid, 0)
os._exit(77)
"""


@pytest.mark.parametrize("options", [{}, {"workspace_mb": 2}], ids=["plain", "workspace"])
def test_no_run_finds_what_another_said_or_was_told(box: Any, options: dict[str, Any]) -> None:
    box.needs("fresh")

    async def talk(session: Session) -> list[str]:
        empty = await session.workspace.snapshot() if options else ""
        await session.start(TALK, {}, stdin=f"{MARK}-input ".encode() * 100)
        for length in range(30):
            frame = f"{MARK}-frame ".encode() * (1 + 4 * length)
            await session.send(frame)
            assert await session.recv(1 << 20, 60) == frame
        end = await session.finish()
        assert end.status == 0, end
        if empty:
            await session.workspace.restore(empty)
        found: set[str] = set()
        for _ in range(3):  # the one that waited was forked before the first had ended
            await session.start(SEARCH)
            found |= set(json.loads((await session.finish()).stdout))
        return sorted(found)

    assert box.drive(talk, **options) == []


def test_no_run_finds_when_and_how_another_ended(box: Any) -> None:
    """Before, the numbers of the processes of earlier runs and the times of their ends were there
    to be read.
    """
    box.needs("fresh", "kill")

    async def talk(session: Session) -> tuple[list[int], list[int]]:
        began = time.monotonic()
        for program in (FORKS, "pass", "pass"):
            await session.start(program)
            await session.finish()
        ended = time.monotonic()
        await session.start(VALUES)
        numbers, floats = json.loads((await session.finish()).stdout)
        times = [struct.unpack("<d", struct.pack("<Q", bits))[0] for bits in floats]
        processes = [number for number in numbers if 700 <= number < 760]
        return processes, [t for t in times if began < t < ended]

    before, _ = box.drive(_values)
    processes, times = box.drive(talk)
    assert set(processes) <= set(before)
    assert times == []


async def _values(session: Session) -> list[list[int]]:
    await session.start(VALUES)
    return list(json.loads((await session.finish()).stdout))
