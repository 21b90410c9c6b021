"""A stage that does what the response asks for: what bugs in a verifier, and hostile responses to
one, have done.

``EXPECTED`` has, for each order, what may become of it: kinds of faults, or a score.
"""

from __future__ import annotations

import asyncio
import builtins
import contextlib
import ctypes
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable

from rlenv import Attempt, Outcome

Deed = Callable[[], object]
SCORED = "scored"  # it does no harm, or only to what is not its own
DEEDS: dict[str, Deed] = {}
EXPECTED: dict[str, frozenset[str]] = {}


def expect(*kinds: str) -> Callable[[Deed], Deed]:
    def keep(deed: Deed) -> Deed:
        DEEDS[deed.__name__] = deed
        EXPECTED[deed.__name__] = frozenset(kinds)
        return deed

    return keep


class Obeys:
    """Scores "right" 1 and "wrong" 0; any other response is an order."""

    phase = "execute"
    default_timeout = 1.0

    def check(self, attempt: Attempt) -> Outcome:
        order = attempt.response.split()[0]
        if order in DEEDS:
            found = DEEDS[order]()
            return found if found is not None else Outcome(1.0)  # type: ignore[return-value]
        return Outcome(float(order == "right"))


class ObeysLater(Obeys):
    """The same on a worker's event loop, where others are in flight."""

    async def check(self, attempt: Attempt) -> Outcome:  # type: ignore[override]
        await asyncio.sleep(0.01)
        found = super().check(attempt)
        await asyncio.sleep(0.01)
        return found


# -- it dies


@expect("crash")
def segfault() -> None:
    ctypes.string_at(8)


@expect("crash")
def abort() -> None:
    os.abort()


@expect("crash")
def exit_well() -> None:
    os._exit(0)


@expect("crash")
def exit_ill() -> None:
    os._exit(7)


@expect("crash")
def terminate() -> None:
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(60)


@expect("crash")
def kill_group() -> None:
    os.killpg(0, signal.SIGKILL)


@expect("crash")
def kill_parent() -> None:
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(60)


@expect("crash")
def alarm() -> None:
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    time.sleep(60)


@expect("crash")
def deep_in_c() -> None:
    sys.setrecursionlimit(1 << 30)
    one: list[object] = []
    other: list[object] = []
    for _ in range(20_000):
        one = [one]
        other = [other]
    # its end is near, so that it comes before the deadline on any machine
    threading.stack_size(1 << 18)
    thread = threading.Thread(target=one.__eq__, args=(other,))
    thread.start()
    thread.join()


@expect("crash")
def daemonize_and_die() -> None:
    subprocess.Popen(["sleep", "600"], start_new_session=True)
    os._exit(3)


@expect("crash")
def close_descriptors() -> None:
    os.closerange(3, 1024)


# -- it never ends


@expect("timeout")
def sleep() -> None:
    time.sleep(600)


@expect("timeout")
def spin() -> None:
    while True:
        pass


@expect("timeout")
def backtrack() -> None:
    re.match(r"(a+)+$", "a" * 60 + "b")


@expect("timeout")
def power() -> None:
    _ = 9**9**8


@expect("timeout")
def stop() -> None:
    os.kill(os.getpid(), signal.SIGSTOP)


@expect("timeout")
def deaf() -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
        with contextlib.suppress(OSError):
            signal.signal(number, signal.SIG_IGN)
    while True:
        pass


@expect("timeout")
def catch_all() -> None:
    while True:
        with contextlib.suppress(BaseException):
            time.sleep(60)


@expect("timeout")
def deadlock() -> None:
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()


@expect("timeout")
def wait_for_socket() -> None:
    one, other = socket.socketpair()
    one.recv(1)
    other.close()


@expect("timeout")
def orphans_and_sleep() -> None:
    for _ in range(5):
        subprocess.Popen(["sleep", "600"], start_new_session=True)
    time.sleep(600)


@expect("timeout")
def keep_interpreter() -> None:
    sys.setswitchinterval(1e9)
    while True:
        pass


# -- it eats memory


@expect("memory", "timeout")
def hoard() -> None:
    kept = []
    while True:
        kept.append(bytes(8_000_000))


@expect("memory")
def ten_gigabytes() -> None:
    _ = b"x" * (10 << 30)


@expect("memory")
def memory_error() -> None:
    raise MemoryError


# -- it raises, or returns what is not an outcome


@expect("error")
def divide() -> None:
    _ = 1 / 0


@expect("error")
def leave() -> None:
    sys.exit(3)


@expect("error")
def interrupt() -> None:
    raise KeyboardInterrupt


@expect("error")
def recurse() -> None:
    recurse()


@expect("error")
def generator_exit() -> None:
    raise GeneratorExit


class _Mute(Exception):
    def __str__(self) -> str:
        raise SystemExit(1)


@expect("error")
def mute() -> None:
    raise _Mute


@expect("contract")
def text() -> object:
    return "1.0"


@expect("contract")
def not_a_number() -> object:
    return Outcome(float("nan"))


@expect("contract")
def bare_outcome() -> object:
    return Outcome.__new__(Outcome)


@expect(SCORED)
def unpicklable() -> object:
    return Outcome(1.0, data={"function": lambda: 1})


@expect("crash")
def nonsense_on_every_descriptor() -> None:
    for fd in range(3, 256):
        with contextlib.suppress(OSError):
            os.set_blocking(fd, False)
            os.write(fd, b"\x07" * 4096)
    time.sleep(0.2)


@expect("error")
def fork_and_raise() -> None:
    if os.fork() == 0:
        raise ValueError("in the child")
    raise ValueError("in the parent")


# -- it spoils what others may need


@expect("contract")
def clobber_builtins() -> None:
    vars(builtins).update(len=lambda _: 0, print=None, open=None)


@expect(SCORED)
def daemonize() -> None:
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.closerange(0, 256)
            time.sleep(600)
        os._exit(0)
    os.wait()


@expect(SCORED)
def flood() -> None:
    for _ in range(80):
        os.write(2, b"x" * (1 << 16))


@expect(SCORED)
def flood_output() -> None:
    sys.stdout.write("x" * 5_000_000)


@expect(SCORED)
def leak_threads() -> None:
    for _ in range(20):
        threading.Thread(target=time.sleep, args=(600,), daemon=True).start()


@expect(SCORED)
def close_standard_streams() -> None:
    for fd in (0, 1, 2):
        with contextlib.suppress(OSError):
            os.close(fd)


@expect(SCORED)
def leak_descriptors() -> None:
    for _ in range(20):
        os.dup(0) if os.path.exists("/proc/self/fd/0") else os.pipe()


@expect(SCORED)
def no_environment() -> None:
    os.environ.clear()
    vars(sys).update(stdout=None, stderr=None)
