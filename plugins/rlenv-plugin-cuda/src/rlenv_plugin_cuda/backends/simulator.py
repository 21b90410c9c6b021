"""numba's own simulator, as a cross-check of the interpreter: slow, and blind to most of what is
wrong.
"""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen
from rlenv.sandbox import Profile

from rlenv_plugin_cuda.artifacts import Program, Runs
from rlenv_plugin_cuda.box import Box
from rlenv_plugin_cuda.building.places import apart
from rlenv_plugin_cuda.cases import Case
from rlenv_plugin_cuda.spec import Kernel

from .driving import Runner, drive, guests, profile_of
from .interpreter import MODULES
from .packages import folders, where

__all__ = ["Simulator"]

BOOT = "import kernel_simulated; kernel_simulated.serve()"
MEMORY_MB = 1024
OVERHEAD_S = 3.0  # of CPU, for what is not a case
REHEARSED = b"import kernel_simulated\nkernel_simulated.rehearse()\n"


@frozen
class Simulator:
    """Runs the source as it is on numba's simulator.

    There is a thread of the system for each thread of a block.

    It finds accesses out of bounds and written inputs, and little else: negative indices wrap
    around, races and divergent barriers pass.  Two shared arrays that are declared on one line are
    one to it, and it has few operations of warps.  Use it to compare with, not to decide.
    """

    name: str = "simulator"

    def usable(self) -> str:
        """ "" or that numba is not installed."""
        return "" if folders() else "numba is not installed: pip install numba"

    async def run(self, program: Program, kernel: Kernel, cases: Sequence[Case], box: Box) -> Runs:  # noqa: ARG002 - as every backend
        """Every case up to the first that breaks, in one fresh process.

        Raises:
            VerifierFault: the sandbox broke.
        """
        runner = Runner(self.name, BOOT, _profile(box), OVERHEAD_S, contracts=False)
        return await drive(runner, program, cases, apart(box))


def _profile(box: Box) -> Profile:
    return profile_of(
        box,
        OVERHEAD_S,
        preload=("kernel_rehearsed",),
        memory_mb=MEMORY_MB,
        pids=1100,  # a thread for each of a block
        files=(*guests(*MODULES, "kernel_simulated"), where(), ("kernel_rehearsed.py", REHEARSED)),
        paths=folders(),
    )
