"""GPU kernels: comparing outputs against numpy and torch, the checked interpreter, the compile
gate, a verification.

Each section prints one table. Times of the comparison are CPU milliseconds of one thread, taken
turn by turn, with the time to read both arrays once beside them; torch is run by an interpreter
named in RLENV_PEERS that has it.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[0] = str(ROOT)  # so that `benchmarks` is a package

import argparse
import importlib
import json
import os
import statistics
import subprocess
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from rlenv_plugin_cuda.compare import difference
from rlenv_plugin_cuda.jit import measures
from rlenv_plugin_cuda.spec import Tolerance

SECTIONS = ("cuda_interpreter", "cuda_build", "cuda_verification")
PEER = Path(__file__).parent / "peers" / "torch_allclose.py"
NEAR = Tolerance(1e-6, 1e-4)
GOALS = {"numpy": 6.0, "torch": 15.0, "read": 0.5}  # of the gate, at 1e7


def reading() -> Callable[[NDArray[Any]], float]:
    """What reads an array once and does least with it: a compiled sum."""
    import numba

    @numba.njit(fastmath={"reassoc"})
    def total(values: Any) -> Any:
        found = np.float32(0)
        for i in range(values.size):
            found += values[i]
        return found

    found: Callable[[NDArray[Any]], float] = total
    return found


def turns(ways: Mapping[str, Callable[[], object]], repeat: int) -> dict[str, float]:
    """Median CPU milliseconds of each way, all of them taken in turn."""
    times: dict[str, list[float]] = {name: [] for name in ways}
    for turn in range(repeat + 1):
        for name, way in ways.items():
            start = time.process_time()
            way()
            if turn:
                times[name].append((time.process_time() - start) * 1e3)
    return {name: statistics.median(found) for name, found in times.items()}


def torch_times(sizes: list[int], repeat: int) -> dict[str, Any]:
    """CPU milliseconds by size, {} where no interpreter has torch."""
    for python in filter(None, os.environ.get("RLENV_PEERS", "").split(os.pathsep)):
        done = subprocess.run(
            [python, str(PEER), json.dumps([sizes, repeat])],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode == 0:
            found: dict[str, Any] = json.loads(done.stdout)
            return found
    return {}


def comparison(*, quick: bool) -> None:
    """Comparing float32 outputs, all of them right: the gate, and the full report."""
    sizes = [10**6] if quick else [10**6, 10**7, 10**8]
    repeat = 3 if quick else 11
    torch = torch_times(sizes, repeat)
    total = reading()
    measures(1, jit=True)
    table = Table(title="Comparing float32: CPU ms, and how many times faster than the others")
    for column in ("elements", "way", "ms", "np.allclose", "torch", "of read bandwidth"):
        table.add_column(column, justify="left" if column == "way" else "right")
    for n in sizes:
        rng = np.random.default_rng(0)
        want = rng.standard_normal(n, dtype="f4")
        got = want * (1 + np.float32(1e-6) * rng.standard_normal(n, dtype="f4"))
        times = turns(_ways(got, want, total), max(3, repeat // 3) if n == 10**8 else repeat)
        if other := torch.get(str(n)):
            times["torch.allclose"] = other
        for way, spent in times.items():
            against = f"{other / spent:.1f}x" if other else "-"
            share = f"{times['read both'] / spent:.0%}"
            table.add_row(
                f"{n:.0e}",
                way,
                f"{spent:.2f}",
                f"{times['np.allclose'] / spent:.1f}x",
                against,
                share,
            )
        if n == 10**7:
            _goals(times, other)
    Console().print(table)
    print(
        "torch " + torch["torch"]
        if torch
        else "torch was not measured: no interpreter in RLENV_PEERS has it"
    )


def _ways(
    got: NDArray[Any], want: NDArray[Any], total: Callable[[NDArray[Any]], float]
) -> dict[str, Callable[[], object]]:
    def compared(**options: Any) -> Callable[[], object]:
        return lambda: difference(got, want, "f4", NEAR, **options)

    return {
        "read both": lambda: (total(got), total(want)),
        "np.allclose": lambda: np.allclose(got, want, 1e-4, 1e-6),
        "gate": compared(jit=True),
        "with ULP and all": compared(jit=True, full=True),
        "without numba": compared(jit=False),
    }


def _goals(times: Mapping[str, float], torch: float | None) -> None:
    """Which goals the gate reaches at 1e7."""
    found = {
        "numpy": times["np.allclose"] / times["gate"],
        "read": times["read both"] / times["gate"],
    }
    if torch:
        found["torch"] = torch / times["gate"]
    for name, ratio in found.items():
        print(
            f"1e7, gate against {name}: {ratio:.2f}, goal {GOALS[name]}:"
            f" {'reached' if ratio >= GOALS[name] else 'MISSED'}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="few samples: shows that everything runs"
    )
    parser.add_argument(
        "--only", default="", help="one section: comparison, interpreter, build or verification"
    )
    options = parser.parse_args()
    if options.only in ("", "comparison"):
        comparison(quick=options.quick)
    for name in SECTIONS:
        there = (Path(__file__).parent / f"{name}.py").is_file()
        if there and options.only in ("", name.removeprefix("cuda_")):
            importlib.import_module(f"benchmarks.{name}").section(quick=options.quick)


if __name__ == "__main__":
    main()
