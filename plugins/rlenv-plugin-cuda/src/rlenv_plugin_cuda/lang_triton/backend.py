"""Triton kernels on the CPU: Triton's interpreter on checked memory, one fresh process of the sandbox per answer."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from attrs import frozen
from rlenv.sandbox import Profile

from rlenv_plugin_cuda.artifacts import Program, Runs
from rlenv_plugin_cuda.backends.driving import drive
from rlenv_plugin_cuda.box import Box
from rlenv_plugin_cuda.cases import Case
from rlenv_plugin_cuda.spec import Kernel

from .where import BOOT_FILES, files, missing, packages

__all__ = ["Triton"]

BOOT = "from rlenv_plugin_cuda.lang_triton.serve import serve; serve()"
MEMORY_MB = 1536
OVERHEAD_S = 1.0  # of CPU, for what is not a case
_MODULES = (
    "body",
    "functions",
    "host",
    "library",
    "machine",
    "memory",
    "names",
    "races",
    "rules",
    "serve",
)


@frozen
class Triton:
    """Runs the programs of a grid one after another, in an order that the case's seed draws.

    It finds accesses out of bounds, reads of what was never written, masked elements that are used, races between
    programs, between lanes of a store, and of lanes without a barrier, written inputs, and kernels without an end.
    Neither torch nor a GPU is needed.
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
        profile = _profile(box.budget, box.min_isolation, packages())
        return await drive(self.name, BOOT, profile, program, cases, box, {"cpu_s": box.budget})


@lru_cache(8)
def _profile(budget: float, min_isolation: str, paths: tuple[str, ...]) -> Profile:
    seconds = budget + OVERHEAD_S
    names = (*BOOT_FILES, *(f"lang_triton/{name}" for name in _MODULES))
    return Profile(
        preload=("rlenv_boot",),
        cpu_s=seconds,
        wall_s=max(2 * seconds, seconds + 10.0),  # a busy machine is not the answer's doing
        memory_mb=MEMORY_MB,
        pids=16,
        output_bytes=1 << 12,
        files=files(names, "from rlenv_plugin_cuda.lang_triton.serve import rehearse\nrehearse()"),
        paths=paths,
        min_isolation=min_isolation,
    )
