"""Stages that run what a policy wrote, as no stage should, and what a hostile response writes to
its worker's socket.
"""

from __future__ import annotations

import asyncio
import json
import struct
import time
from typing import Any

from attrs import frozen
from rlenv import Attempt, Outcome

PRELUDE = '''
import gc, os, stat, struct, json, pickle
from rlenv.workers import board, wire
from rlenv.workers.serve import Server

def socket():
    """The worker's end of the socket to its caller, among those of its loop."""
    found = [int(name) for name in os.listdir("/proc/self/fd") if is_socket(int(name))]
    return min(found, key=lambda fd: fd != server().fd)

def is_socket(fd):
    try:
        return stat.S_ISSOCK(os.fstat(fd).st_mode)
    except OSError:
        return False

def server():
    return next(one for one in gc.get_objects() if type(one) is Server)

def send(tag, seq, body):
    if tag == wire.DONE:
        body = b"[%d," % seq + body + b"]"
    write(tag, seq, body)

def write(tag, seq, body):
    data = memoryview(struct.pack("<IQQ", tag, seq, len(body)) + body)
    while data:
        data = data[os.write(socket(), data):]

def report():
    """The report of the item that runs, with its part of the board."""
    cells = server().board
    slots = range(board.FIRST, board.FIRST + board.WIDTH * board.SLOTS, board.WIDTH)
    # the loop says which item it runs; without a loop there is one slot
    at = next((at for at in slots[1:] if cells.q[at] == cells.q[board.CURRENT] > 0), slots[0])
    return cells.q[at : at + board.WIDTH], cells.d[at : at + board.WIDTH]

def mine():
    """The number of the item that runs."""
    return report()[0][board.SEQ]

class Evil:
    def __reduce__(self):
        return os.system, (f"touch {MARK!r}",)
'''


EMPTY: dict[str, Any] = {"detail": "", "data": {}, "steps": None, "private": {}}


def attack(mark: str, code: str) -> str:
    """A response that runs this code where a stage runs responses."""
    return f"MARK = {mark!r}\n{PRELUDE}\n{code}"


def record(tag: int, seq: int, body: bytes) -> bytes:
    return struct.pack("<IQQ", tag, seq, len(body)) + body


def progress(score: Any = 1.0, **more: Any) -> str:
    """The JSON of what a worker sends of an attempt, with anything wrong that is asked for."""
    outcome = [score, *(more.get(key, empty) for key, empty in EMPTY.items())]
    stage = more.get("stage", "s")
    seconds = more.get("seconds", 0.1)
    outcome = more.get("outcome", outcome)
    fault = [more["fault"]] if "fault" in more else []
    result = [stage, seconds, *fault, *(outcome or []), *more.get("rest", [])]
    return json.dumps([more.get("made", []), *more.get("results", [result])])


def judge(response: str) -> Outcome:
    if response == "slow":
        time.sleep(0.25)
        return Outcome(1.0)
    if not response.startswith("MARK"):
        return Outcome(float(response == "right"), "", {"said": (response,)})
    exec(response, {"__name__": "hostile"})
    return Outcome(0.0)


@frozen
class Executes:
    phase = "execute"
    where: str = "worker"

    def check(self, attempt: Attempt) -> Outcome:
        return judge(attempt.response)


@frozen
class ExecutesLater:
    phase = "execute"
    where: str = "worker"

    async def check(self, attempt: Attempt) -> Outcome:
        await asyncio.sleep(0)
        return judge(attempt.response)


@frozen
class ExecutesTogether:
    phase = "execute"
    where: str = "worker"

    def check_group(self, attempts: list[Attempt]) -> list[Outcome]:
        return [judge(attempt.response) for attempt in attempts]


def execute(code: str) -> object:
    """For ``rlenv.workers.call``."""
    exec(code, {"__name__": "hostile"})
    return "ran"
