"""Other processes: none is seen, none is signalled, none stays."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from typing import Any

import pytest


def test_it_sees_and_signals_only_itself(place: Any) -> None:
    said = place.said(f"""
signal.signal(signal.SIGTERM, signal.SIG_IGN)
reached = [
    pid
    for pid in [*range(2, 400), {os.getpid()}, os.getppid() or 99999]
    if attempt(lambda: os.kill(pid, 0)) != "refused"
]
group = attempt(lambda: os.kill(0, signal.SIGTERM))
everybody = attempt(lambda: os.kill(-1, signal.SIGTERM))
opened = [
    pid for pid in range(2, 400) if attempt(lambda: os.close(os.pidfd_open(pid))) != "refused"
]
tell([os.getpid(), os.getppid(), os.getpgrp() != 0, reached, opened])
""")
    assert said == [1, 0, True, [], []]


def test_a_signal_to_its_group_stays_in_it(place: Any) -> None:
    """The judge is in a group of this test's, and notices nothing."""
    code = f"""
import sys; sys.path[:0] = {sys.path!r}
import asyncio
from rlenv.sandbox import Profile
from rlenv_plugin_sandbox.jail import Jail
async def main():
    session = await Jail(places=1).open(Profile())
    await session.start(
        "import os\\nprint(os.getpgrp() == os.getpid())\\nos.kill(0, 10)\\nos.killpg(0, 15)"
    )
    end = await session.finish()
    print(end.stdout.decode().strip(), "survived", flush=True)
    await session.close()
asyncio.run(main())
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        start_new_session=True,
        check=False,
    )
    assert done.stdout == "True survived\n", done.stderr


def test_killing_pid_1_is_killing_oneself(place: Any) -> None:
    ends = place.several(
        [
            (
                "signal.signal(signal.SIGTERM, signal.SIG_DFL); os.kill(1, 15); os.kill(1, 9);"
                " os.kill(1, 19); print('on')"
            ),
            (
                "pid = os.fork()\nif not pid:\n    os.kill(1, 9); os.kill(1, 19);"
                " os._exit(0)\nos.waitpid(pid, 0); print('on')"
            ),
            "os.abort()",
            "ctypes.string_at(0)",
            "print('next')",
        ]
    )
    assert [e.stdout for e in ends[:2]] == [b"on\n", b"on\n"]
    assert [e.reason for e in ends[2:4]] == ["signal", "signal"]
    assert ends[4].stdout == b"next\n"


@pytest.mark.parametrize(
    "program",
    [
        "while True: pass",
        "time.sleep(100)",
        (
            "for n in range(1, 65):\n    try: signal.signal(n, signal.SIG_IGN)\n    except"
            " (OSError, ValueError): pass\ntime.sleep(100)"
        ),
        "os.kill(0, signal.SIGSTOP); time.sleep(100)",
        "if not os.fork():\n    os.kill(os.getpid(), signal.SIGSTOP)\nos.wait()",
        "signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65)); threading.Event().wait()",
        "a, b = socket.socketpair(); a.recv(1)",
        "os.read(os.pipe()[0], 1)",
        "os.mkfifo('f'); open('f')",
        "sys.stdout.flush(); [os.close(fd) for fd in range(4)]; time.sleep(100)",
        "threading.Thread(target=time.sleep, args=(100,)).start()",
        "import atexit; atexit.register(time.sleep, 100)",
        "class D:\n    def __del__(self): time.sleep(100)\nd = D(); del d",
    ],
)
def test_every_way_to_stay_ends_at_the_deadline(place: Any, program: str) -> None:
    end, after = place.several([program, "print('next')"], first_wall_s=0.4, cpu_s=1.0)
    assert end.reason in ("wall", "cpu"), (end, end.stderr)
    assert after.stdout == b"next\n"


DAEMON = """
def away():
    os.setsid()
    for n in range(1, 32):
        try: signal.signal(n, signal.SIG_IGN)
        except OSError: pass
    while True:
        time.sleep(0.01)
        open("/tmp/alive", "a").write("x")
for _ in range(5):
    if not os.fork():
        if os.fork(): os._exit(0)
        away()
"""


def test_nothing_that_it_started_outlives_it(place: Any, below_tmp: list[str]) -> None:
    place.run("pass")
    before = place.children()
    place.several([DAEMON + "time.sleep(0.1)", DAEMON + "os.kill(os.getpid(), 9); os._exit(3)"])
    end = place.run("time.sleep(0.2); tell(sorted(os.listdir('/tmp')))")
    assert json.loads(end.stdout) == below_tmp
    deadline = time.monotonic() + 60
    while len(place.children()) > len(before) and time.monotonic() < deadline:
        time.sleep(0.1)  # the spare of a place comes and goes
    assert len(place.children()) <= len(before)
