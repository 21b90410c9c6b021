"""What the workers of these tests do: one runner whose payload is (name of a deed, arguments)."""

from __future__ import annotations

import ctypes
import os
import re
import signal
import subprocess
import sys
import threading
import time

from deeds_memory import (  # noqa: F401 - DEEDS finds them among the globals
    eat,
    eat_at_once,
    eat_shared,
    eat_shared_file,
    eat_slowly,
)

SECONDS = 0.2  # for what never ends; everything else has ample time, however loaded the machine
ENDLESS = {"spin", "sleep", "regex", "shout", "slow_result", "eat"}


def echo(report, *args):
    return args


def pid(report):
    return os.getpid()


def spin(report):
    while True:
        pass


def sleep(report, seconds=3600.0):
    time.sleep(seconds)
    return seconds


def regex(report):
    return re.match(r"(a+)+$", "a" * 60 + "b")


def leave(report, status=3):
    os._exit(status)


def quit_(report):
    sys.exit(4)


def interrupt(report):
    raise KeyboardInterrupt


def segfault(report):
    ctypes.string_at(8)


def suicide(report):
    os.kill(os.getpid(), signal.SIGKILL)


def hang_up(report):
    os.closerange(3, 256)
    time.sleep(3600)


def grandchild(report, path, *, stray=False):
    child = subprocess.Popen(["sleep", "3600"], start_new_session=stray)
    with open(path, "w") as file:
        file.write(f"{os.getpid()} {child.pid}")
    while True:
        pass


def wrong(report):
    raise ValueError("a wrong thing")


def unpicklable(report):
    return lambda: None


def shout(report, stream):
    while True:
        getattr(sys, stream).write("x" * 65536)


def log(report, megabytes):
    for _ in range(megabytes):
        sys.stderr.write("x" * (1 << 20))
    return megabytes


def close_all(report):
    os.closerange(3, 1 << 16)
    return True


def doze_and_die(report, seconds):
    time.sleep(seconds)
    os._exit(3)


def stdin(report):
    return sys.stdin.read()


def stages(report, obj, deed):
    report.begin(60.0, 1)
    report.end()
    report.partial(obj)
    report.begin(SECONDS if deed == "spin" else 60.0, 2)
    return DEEDS[deed](report)


def main_module(report):
    import __main__

    return __main__.__spec__.name


def secret(report):
    from rlenv.workers import inherit

    return inherit.SECRET.hex()


def path(report):
    return list(sys.path)


DEEDS = {name: thing for name, thing in list(globals().items()) if callable(thing)}


class Runner:
    def __init__(self, blob):
        self.seconds = float(blob or 0)

    def __call__(self, payload, report):
        name, *args = payload
        report.begin(self.seconds or (SECONDS if name in ENDLESS else 60.0), 7)
        return DEEDS[name](report, *args)


def trivial(blob):
    def run(payload, report):
        report.begin(30.0, 0)
        report.end()
        return (payload[0], 1.0, 0.000012)

    return run


def environ(report, name):
    return os.environ.get(name)


def cmdline(report):
    with open("/proc/self/cmdline", "rb") as line, open("/proc/self/environ", "rb") as variables:
        return str(line.read() + variables.read())


class Unprintable(Exception):
    def __str__(self):
        raise RuntimeError


def unprintable(report):
    raise Unprintable


class Unloadable:
    def __reduce__(self):
        return divmod, (1, 0)


def unloadable(report):
    return Unloadable()


def endless_result(report, depth=10**5):
    nest = []
    for _ in range(depth):
        nest = [nest]
    return nest


class Slow(dict[str, int]):
    def items(self):
        while True:
            pass


def slow_result(report):
    return Slow(a=1)


def nested(report, seconds=60.0):
    """A pool within a worker: the pid of its worker."""
    from rlenv.workers import Pool, Program

    with Pool(1) as pool:
        return pool.submit(Program("deeds:Runner", b"60"), ("pid",)).result(60).value


def nested_spin(report, path):
    """A worker's own worker spins, and so does the worker."""
    from rlenv.workers import Pool, Program

    pool = Pool(1)
    inner = pool.submit(Program("deeds:Runner", b"60"), ("pid",)).result(60).value
    pool.submit(Program("deeds:Runner", b"60"), ("regex",))
    with open(path, "w") as file:
        file.write(f"{os.getpid()} {inner}")
    regex(report)


def idle(blob):
    return lambda payload, report: time.sleep(3600)


def broken_factory(blob):
    return time.sleep(len(blob)) or 1 / 0


def deadly_factory(blob):
    os._exit(9)


def endless_factory(blob):
    while True:
        pass


def own_loop(report):
    import asyncio

    return asyncio.run(asyncio.sleep(0, "ran"))


class Tidy:
    """Leaves a file behind when it is closed in peace."""

    def __init__(self, blob):
        self.path = blob

    def __call__(self, payload, report):
        return None

    def close(self):
        with open(self.path, "w"):
            pass


def grandparent(blob):
    def run(payload, report):
        path, options = payload
        report.begin(float(blob))
        child = subprocess.Popen(["sleep", "3600"], start_new_session=options.get("stray", False))
        with open(path, "w") as file:
            file.write(f"{os.getpid()} {child.pid}")
        if options.get("leave"):
            os._exit(3)
        time.sleep(3600)

    return run


def garbage(report, length):
    """Write nonsense into every descriptor."""
    for fd in range(3, 1024):
        try:
            os.write(
                fd, b"\x01\x00\x00\x00" + b"\x07" * 8 + length.to_bytes(8, "little") + b"nonsense"
            )
        except OSError:
            continue


def fork_and_return(report):
    return os.fork() > 0


def fork_and_raise(report):
    if os.fork() == 0:
        raise ValueError("in the child")
    return True


def endless_nan(report):
    report.begin(float("nan"), 3)
    while True:
        pass


def crunch(seconds):
    start = time.process_time()
    while time.process_time() - start < seconds:
        pass
    return seconds


def doze(seconds):
    time.sleep(seconds)
    return seconds


def hoard():
    kept = []
    while True:
        kept.append(bytearray(1 << 24))


def backtrack():
    return re.match(r"(a+)+$", "a" * 60 + "b")


def die():
    os._exit(3)


def die_once(path):
    if not os.path.exists(path):
        with open(path, "w"):
            os._exit(3)
    return "well"


def fail():
    raise ValueError("a wrong thing")


def add(left, right):
    return left + right


def call_inside(report, pid_too):
    from rlenv.workers import call

    return call("deeds:add", 1, 2)


def slow_factory(blob):
    time.sleep(0.3)
    return lambda payload, report: payload


def start_threads(report, count):
    begun = threading.Barrier(count + 1)
    done = threading.Event()
    threads = [threading.Thread(target=lambda: (begun.wait(), done.wait())) for _ in range(count)]
    for thread in threads:
        thread.start()
    begun.wait()
    done.set()
    for thread in threads:
        thread.join()
    return count


def blas(report):
    import numpy as np

    return float((np.ones((600, 600)) @ np.ones((600, 600)))[0, 0])


DEEDS.update({name: thing for name, thing in list(globals().items()) if callable(thing)})
