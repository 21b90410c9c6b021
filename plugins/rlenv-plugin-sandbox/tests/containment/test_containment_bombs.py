"""Bombs: they harm only the program that throws them."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

BOMBS = {
    "processes": "while True:\n    try: os.fork()\n    except OSError: pass",
    "processes that end": (
        "while True:\n    try:\n        if not os.fork(): os._exit(0)\n    except OSError: pass"
    ),
    "threads": (
        "while True:\n    try: threading.Thread(target=time.sleep, args=(100,)).start()\n    except"
        " RuntimeError: pass"
    ),
    "memory": "b = []\nwhile True: b.append(bytearray(1 << 22))",
    "mapped memory": (
        "import mmap\nm = []\nwhile True:\n    m.append(mmap.mmap(-1, 1 << 24))\n   "
        " m[-1].write(b'x' * (1 << 24))"
    ),
    "memory of many": (
        "while True:\n    try:\n        if not os.fork():\n            b = b'x' * (60 << 20);"
        " time.sleep(100)\n    except OSError: pass"
    ),
    "files in memory": (
        "m = []\nwhile True:\n    m.append(os.memfd_create('x'))\n    for _ in range(64):"
        " os.write(m[-1], b'x' * (1 << 20))"
    ),
    "pipes": (
        "p = []\nwhile True:\n    try:\n        p.append(os.pipe()); os.set_blocking(p[-1][1],"
        " False)\n        os.write(p[-1][1], b'x' * (1 << 20))\n    except OSError:\n        try:"
        " os.fork()\n        except OSError: pass"
    ),
    "a disk": (
        "n = 0\nwhile True:\n    n += 1\n    try: open('/tmp/%d' % n, 'wb').write(b'x' * (1 <<"
        " 22))\n    except OSError: n -= 1; os.path.exists('/tmp/1') and time.sleep(0.01)"
    ),
    "entries": (
        "n = 0\nwhile True:\n    n += 1\n    try: os.mkdir('/tmp/%d' % n)\n    except OSError:"
        " time.sleep(0.01)"
    ),
    "depth": (
        "while True:\n    try: os.mkdir('d'); os.chdir('d')\n    except OSError: time.sleep(0.01)"
    ),
    "descriptors": (
        "fds = []\nwhile True:\n    try: fds.append(os.dup(0))\n    except OSError:"
        " time.sleep(0.01)"
    ),
    "output": "while True: os.write(1, b'x' * 65536)",
    "errors": "while True: os.write(2, b'x' * 65536)",
    "frames": "while True: os.write(3, b'x' * 65536)",
    "regular expressions": "import re; re.match('(a+)+$', 'a' * 64 + 'b')",
    "a number": "10 ** 10 ** 9",
    "signals": "signal.signal(10, signal.SIG_IGN)\nwhile True: os.kill(0, 10)",
    "timers": "while True:\n    for n in range(100): signal.setitimer(signal.ITIMER_REAL, 1e-6)",
    "crashes": "while True:\n    if not os.fork(): ctypes.string_at(0)\n    os.wait()",
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_a_bomb_harms_only_itself(place: Any, bomb: str) -> None:
    programs = [BOMBS[bomb], "print('next')"]
    end, after = place.several(programs, first_wall_s=0.6, cpu_s=0.5, memory_mb=160)
    assert end.started
    assert (end.status, end.reason) != (0, "exit"), end
    assert len(end.stdout) <= 1 << 20
    assert after.stdout == b"next\n", after


def test_bombs_leave_no_process_and_no_group(place: Any) -> None:
    groups = place.groups()
    fresh = type(place)()
    before = place.children()
    fresh.several([BOMBS["processes"], BOMBS["files in memory"]], wall_s=1.0, memory_mb=128)
    asyncio.run(fresh.jail.aclose())
    deadline = time.monotonic() + 60
    while place.children() - before and time.monotonic() < deadline:
        time.sleep(0.1)
    assert place.children() - before == set()
    assert set(place.groups()) <= set(groups)


def test_a_native_program_is_held_by_the_same_walls(place: Any) -> None:
    script = """
cat /etc/shadow /proc/1/environ ~root/.bashrc /run/* 2>/dev/null && echo HOLE
kill -9 -1 2>/dev/null; kill -0 2 2>/dev/null && echo HOLE
echo x > /usr/x 2>/dev/null && echo HOLE; echo x > /box/x 2>/dev/null && echo HOLE
(exec 3<>/dev/tcp/127.0.0.1/22) 2>/dev/null && echo HOLE
ls /proc /sys /home /var 2>/dev/null && echo HOLE
ulimit -n 100000 2>/dev/null && echo HOLE
nsenter -t 1 -m true 2>/dev/null && echo HOLE; chroot /tmp true 2>/dev/null && echo HOLE
(sleep 100 &) ; setsid sleep 100 & disown -a
echo held
"""
    ends = place.several([["/bin/bash", "-c", script]] * 2, runtime="native")
    assert [(e.stdout, e.status) for e in ends] == [(b"held\n", 0)] * 2


@pytest.mark.slow  # three bombs, each until it is stopped
def test_a_native_bomb_harms_only_itself(place: Any) -> None:
    bombs = [
        ":(){ :|:& };:; wait",
        "while :; do :; done",
        "yes > /tmp/full; yes > /dev/full; cat /dev/zero",
    ]
    for bomb in bombs:
        end, after = place.several(
            [["/bin/bash", "-c", bomb], ["/bin/echo", "next"]],
            runtime="native",
            wall_s=1.0,
            cpu_s=0.8,
            memory_mb=160,
        )
        assert end.started
        assert after.stdout == b"next\n", (bomb, end, after)
