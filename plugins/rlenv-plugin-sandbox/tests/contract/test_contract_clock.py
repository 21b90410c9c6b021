"""No program gains by being slow: each of these is stopped at its limit, and none is the machine's
fault.
"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from rlenv.sandbox import ChannelTimeout, Session

LIMIT = 0.3  # seconds
FOREVER = "while True: pass"
HOSTILE = {
    "sleeps": "import time\nwhile True: time.sleep(10)",
    "naps": "import time\nwhile True: time.sleep(1e-9)",
    "yields": "import os\nwhile True: os.sched_yield()",
    "is nice": f"import os\ntry: os.nice(19)\nexcept OSError: pass\n{FOREVER}",
    "is idle": (
        "import os\ntry: os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))\nexcept"
        f" OSError: pass\n{FOREVER}"
    ),
    "stops itself": (
        "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)\nwhile True: signal.pause()"
    ),
    "computes in a thread": (
        f"import threading\ndef f():\n    {FOREVER}\nthreading.Thread(target=f).start()"
    ),
    "computes in children": (
        f"import os\nfor _ in range(8):\n    if not os.fork(): break\n{FOREVER}"
    ),
    "computes in a daemon": (
        "import os, time\nif not os.fork():\n    os.setsid()\n    if not os.fork():\n       "
        f" {FOREVER}\n    os._exit(0)\ntime.sleep(10)"
    ),
    "has children that sleep": (
        "import os, time\nfor _ in range(12): os.fork() or time.sleep(10)\ntime.sleep(10)"
    ),
    "forks": "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass",
    "floods": "import sys\nwhile True: sys.stdout.write('x' * 100_000)",
    "talks in small pieces": (
        "import os, time\nwhile True:\n    os.write(3, b'\\0\\0')\n    time.sleep(1e-3)"
    ),
}


@pytest.mark.parametrize("program", HOSTILE.values(), ids=HOSTILE)
def test_a_program_that_wants_to_be_slow_is_stopped(box: Any, program: str) -> None:
    box.needs("kill", "walls")
    if box.name.startswith("remote"):
        pytest.skip("the server's programs run in the jail, where these are tried")

    async def talk(session: Session) -> Any:
        await session.start(program, {}, cpu_s=LIMIT, wall_s=LIMIT)
        return await session.finish()

    end = box.drive(talk, pids=16)
    assert end.fault is None
    assert end.reason in ("cpu", "wall", "memory")


ECHO = """
import os, time
def read(count):
    data = b""
    while len(data) < count:
        data += os.read(3, count - len(data))
    return data
while True:
    said = read(int.from_bytes(read(4), "little")).decode()
    before, after = map(float, said.split())
    time.sleep(before)
    os.write(3, b"\\5\\0\\0")
    time.sleep(after)
    os.write(3, b"\\0hello")
"""


@pytest.mark.parametrize(
    ("before", "after", "rest"),
    [(0.0, 0.0, 0.8), (0.8, 0.0, 0.0), (0.0, 0.8, 0.0)],
    ids=["asked nothing", "asked", "in the middle of its answer"],
)
def test_a_clock_runs_while_a_program_is_asked(
    box: Any, before: float, after: float, rest: float
) -> None:
    async def talk(session: Session) -> tuple[float, float]:
        await session.start(ECHO)
        for _ in range(2):
            await session.send(f"{before} {after}".encode())
            assert await session.recv(10, 20.0) == b"hello"
            await asyncio.sleep(rest)
        running = session.clock()
        await session.finish(0)
        return running, session.clock()

    counted = [clock > 0.5 for clock in box.drive(talk)]  # of 1.6 s, less what others made it wait
    assert counted == [rest == 0.0] * 2


def test_who_is_killed_for_an_answer_that_does_not_come_is_charged_for_it(box: Any) -> None:
    box.needs("kill")

    async def talk(session: Session) -> float:
        await session.start("import os, time\nos.write(3, b'\\5')\ntime.sleep(60)")
        with pytest.raises(ChannelTimeout):
            await session.recv(10, 3 * LIMIT)
        await session.finish(0)
        return session.clock()

    assert box.drive(talk) > 2 * LIMIT


def test_a_frame_that_never_comes_is_the_programs_fault(box: Any) -> None:
    box.needs("kill")

    async def talk(session: Session) -> Any:
        await session.start("while True: pass")
        with pytest.raises(ChannelTimeout) as caught:
            await session.recv(10, LIMIT)
        await session.finish(0)
        return caught.value.starved, session.clock()

    starved, clock = box.drive(talk)
    assert starved is False
    assert clock > LIMIT / 30
