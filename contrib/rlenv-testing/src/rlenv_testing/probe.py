"""A stage in a fresh process: what it says under another hash seed, locale, zone, clock or order,
and what it leaves.

``python -c "... main()"`` reads a pickled request from standard input and writes a report, in JSON
since the stage may have run what it was given, to the file that it is told.
"""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from attrs import define, field, frozen
from rlenv.compose.stages import Attempt
from rlenv.runtime.serialization import pack, unpack

from .bench import Bench, Pair, said

INLINE_CPU = 0.010  # seconds that an inline stage may take for a text of its inline_limit

BASE = {
    "PYTHONHASHSEED": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
    "LC_ALL": "C.UTF-8",
    "PYTHONUTF8": "0",
    "TZ": "UTC0",
    "RLENV_SECRET": "the same for every probe",
}
STARTER = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from rlenv_testing.probe import main; main(sys.argv[2])"
)


@frozen
class Wish:
    """How a probe differs from the plain one.

    Args:
        environ: variables put over the plain ones.
        cwd: where it runs; None: in an empty folder.
        order: indexes of the pairs, in the order in which they are asked; None: each once.
        shift: seconds that its clock is ahead.
        comma: whether its locale writes 1,5 for 1.5.
        threads: how many ask at once.
        costs: measure what the check of each pair costs, and nothing else.
    """

    environ: Mapping[str, str] = field(factory=dict)
    cwd: str | None = None
    order: Sequence[int] | None = None
    shift: float = 0.0
    comma: bool = False
    threads: int = 0
    costs: bool = False


@define
class Report:
    """What a probe saw.

    Args:
        said: (index of the pair, what was said) in the order of asking.
        called: where it waited for ``rlenv.workers.call``.
        costs: CPU seconds of the check of each pair.
    """

    said: list[tuple[int, str]] = field(factory=list)
    together: list[tuple[int, str]] = field(factory=list)
    changed: list[str] = field(factory=list)
    tasks: list[int] = field(factory=list)
    left: list[str] = field(factory=list)
    slept: list[str] = field(factory=list)
    held: list[str] = field(factory=list)
    put: set[str] = field(factory=set)
    got: set[str] = field(factory=set)
    called: list[str] = field(factory=list)
    costs: list[float] = field(factory=list)


class ProbeError(Exception):
    """The fresh process ended without a report; the message has the end of its output."""


class NotLoaded(Exception):
    """The stage could not be loaded in the fresh process, so nothing was asked."""


def ask(blob: bytes, wish: Wish, seconds: float) -> Report:
    """Run a probe.

    Args:
        blob: a pickle of (origin, before, pairs); the origin is ``(use, options)`` for a stage that
            is built by name, else the stage itself; before are the stages that make what it needs.
        seconds: wall time for all pairs.

    Raises:
        NotLoaded: when the stage cannot be imported or built there.
        ProbeError: when the process outran its time or died.
        OSError: when no process can be started.
    """
    with tempfile.TemporaryDirectory(prefix="rlenv-probe-") as folder:
        places = {name: os.path.join(folder, name) for name in ("cwd", "home", "tmp")}
        for place in places.values():
            os.mkdir(place)
        reply = os.path.join(folder, "reply")
        request = pickle.dumps((list(places.values()), wish, blob))
        environ = {**os.environ, **BASE, **wish.environ}
        environ |= {"HOME": places["home"], "TMPDIR": places["tmp"], "PYTHONPATH": ""}
        argv = [sys.executable, "-c", STARTER, json.dumps(sys.path), reply]
        failure = _run(argv, request, environ, wish.cwd or places["cwd"], seconds)
        if not os.path.exists(reply):
            raise NotLoaded(f"the stage could not be loaded in a fresh process: {failure}")
        if failure:
            raise ProbeError(f"a fresh process {failure}")
        try:
            (report,) = unpack((Report,), [[0, *json.loads(Path(reply).read_bytes())]])
        except Exception as err:
            raise ProbeError(
                f"a fresh process left no report: {type(err).__name__}: {err}"
            ) from err
        return report  # type: ignore[no-any-return]


