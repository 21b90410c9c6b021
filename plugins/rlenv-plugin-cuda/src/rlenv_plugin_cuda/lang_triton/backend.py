"""Triton kernels on the CPU: Triton's interpreter on checked memory, one fresh process of the
sandbox per answer.
"""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen
from rlenv.sandbox import Profile

from rlenv_plugin_cuda.artifacts import Program, Runs
from rlenv_plugin_cuda.backends.driving import Runner, drive, profile_of
from rlenv_plugin_cuda.box import Box
from rlenv_plugin_cuda.cases import Case
from rlenv_plugin_cuda.spec import Kernel

from .where import BOOT_FILES, files, missing, packages

__all__ = ["Triton"]

BOOT = "from rlenv_plugin_cuda.lang_triton.guest.triton_serve import serve; serve()"
MEMORY_MB = 1536
OVERHEAD_S = 1.0  # of CPU, for what is not a case
_MODULES = (
    "body", "guest/triton_functions", "guest/triton_host", "guest/triton_library",
    "guest/triton_machine", "guest/triton_rounding", "guest/triton_serve", "memory", "names",
    "races", "rules",
)  # fmt: skip


@frozen
class Triton:
    """Runs the programs of a grid one after another, in an order that the case's seed draws.

    It finds accesses out of bounds, reads of what was never written, masked elements that are used,
    races between programs, between lanes of a store, and of lanes without a barrier, written
    inputs, and kernels without an end. Neither torch nor a GPU is needed.
    """

    name: str = "triton-interpreter"

    def usable(self) -> str:
        """ "" where numpy and triton are installed, else what to install."""
        return missing()

    async def run(self, program: Program, kernel: Kernel, cases: Sequence[Case], box: Box) -> Runs:  # noqa: ARG002 - the cases know theirs
        """Every case up to the first that breaks, in one fresh process.

        Raises:
            VerifierFault: the sandbox broke.
        """
        runner = Runner(self.name, BOOT, _profile(box), OVERHEAD_S)
        return await drive(runner, program, cases, box)


def _profile(box: Box) -> Profile:
    names = (*BOOT_FILES, *(f"lang_triton/{name}" for name in _MODULES))
    return profile_of(
        box,
        OVERHEAD_S,
        preload=("rlenv_boot",),
        memory_mb=MEMORY_MB,
        pids=16,
        files=files(
            names,
            "from rlenv_plugin_cuda.lang_triton.guest.triton_serve import rehearse\nrehearse()",
        ),
        paths=packages(),
    )
