"""Running numba kernels without a GPU: the checked interpreter and the compiled one against numba's
own simulator.

Seconds of CPU of one case, in one run: each way is a fresh process that runs the same answers on
the same inputs.
The simulator is asked for the smaller launches only, and its time a thread is taken where a launch
is large.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parents[1])  # so that `benchmarks` is a package

import json
import os
import shutil
import subprocess
import tempfile
from statistics import median
from typing import Any

import rlenv_plugin_cuda

__all__ = ["section"]

GUEST = Path(rlenv_plugin_cuda.__file__).parent / "guest"
HEAD = "from numba import cuda, float32, int32\n"
VADD = """@cuda.jit
def k(a, b, o):
    i = cuda.grid(1)
    if i < o.size:
        o[i] = a[i] + b[i]
def run(a, b, o):
    k[(o.size + 127) // 128, 128](a, b, o)
"""
MATMUL = """T = 16
@cuda.jit
def k(a, b, c):
    sa = cuda.shared.array((T, T), float32)
    sb = cuda.shared.array((T, T), float32)
    x, y = cuda.grid(2)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    t = float32(0.0)
    for p in range(a.shape[1] // T):
        sa[ty, tx] = a[y, tx + p * T]
        sb[ty, tx] = b[ty + p * T, x]
        cuda.syncthreads()
        for q in range(T):
            t += sa[ty, q] * sb[q, tx]
        cuda.syncthreads()
    c[y, x] = t
def run(a, b, c):
    k[(c.shape[1] // T, c.shape[0] // T), (T, T)](a, b, c)
"""
HISTOGRAM = """@cuda.jit
def k(x, o):
    h = cuda.shared.array(16, int32)
    t = cuda.threadIdx.x
    if t < 16:
        h[t] = 0
    cuda.syncthreads()
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(h, x[i] & 15, 1)
    cuda.syncthreads()
    if t < 16:
        cuda.atomic.add(o, t, h[t])
def run(x, o):
    k[(x.size + 127) // 128, 128](x, o)
"""
SCAN = """@cuda.jit
def k(x, o):
    s = cuda.shared.array(512, int32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    d = 1
    while d < 512:
        v = s[t]
        if t >= d:
            v += s[t - d]
        cuda.syncthreads()
        s[t] = v
        cuda.syncthreads()
        d *= 2
    o[t] = s[t]
def run(x, o):
    k[1, 512](x, o)
"""
FAR = """
import json, sys, time
sys.path[:0] = json.loads(sys.argv[1])
import kernel_rules, kernel_runner
name, jobs = sys.argv[2], json.loads(sys.stdin.read())
if name == "interpreter":
    machine = kernel_runner.Interpreter
else:
    import kernel_native
    machine = kernel_native.Native
found = []
for source, case, size in jobs:
    runs, body = machine(kernel_rules.read(source)), memoryview(bytes(size))
    answer = kernel_rules.read(source)
    took = []
    for again in range(3):
        begun, count = time.process_time(), 0
        # a clock may tick as slowly as 10 ms
        while not count or (again and time.process_time() - begun < 0.1):
            said, _ = kernel_runner._case(answer, runs, case, body, {})
            count += 1
            assert "broken" not in said, said
        took.append((time.process_time() - begun) / count)
    found.append(took)
print(json.dumps(found))
"""
SIMULATOR = """
import json, math, sys, time
import numpy
from numba import cuda
found = []
for source, case, _ in json.loads(sys.stdin.read()):
    given = [numpy.zeros(shape, dtype) for _, dtype, shape in case["inputs"] + case["outputs"]]
    space = {"math": math}
    exec(source, space)
    begun = time.process_time()
    space["run"](*given)
    found.append([time.process_time() - begun])
print(json.dumps(found))
"""


def _job(source: str, inputs: list[Any], output: list[Any]) -> tuple[str, dict[str, Any], int]:
    case = {
        "case": 0, "seed": 1, "cpu_s": 600, "inputs": inputs, "outputs": [output], "known": True,
    }  # fmt: skip
    size = 0
    for _, _, shape in [*inputs, output]:
        count = 4
        for extent in shape:
            count *= extent
        size += count
    return HEAD + source, case, size


def _vector(n: int) -> tuple[str, dict[str, Any], int]:
    return _job(VADD, [["a", "f4", [n]], ["b", "f4", [n]]], ["o", "f4", [n]])


def _square(n: int) -> tuple[str, dict[str, Any], int]:
    inputs = [["a", "f4", [n, n]], ["b", "f4", [n, n]]]
    return _job(MATMUL, inputs, ["c", "f4", [n, n]])


def _timed(name: str, jobs: list[Any]) -> list[list[float]]:
    """Seconds of CPU, a list a job, in one process."""
    simulated = name == "simulator"
    program = SIMULATOR if simulated else FAR
    more = {"NUMBA_ENABLE_CUDASIM": "1"} if simulated else {}
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "kernel_packages.py").write_text("FOLDERS = []\n", "utf-8")
        shutil.copytree(GUEST.parent / "planning", Path(folder, "planning"))
        done = subprocess.run(
            [sys.executable, "-c", program, json.dumps([folder, str(GUEST)]), name],
            input=json.dumps(jobs),
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1", **more},
            capture_output=True,
            text=True,
            check=True,
        )
    found: list[list[float]] = json.loads(done.stdout.splitlines()[-1])
    return found


def section(quick: bool = False) -> None:  # noqa: FBT001, FBT002 - as all sections
    """Print two tables: the interpreter and njit, each beside the simulator."""
    jobs = {
        "vadd 1024": _vector(1024),
        "vadd 16384": _vector(16384),
        "matmul, tiled, 16": _square(16),
        "matmul, tiled, 32": _square(32),
        "histogram 500": _job(HISTOGRAM, [["x", "i4", [500]]], ["o", "i4", [16]]),
        "scan 512": _job(SCAN, [["x", "i4", [512]]], ["o", "i4", [512]]),
    }
    if not quick:
        jobs["matmul, tiled, 64"] = _square(64)
    theirs = [min(each) for each in _timed("simulator", list(jobs.values()))]
    # the first run is of one case, which a coarse clock may see as nothing
    ours = [min(each[1:]) for each in _timed("interpreter", list(jobs.values()))]
    print(f"{'CPU ms of a case':24}{'simulator':>12}{'interpreter':>14}{'ratio':>9}")
    for name, slow, fast in zip(jobs, theirs, ours, strict=True):
        print(f"{name:24}{1e3 * slow:12.1f}{1e3 * fast:14.2f}{slow / fast:8.1f}x")
    ratios = [slow / fast for slow, fast in zip(theirs, ours, strict=True)]
    print(f"{'median':50}{median(ratios):8.1f}x")
    _large(dict(zip(jobs, theirs, strict=True)), quick)


def _large(theirs: dict[str, float], quick: bool) -> None:  # noqa: FBT001 - as above
    """njit on large arrays, beside what the simulator would take at its speed on the largest it was
    asked for.
    """
    n = 1 << 20
    m = 32 if quick else 64
    jobs = [_vector(n), _square(m)]
    took = _timed("njit", jobs)
    scale = n / 16384
    rows = [
        (f"vadd {n}", theirs["vadd 16384"] * scale, took[0]),
        (f"matmul, tiled, {m}", theirs[f"matmul, tiled, {m}"], took[1]),
    ]
    print(f"{'CPU ms of a case':24}{'simulator':>12}{'njit':>14}{'ratio':>9}{'compile':>10}")
    for name, slow, times in rows:
        fast = min(times[1:])
        print(
            f"{name:24}{1e3 * slow:12.1f}{1e3 * fast:14.2f}"
            f"{slow / fast:8.0f}x{times[0] - fast:9.2f}s"
        )


if __name__ == "__main__":
    section(quick="--quick" in sys.argv)