def _run(argv: list[str], request: bytes, environ: dict[str, str], cwd: str, seconds: float) -> str:
    """What went wrong; "" where nothing did."""
    with tempfile.TemporaryFile() as words:
        process = subprocess.Popen(  # noqa: S603 - this very interpreter
            argv,
            stdin=subprocess.PIPE,
            stdout=words,
            stderr=words,
            env=environ,
            cwd=cwd,
            start_new_session=True,
        )
        try:
            process.communicate(request, timeout=seconds)
            late = False
        except subprocess.TimeoutExpired:
            late = True
        finally:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)  # what the stage may have left running
            process.wait()
        if late:
            return f"was not done with the examples in {seconds:g} s"
        words.seek(0)
        last = words.read().decode(errors="replace").strip().splitlines()[-3:]
        return f"ended with {process.returncode}: {' / '.join(last)}" if process.returncode else ""


def main(reply: str) -> None:
    """The fresh process: obey the request on standard input."""
    places, wish, blob = pickle.loads(sys.stdin.buffer.read())  # noqa: S301 - our own parent wrote it
    from . import disguise

    if wish.shift:
        disguise.clock(wish.shift)
    if wish.comma:
        disguise.comma()
    slept, held = disguise.sleeps()
    called = disguise.calls()
    origin, before, pairs = pickle.loads(blob)  # noqa: S301 - after the disguise, which modules must see
    bench = Bench(_built(origin), pairs, before=before, here=True)
    with open(reply, "wb"):
        pass  # it is loaded: what goes wrong from here on, the stage has done
    report = (
        Report(costs=_costs(bench, pairs)) if wish.costs else _report(bench, pairs, wish, places)
    )
    report.slept = sorted(set(slept))
    report.held = sorted(set(held))
    report.called = sorted(set(called))
    Path(reply).write_text(json.dumps(pack(report)))
    sys.stdout.flush()
    os._exit(0)  # a thread that the stage left must not keep us


def _built(origin: Any) -> Any:
    if isinstance(origin, tuple):
        from rlenv.plugins.registry import registry

        use, options = origin
        return registry().stage_type(use)(**options)
    return origin


def _report(bench: Bench, pairs: Sequence[Pair], wish: Wish, places: list[str]) -> Report:
    from . import traces

    report = Report()
    tasks = [traces.copied(task) for task, _ in pairs]
    kinds = traces.artifacts(bench, report.put, report.got)
    before = traces.state()
    threads = set(threading.enumerate())
    handles = traces.handles()
    order = range(len(pairs)) if wish.order is None else wish.order
    for i in order:
        report.said.append((i, said(bench.result(*pairs[i]))))
    report.changed = traces.changes(before, traces.state())
    report.tasks = [i for i, (task, _) in enumerate(pairs) if traces.copied(task) != tasks[i]]
    report.left = traces.left(threads, handles, len(report.said), [Path(place) for place in places])
    kinds()
    if wish.threads:
        report.together = _together(bench, pairs, wish.threads)
    return report


def _costs(bench: Bench, pairs: Sequence[Pair]) -> list[float]:
    """CPU seconds of this thread in the check, the least of three; of ten where it is more than a
    stage may take.
    """
    leaf = bench.env._plan.leaves[-1]
    check = leaf.check
    assert check is not None
    spent: list[float] = []

    def timed(attempt: Attempt) -> object:
        start = time.thread_time()
        try:
            return check(attempt)
        finally:
            spent.append(time.thread_time() - start)

    leaf.check = timed
    costs = []
    for pair in pairs:
        spent.clear()
        while len(spent) < (3 if min(spent, default=0.0) <= INLINE_CPU else 10):
            bench.result(*pair)
        costs.append(min(spent))
    return costs


def _together(bench: Bench, pairs: Sequence[Pair], threads: int) -> list[tuple[int, str]]:
    from concurrent.futures import ThreadPoolExecutor

    start = threading.Barrier(threads)

    def work(first: int) -> list[tuple[int, str]]:
        start.wait(30)
        order = [*range(first, len(pairs)), *range(first)] * 3
        return [(i, said(bench.result(*pairs[i]))) for i in order]

    sys.setswitchinterval(1e-5)
    with ThreadPoolExecutor(threads) as pool:
        shares = pool.map(work, [len(pairs) * k // threads for k in range(threads)])
        return [row for share in shares for row in share]
