"""``call``: one heavy piece of work of an inline stage, in a process that can be killed."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from .pool import Pool
    from .values import Failed, Report

WALL = 10.0  # the wall backstop, in CPU budgets
SIZE = 2  # one that works and one that is ready, should the first be killed

_pools: dict[int | None, Pool] = {}


def call(target: str, *args: object, seconds: float = 1.0, memory_mb: int | None = None) -> object:
    """Run ``target(*args)`` in a worker, wait for it, and return its value, one of JSON.

    An inline stage that calls it says ``waits = True``, so that under an event loop a thread waits.

    Args:
        target: "module:function"; it is imported first, uncounted.
        args: picklable.
        seconds: CPU seconds of the worker from when the work begins; ten times that of wall time.
        memory_mb: memory of the worker beyond its start, MiB; None is 2048.

    Raises:
        WorkExceeded: the work outran its budget or its memory, or crashed its worker twice.
        VerifierFault: the function raised (``error``), or the workers could not be run (``pool``).
    """
    from .pool import Pool
    from .values import Done, Program

    program = Program("rlenv.workers.call:make_runner", target.encode())
    for _ in range(2):  # once more after a crash
        pool = _pools.get(memory_mb)
        if pool is None or pool.closed:
            pool = _pools[memory_mb] = Pool(SIZE, memory_mb, spares=1)
        result = pool.submit(program, (args, seconds), limits=(WALL * seconds,)).result()
        if isinstance(result, Done):
            return result.value
        failed = result
        if failed.kind != "crash" or failed.mark < 0:
            break
    raise _error(target, failed)


def _error(target: str, failed: Failed) -> Exception:
    from rlenv.model.errors import VerifierFault, WorkExceeded
    from rlenv.model.values import Fault

    if failed.kind in ("timeout", "memory", "crash") and failed.mark >= 0:
        return WorkExceeded(failed.kind, f"{target}: {failed.message}")
    kind = "pool" if failed.kind == "pool" else "error"
    return VerifierFault(Fault(kind, f"{target}: {failed.message}", kind == "pool"))


def make_runner(blob: bytes) -> Callable[[tuple[tuple[object, ...], float], Report], object]:
    """In the worker: import the function that ``blob`` names."""
    from pkgutil import resolve_name

    function = resolve_name(blob.decode())

    def run(payload: tuple[tuple[object, ...], float], report: Report) -> object:
        args, seconds = payload
        report.begin(WALL * seconds, 0, seconds)
        return function(*args)

    return run
