"""The compile gate: a whole report in the jail against nvcc for the same sources, in one run, and
numba's.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parents[1])  # so that `benchmarks` is a package

import asyncio
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Coroutine

from rich.console import Console
from rich.table import Table
from rlenv.sandbox import close_all
from rlenv_plugin_cuda.artifacts import Program, Report, Resources
from rlenv_plugin_cuda.box import Box
from rlenv_plugin_cuda.building.builder import build, forget
from rlenv_plugin_cuda.building.log import said
from rlenv_plugin_cuda.building.report import resources
from rlenv_plugin_cuda.building.toolchain import missing, toolchain
from rlenv_plugin_cuda.spec import Array, Kernel

ARCH = "sm_90"
GOALS = {"cuda": 0.2, "numba": 0.8}  # seconds, warm, for small kernels
HEAD = 'extern "C" __global__ void {bounds} k(const float* a, const float* b, float* o, int n) '
_INDEX = "int i = blockIdx.x * blockDim.x + threadIdx.x; "
_LIVE = (
    "float x[128]; for (int i = 0; i < 128; i++) x[i] = a[i * 1024 + threadIdx.x]; for (int j = 0;"
    " j < 8; j++) for (int i = 0; i < 128; i++) x[i] = x[(i + 1) % 128] * x[i] + b[j]; float s = 0;"
    " for (int i = 0; i < 128; i++) s += x[i] * x[127 - i]; o[threadIdx.x] = s;"
)
CPP = {
    "vadd": ("", _INDEX + "if (i < n) o[i] = a[i] + b[i];"),
    "tiled matmul": (
        "__launch_bounds__(256)",
        (
            "__shared__ float s[16][17], t[16][16]; float c = 0; int x = threadIdx.x, y ="
            " threadIdx.y;for (int k = 0; k < n; k += 16) { s[y][x] = a[y * n + k + x]; t[y][x] ="
            " b[(k + y) * n + x];__syncthreads(); for (int j = 0; j < 16; j++) c += s[y][j] *"
            " t[j][x]; __syncthreads(); }o[y * n + x] = c;"
        ),
    ),
    "softmax": (
        "",
        (
            "__shared__ float s[256]; int x = threadIdx.x; float m = -1e30f, e = 0;for (int i = x;"
            " i < n; i += 256) m = fmaxf(m, a[i]); s[x] = m; __syncthreads();for (int d = 128; d; d"
            " /= 2) { if (x < d) s[x] = fmaxf(s[x], s[x + d]); __syncthreads(); }m = s[0];"
            " __syncthreads(); for (int i = x; i < n; i += 256) e += expf(a[i] - m); s[x] ="
            " e;__syncthreads(); for (int d = 128; d; d /= 2) { if (x < d) s[x] += s[x + d];"
            " __syncthreads(); }for (int i = x; i < n; i += 256) o[i] = expf(a[i] - m) / s[0];"
        ),
    ),
    "sine": ("", _INDEX + "if (i < n) o[i] = sinf(a[i]) * powf(b[i], a[i]);"),
    "128 live floats": ("", _LIVE),
    "128 live floats, 1024 threads": ("__launch_bounds__(1024)", _LIVE),
}
NUMBA = """import math
from numba import cuda, float32
@cuda.jit
def k(a, b, o, n):
{body}
def run(a, b, o):
    k[(o.size + 127) // 128, 128](a, b, o, o.size)
"""
BODIES = {
    "vadd": "i = cuda.grid(1)\nif i < n:\n    o[i] = a[i] + b[i]",
    "block sum": (
        "s = cuda.shared.array(128, float32)\nx = cuda.threadIdx.x\ni = cuda.grid(1)\ns[x] = a[i]"
        " if i < n else 0\ncuda.syncthreads()\nd = 64\nwhile d > 0:\n    if x < d:\n        s[x] +="
        " s[x + d]\n    cuda.syncthreads()\n    d //= 2\nif x == 0:\n    cuda.atomic.add(o, 0,"
        " s[0])"
    ),
    "sine": "i = cuda.grid(1)\nif i < n:\n    o[i] = math.sin(a[i]) * math.pow(b[i], a[i])",
}
TASK = Kernel(
    "numba",
    (Array("a", "f4", ("n",)), Array("b", "f4", ("n",))),
    (Array("o", "f4", ("n",)),),
    "return [a]",
    hidden=({"n": 257},),
)


def section(quick: bool) -> None:  # noqa: FBT001 - benchmarks/cuda.py calls all of them so
    """Print the tables."""
    with asyncio.Runner() as runner:
        print(f"wall time; load of this machine now: {os.getloadavg()[0]:.1f}")
        _cpp(runner.run, 3 if quick else 9)
        _numba(runner.run, 3 if quick else 9)
    close_all()


Run = Callable[[Coroutine[object, object, Report]], Report]


def _cpp(run: Run, repeat: int) -> None:
    if missing("cuda"):
        print(missing("cuda"))
        return
    table = Table(
        "CUDA C++, " + ARCH, "report", "nvcc", "faster", "registers", "stack", "spills", "the same?"
    )
    for name, (bounds, body) in CPP.items():
        source = HEAD.replace("{bounds}", bounds) + "{ " + body + " }\n"
        report, seconds = _timed(run, "cuda", source, repeat)
        (kernel,) = report.kernels
        theirs, slow = _nvcc(source)
        same = "yes" if theirs == kernel else f"NO: {theirs}"
        if theirs is None:
            same = "no nvcc here"
        spills = f"{kernel.spill_stores}+{kernel.spill_loads}"
        ratio = f"{slow / seconds:.0f}x" if theirs else ""
        row = (name, f"{1e3 * seconds:.0f} ms", f"{slow:.2f} s", ratio, str(kernel.registers))
        table.add_row(*row, str(kernel.stack), spills, same)
    Console(width=120).print(table)
    print(f"a report of a small kernel, warm: at most {GOALS['cuda']} s is the goal")


def _timed(run: Run, lang: str, source: str, repeat: int) -> tuple[Report, float]:
    """The report, and the median of the wall seconds that it takes in a warm place."""
    times = []
    for _ in range(repeat + 1):
        forget()
        start = time.perf_counter()
        report = run(build(Program(lang, source), TASK, Box(), ARCH))
        times.append(time.perf_counter() - start)
    assert not report.problem, report.problem
    return report, statistics.median(times[1:])


def _nvcc(source: str) -> tuple[Resources | None, float]:
    """What nvcc beside our ptxas says of the kernel, and the seconds that it takes."""
    nvcc = Path(toolchain().ptxas).with_name("nvcc") if toolchain().ptxas else Path()
    if not nvcc.is_file():
        return None, 0.0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "k.cu")
        path.write_text(source, "utf-8")
        words = [
            str(nvcc),
            "-cubin",
            f"-arch={ARCH}",
            "-Xptxas",
            "-v",
            "-o",
            f"{path}bin",
            str(path),
        ]
        start = time.perf_counter()
        done = subprocess.run(words, capture_output=True, text=True, check=True)
        seconds = time.perf_counter() - start
        (kernel,) = resources(Path(f"{path}bin").read_bytes(), done.stderr)
    assert said(done.stderr)
    return kernel, seconds


def _numba(run: Run, repeat: int) -> None:
    if missing("numba"):
        print(missing("numba"))
        return
    table = Table("numba, " + ARCH, "cold", "report", "registers", "shared", "stack")
    cold = ""
    for name, body in BODIES.items():
        lines = "\n".join(f"    {line}" for line in body.split("\n"))
        source = NUMBA.replace("{body}", lines)
        start = time.perf_counter()
        run(build(Program("numba", source), TASK, Box(), ARCH))
        cold = cold or f"{time.perf_counter() - start:.2f} s"
        report, seconds = _timed(run, "numba", source, repeat)
        kernel = report.kernels[0]
        row = (name, cold, f"{1e3 * seconds:.0f} ms", str(kernel.registers))
        table.add_row(*row, str(kernel.shared), str(kernel.stack))
        cold = "-"
    Console(width=120).print(table)
    print(f"a report of a small kernel, warm: at most {GOALS['numba']} s is the goal")


if __name__ == "__main__":
    section(quick=False)
