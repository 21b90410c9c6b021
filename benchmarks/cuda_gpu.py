"""Kernels on a real GPU: are clocks honest, do cheats get nothing, does a device recover, how much
do times vary.

Needs a GPU, its driver and NVRTC, and says so where they are not.  Exits with 1 where a check
fails.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parents[1])  # so that `benchmarks` is a package

import asyncio
import time
from collections.abc import Awaitable, Callable
from statistics import median

import click
from attrs import define, field
from rich.console import Console
from rich.table import Table
from rlenv.model.errors import VerifierFault
from rlenv.model.values import Task
from rlenv.sandbox import close_all
from rlenv_plugin_cuda.artifacts import Program
from rlenv_plugin_cuda.box import Box
from rlenv_plugin_cuda.building.toolchain import missing
from rlenv_plugin_cuda.cases import Case, cases_of
from rlenv_plugin_cuda.clocks import Measured
from rlenv_plugin_cuda.compare import differences
from rlenv_plugin_cuda.golden import golden_of
from rlenv_plugin_cuda.gpu import measuring, process, sanitizer
from rlenv_plugin_cuda.gpu.backend import Gpu
from rlenv_plugin_cuda.gpu.device import absent
from rlenv_plugin_cuda.gpu.objects import objects
from rlenv_plugin_cuda.lang_cuda.rules import joined
from rlenv_plugin_cuda.reading import kernel_of
from rlenv_plugin_cuda.spec import Kernel

HEAD = 'extern "C" __global__ void {0}(const float* a, float c, float* o, int n)'
INDEX = "int i = blockIdx.x * blockDim.x + threadIdx.x;"
BODIES = {
    "honest": f"{INDEX} if (i < n) o[i] = a[i] * c;",
    "beyond": f"{INDEX} if (i < n) o[i] = a[i] * c; if (i == 0) o[n] = 1;",
    "before": f"{INDEX} if (i < n) o[i] = a[i] * c; if (i == 0) o[-1] = 1;",
    "input": f"{INDEX} if (i < n) o[i] = a[i] * c; if (i == 0) ((float*)a)[0] += 1;",
    "trap": "__trap();",
    "endless": "for (volatile int x = 0; ; x = x + 1) { if (x < 0) o[0] = 1; }",
    "nothing": "",
    "tired": (
        f"__shared__ int none; none = 0; {INDEX} if (i == 0) count++; if (i < n && count < 20) o[i]"
        " = a[i] * c;"
    ),
    "moody": (
        f"{INDEX} if (i < n) o[i] = a[i] * c; __syncthreads(); if (i == 0) o[0] = (float)clock64();"
    ),
}
BROKEN = {
    "beyond": "bounds",
    "before": "bounds",
    "input": "input",
    "trap": "trap",
    "endless": "endless",
}
# what a kernel that counts its launches keeps is gone with its module: it is right each time, and
# no faster
UNPAID = ("beyond", "input", "trap", "endless", "nothing", "moody")
RACE = (
    "__shared__ float s[64]; s[threadIdx.x] = a[threadIdx.x]; o[threadIdx.x] = s[63 - threadIdx.x];"
)
SPREAD_GOAL = 0.02


@define
class Bench:
    """Rows of one table, and whether all checks held."""

    box: Box
    kernel: Kernel
    cases: tuple[Case, ...]
    table: Table = field(
        factory=lambda: Table("check", "figure", "goal", "", title="Kernels on a GPU")
    )
    failed: list[str] = field(factory=list)

    def row(self, name: str, figure: str, goal: str = "", *, good: bool | None = None) -> None:
        """One line; ``good`` None is a figure without a goal."""
        self.table.add_row(name, figure, goal, {None: "", True: "yes", False: "NO"}[good])
        if good is False:
            self.failed.append(name)

    def largest(self) -> list[Case]:
        """The cases that are timed."""
        most = max(case.elements for case in self.cases)
        return [case for case in self.cases if case.elements == most]


def program(name: str, body: str = "") -> Program:
    """A CUDA C++ answer."""
    extra = "__device__ int count;\n" if name == "tired" else ""
    text = f"{extra}{HEAD.format(name)} {{ {body or BODIES[name]} }}\n"
    return Program("cuda", joined(text, plan(name)))


def plan(name: str) -> str:
    """Its launch plan."""
    return f"def run(a, c, o):\n    {name}[(o.size + 255) // 256, 256](a, c, o, o.size)\n"


def baseline() -> str:
    """The honest kernel, as a response has it."""
    code = f"{HEAD.format('honest')} {{ {BODIES['honest']} }}"
    return f"```cuda\n{code}\n```\n```python\n{plan('honest')}```\n"


async def contexts(bench: Bench) -> None:
    """What a process with a context costs."""
    times = []
    for _ in range(5):
        begun = time.perf_counter()
        found = await process.about(bench.box, fresh=True)
        times.append(time.perf_counter() - begun)
    bench.row("device", f"{found.name} {found.arch}, L2 {found.l2 >> 20} MiB")
    bench.row(
        "a process and a context", f"{median(times):.3f} s", "<= 0.5 s", good=median(times) <= 0.5
    )


async def runs(bench: Bench) -> None:
    """Honest kernels come back right, others are named, and the device answers afterwards."""
    golden = golden_of(bench.kernel)
    found = await Gpu().run(program("honest"), bench.kernel, bench.cases, bench.box)
    right = not found.refused and all(
        trial.outputs is not None
        and all(
            d.equal
            for d in differences(bench.kernel, trial.outputs, golden(case.values, case.sizes))
        )
        for case, trial in zip(bench.cases, found.trials, strict=True)
    )
    bench.row(
        "an honest kernel on every case",
        found.refused or f"{len(found.trials)} cases",
        "right",
        good=right,
    )
    bench.row("isolation", found.isolation)
    for name, wanted in BROKEN.items():
        begun = time.perf_counter()
        ended = await Gpu().run(program(name), bench.kernel, bench.cases[:1], bench.box)
        seconds = time.perf_counter() - begun
        said = ended.trials[-1].broken if ended.trials else ended.refused
        after = await Gpu().run(program("honest"), bench.kernel, bench.cases[:1], bench.box)
        good = said == wanted and after.trials[0].outputs is not None
        bench.row(f"{name}, and honest after it", f"{said}, {seconds:.2f} s", wanted, good=good)


async def timed(bench: Bench, name: str, against: str) -> Measured:
    """One measurement."""
    return await measuring.Gpu().measure(
        program(name), bench.kernel, bench.largest(), bench.box, baseline=against, cap=4.0
    )


async def clocks(bench: Bench) -> None:
    """A kernel is as fast as itself; 200 pairs vary little; nobody who cheats is paid."""
    measuring.PAIRS = 200
    found = await timed(bench, "honest", baseline())
    width = (found.data["high"] - found.data["low"]) / 2 / found.data["ratio"]
    near = abs(found.data["ratio"] - 1) <= SPREAD_GOAL
    bench.row(
        "200 pairs of a kernel and itself",
        f"{found.data['ratio']:.4f} +- {width:.2%}",
        "1 +- 2%",
        good=near and width <= SPREAD_GOAL,
    )
    measuring.PAIRS = 20
    alone = await timed(bench, "honest", "")
    bench.row(
        "against the roofline",
        f"{alone.data['ratio']:.3f} of memory's speed, {alone.data['own_us']} us",
    )
    for name in UNPAID:
        cheat = await timed(bench, name, baseline())
        bench.row(
            f"timed: {name}",
            cheat.problem[:60] or f"{cheat.score:.2f}",
            "0",
            good=cheat.score == 0 and bool(cheat.problem),
        )
    tired = await timed(bench, "tired", baseline())
    bench.row(
        "timed: tired",
        tired.problem[:60] or f"{tired.score:.3f}",
        "<= 0.02",
        good=tired.score <= SPREAD_GOAL,
    )


async def sanitized(bench: Bench) -> None:
    """What compute-sanitizer confirms."""
    if sanitizer.missing():
        bench.row("compute-sanitizer", f"not run: {sanitizer.missing()}")
        return
    device = await process.about(bench.box)
    small = min(bench.cases, key=lambda case: case.elements)
    for tool, name, body, wanted in (
        ("memcheck", "honest", "", ""),
        ("memcheck", "beyond", "o[1 << 28] = 1;", "bounds"),
        ("racecheck", "race", RACE, "race"),
        ("synccheck", "honest", "", ""),
    ):
        text = program(name, body)
        if name == "race":
            text = Program("cuda", text.source.replace("256](a", "64](a"))
        ready = await objects(text, [small], bench.box, device.arch)
        try:
            found = await sanitizer.sanitized(ready, [small], tool)
        except (RuntimeError, TimeoutError, OSError) as error:
            bench.row(f"{tool}: {name}", f"not run: {error}"[:100])
            continue
        kinds = {one.kind for one in found}
        good = wanted in kinds if wanted else not kinds
        bench.row(
            f"{tool}: {name}", ", ".join(sorted(kinds)) or "nothing", wanted or "nothing", good=good
        )


SECTIONS: tuple[Callable[[Bench], Awaitable[None]], ...] = (contexts, runs, clocks, sanitized)


async def _all(bench: Bench) -> None:
    for section in SECTIONS:
        try:
            await section(bench)
        except VerifierFault as fault:
            bench.row(section.__name__, str(fault.fault)[:200], "no fault", good=False)


def _bench(elements: int, isolation: str) -> Bench:
    info = {
        "lang": "cuda",
        "inputs": [["a", "f4", ["n"]], ["c", "scalar", []]],
        "outputs": [["o", "f4", ["n"]]],
        "golden": "return [a * c]",
        "hidden": [{"n": elements}, {"n": 300}],
        "tol": {"atol": 1e-6, "rtol": 1e-5},
    }
    kernel = kernel_of(Task(id="gpu", prompt="", info={"kernel": info}))
    lowest = "process" if isolation == "process" else "jail"
    return Bench(Box(isolation, {}, lowest, 5.0), kernel, cases_of(kernel, bytes(32)))


@click.command()
@click.option("--elements", default=1 << 24, show_default=True, help="Of an array that is timed.")
@click.option(
    "--isolation", default="jail", show_default=True, help="Of the process that launches."
)
@click.option("--driver", default="", help="Another library in place of the driver's, to rehearse.")
def main(elements: int, isolation: str, driver: str) -> None:
    """Check what needs a GPU, and print figures."""
    console = Console(width=140)
    lacking = missing("cuda") or ("" if driver else absent())
    if lacking:
        console.print(f"nothing was run: {lacking}", soft_wrap=True)
        return
    if driver:
        process.LOADED.append(driver)
    bench = _bench(elements, isolation)
    try:
        asyncio.run(_all(bench))
    finally:
        close_all()
    console.print(bench.table)
    if bench.failed:
        console.print(f"{len(bench.failed)} checks failed: {', '.join(bench.failed)}")
        sys.exit(1)


if __name__ == "__main__":
    main()
