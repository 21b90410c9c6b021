"""What a stage changes in its process and leaves on its machine."""

from __future__ import annotations

import builtins
import decimal
import gc
import locale
import logging
import os
import random
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from contextvars import ContextVar
from copy import deepcopy
from pathlib import Path
from typing import Any

from rlenv.model.record import dumps, plain
from rlenv.model.values import Task

from .bench import NAME, Bench


def copied(task: Task) -> tuple[Any, ...]:
    """All of a task, to compare later."""
    try:
        return task.prompt, deepcopy(task.answer), deepcopy(dict(task.info)), task.id, task.split
    except Exception:  # noqa: BLE001 - copying runs code of the answer
        return task.prompt, dumps(plain(task.answer)), dumps(plain(task.info)), task.id, task.split


def state() -> dict[str, Any]:
    """What all code of a process shares and a verification must leave as it is."""
    mask = os.umask(0)
    os.umask(mask)
    numpy = sys.modules.get("numpy.random")
    found = {
        "the environment variables": dict(os.environ),
        "the working directory": os.getcwd(),
        "sys.path": list(sys.path),
        "the state of random": random.getstate(),
        "the state of numpy.random": repr(numpy.get_state()) if numpy is not None else None,
        "the recursion limit": sys.getrecursionlimit(),
        "the limit of digits": sys.get_int_max_str_digits(),
        "the locale": locale.setlocale(locale.LC_ALL),
        "the time zone": time.tzname,
        "signal handlers": [repr(signal.getsignal(number)) for number in signal.valid_signals()],
        "the decimal context": repr(decimal.getcontext()),
        "builtins": {name: id(value) for name, value in vars(builtins).items() if name != "_"},
        "the tracer": (id(sys.gettrace()), id(sys.getprofile())),
        "the timeout of sockets": socket.getdefaulttimeout(),
        "the garbage collector": (gc.isenabled(), gc.get_threshold()),
        "the root logger": (logging.root.level, len(logging.root.handlers), logging.root.disabled),
        "the standard streams": (id(sys.stdin), id(sys.stdout), id(sys.stderr)),
        "the umask": mask,
    }
    if numpy is None:
        del found["the state of numpy.random"]
    return found


def changes(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """What differs, in words."""
    return [
        f"{name}: {_difference(before[name], after.get(name))}"
        for name in before
        if before[name] != after.get(name)
    ]


def _difference(before: Any, after: Any) -> str:
    if isinstance(before, dict) and isinstance(after, dict):
        return ", ".join(
            sorted(str(key) for key in {*before, *after} if before.get(key) != after.get(key))
        )
    return "another one" if len(repr(before)) > 80 else f"{before!r} became {after!r:.80}"


def handles() -> int:
    """How many files this process has open; 0 where that cannot be told."""
    try:
        return len(os.listdir("/proc/self/fd"))
    except OSError:
        return 0


def left(threads: set[threading.Thread], opened: int, asked: int, places: list[Path]) -> list[str]:
    """Threads, open files, files and processes that were not there before."""
    # the loop of caller stages and its helpers stay with their process
    ours = ("rlenv", "asyncio_")
    new = [t for t in threading.enumerate() if t not in threads and not t.name.startswith(ours)]
    found = [f"the thread {thread.name}" for thread in new if thread.is_alive()]
    files = [(place, path) for place in places for path in sorted(place.rglob("*"))]
    found += [f"the file {path.relative_to(place.parent)}" for place, path in files]
    _close_pools()
    _close_sandboxes()
    found += [f"the process {pid}" for pid in _children(5.0)]
    if (more := handles() - opened) >= max(
        3, asked
    ):  # after the pools, whose warm processes hold some each
        found.append(f"{more} open files")
    return found


def _close_pools() -> None:
    calls = sys.modules.get("rlenv.workers.call")
    for pool in list(calls._pools.values()) if calls is not None else ():
        pool.close()


def _close_sandboxes() -> None:
    port = sys.modules.get("rlenv.sandbox")
    if port is not None:
        port.close_all()


def _children(patience: float) -> list[int]:
    """Children of this process that live on; rlenv's own pools get so many seconds to end."""
    keeps = {"rlenv.workers.pool", "rlenv.sandbox"} & sys.modules.keys()
    until = time.monotonic() + patience if keeps else 0.0
    while True:
        found = _children_now()
        if not found or time.monotonic() > until:
            return found
        time.sleep(0.02)


def _children_now() -> list[int]:
    found: list[int] = []
    for path in Path("/proc/self/task").glob("*/children"):
        try:
            found += [int(word) for word in path.read_text().split()]
        except OSError:
            continue
    return found


def artifacts(bench: Bench, put: set[str], got: set[str]) -> Callable[[], None]:
    """Note the artifacts that the stage puts and takes, until the function returned is called."""
    from rlenv.compose.stages import Attempt

    leaf = next((leaf for leaf in bench.env._plan.leaves if leaf.path == NAME), None)
    if leaf is None or leaf.check is None:
        return lambda: None
    check = leaf.check
    plain_put = Attempt.put
    plain_find = Attempt.find
    inside: ContextVar[bool] = ContextVar("inside", default=False)

    def noting(attempt: Any) -> Any:
        token = inside.set(True)
        try:
            return check(attempt)
        finally:
            inside.reset(token)

    async def noting_awaited(attempt: Any) -> Any:
        inside.set(True)  # of the task that runs the check, and of no other
        return await check(attempt)

    def noted_put(self: Any, artifact: object) -> None:
        if inside.get():
            put.add(type(artifact).__qualname__)
        plain_put(self, artifact)

    def noted_find(self: Any, kind: Any) -> Any:
        if inside.get():
            got.add(kind.__qualname__)
        return plain_find(self, kind)

    def undo() -> None:
        leaf.check = check
        type.__setattr__(Attempt, "put", plain_put)
        type.__setattr__(Attempt, "find", plain_find)

    leaf.check = noting_awaited if leaf.is_async else noting
    type.__setattr__(Attempt, "put", noted_put)
    type.__setattr__(Attempt, "find", noted_find)
    return undo
