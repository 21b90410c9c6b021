"""Kernels compiled by numba for this machine's processor: for arrays that are too large to
interpret.
"""

from __future__ import annotations

from collections.abc import Sequence

from attrs import evolve, frozen
from rlenv.sandbox import Profile

from rlenv_plugin_cuda.artifacts import Program, Runs
from rlenv_plugin_cuda.box import Box
from rlenv_plugin_cuda.building.places import apart
from rlenv_plugin_cuda.cases import Case
from rlenv_plugin_cuda.spec import Kernel

from .driving import Runner, drive, guests, profile_of
from .interpreter import MODULES, Interpreter
from .packages import folders, where

__all__ = ["Njit"]

BOOT = "import kernel_native; kernel_native.serve()"
NATIVE = (*MODULES, "kernel_device", "kernel_lower", "kernel_native")
MEMORY_MB = 2048
OVERHEAD_S = 8.0  # of CPU, for the compiler, with and without contraction
REHEARSED = b"import kernel_native\nkernel_native.rehearse()\n"
BEYOND = "not for njit:"
PROBE = 2048  # elements of a case that is run once more, for its races


@frozen
class Njit:
    """Runs all threads of a launch as compiled loops.

    A kernel with barriers is a generator per thread.

    It finds indices out of bounds and before the beginning, written inputs, barriers that not all
    threads reach and kernels without an end.  It does not see races and reads of what was never
    written as such: orders are drawn and memory is poisoned, so that what depends on them is wrong,
    and the largest case is interpreted once more on a smaller shape, for its races.  What it cannot
    lower (a barrier in a device function, an operation of a warp in the test of a loop) is
    interpreted.
    """

    name: str = "njit"

    def usable(self) -> str:
        """ "" or that numba is not installed."""
        return "" if folders() else "numba is not installed: pip install numba"

    async def run(self, program: Program, kernel: Kernel, cases: Sequence[Case], box: Box) -> Runs:
        """Every case up to the first that breaks, in one fresh process.

        Raises:
            VerifierFault: the sandbox broke.
        """
        if kernel.halves:
            return await Interpreter().run(program, kernel, cases, box)
        runner = Runner(self.name, BOOT, _profile(box), OVERHEAD_S)
        runs = await drive(runner, program, cases, apart(box))
        if runs.refused.startswith(BEYOND):
            return await Interpreter().run(program, kernel, cases, box)
        if runs.refused or not cases or any(trial.broken for trial in runs.trials):
            return runs
        return await _raced(runs, program, kernel, cases, box)


async def _raced(
    runs: Runs, program: Program, kernel: Kernel, cases: Sequence[Case], box: Box
) -> Runs:
    """The same, or a race that the interpreter finds on a smaller shape.

    What else is wrong there is not counted.
    """
    case = max(cases, key=lambda each: each.elements)
    probe = _shrunk(case)
    if probe.elements > PROBE:
        return runs
    found = await Interpreter().run(program, kernel, [probe], box)
    first = found.trials[0] if found.trials else None
    if first is None or first.broken != "race":
        return runs
    broken = evolve(runs.trials[0], outputs=None, broken="race", said=first.said, line=first.line)
    return evolve(runs, trials=(broken, *runs.trials[1:]))


def _shrunk(case: Case) -> Case:
    """A case of fewer elements: its largest size is halved as often as it takes."""
    sizes = dict(case.sizes)
    while case.elements > PROBE and max(sizes.values(), default=1) > 1:
        largest = max(sizes, key=lambda name: sizes[name])
        sizes[largest] = (sizes[largest] + 1) // 2
        case = evolve(case, sizes=dict(sizes))
    return case


def _profile(box: Box) -> Profile:
    return profile_of(
        box,
        OVERHEAD_S,
        preload=("kernel_rehearsed",),
        memory_mb=MEMORY_MB,
        pids=32,
        files=(*guests(*NATIVE), where(), ("kernel_rehearsed.py", REHEARSED)),
        paths=folders(),
    )
