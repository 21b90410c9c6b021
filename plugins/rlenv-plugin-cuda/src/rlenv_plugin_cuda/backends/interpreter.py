"""The checked interpreter: numba kernels thread by thread, every access held against bounds, races
and poison.
"""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from rlenv_plugin_cuda.artifacts import Program, Runs
from rlenv_plugin_cuda.box import Box
from rlenv_plugin_cuda.cases import Case
from rlenv_plugin_cuda.spec import Kernel

from .driving import Runner, drive, guests, profile_of

__all__ = ["Interpreter"]

BOOT = "import kernel_runner; kernel_runner.serve()"
MODULES = (
    "kernel_body", "kernel_constants", "kernel_kinds", "kernel_lanes", "kernel_memory",
    "kernel_numbers", "kernel_plan", "kernel_rewrite", "kernel_rules", "kernel_runner",
    "kernel_row", "kernel_store", "kernel_threads", "kernel_tidy", "kernel_typed", "kernel_typing",
    "kernel_usual", "kernel_wire", "kernel_words",
)  # fmt: skip
MEMORY_MB = 512
OVERHEAD_S = 1.0  # of CPU, for what is not a case


@frozen
class Interpreter:
    """Runs every thread of a launch in one process, in an order that the case's seed draws.

    It finds accesses out of bounds and before the beginning, races in shared and global memory,
    across blocks and between plain and atomic accesses, reads of what was never written, barriers
    that not all threads reach, written inputs, blocks and shared memory beyond what a device has,
    and kernels without an end.  Numbers are held in double precision, and rounded where memory or a
    conversion rounds them.
    """

    name: str = "interpreter"

    def usable(self) -> str:
        """It needs nothing but Python."""
        return ""

    async def run(self, program: Program, kernel: Kernel, cases: Sequence[Case], box: Box) -> Runs:  # noqa: ARG002 - the cases know theirs
        """Every case up to the first that breaks, in one fresh process.

        Raises:
            VerifierFault: the sandbox broke.
        """
        profile = profile_of(
            box,
            OVERHEAD_S,
            preload=("kernel_runner",),
            memory_mb=MEMORY_MB,
            pids=8,
            files=guests(*MODULES),
        )
        return await drive(Runner(self.name, BOOT, profile, OVERHEAD_S), program, cases, box)
