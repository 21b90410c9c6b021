"""``build``: the report of an answer for one architecture, whatever its language, and once per
source.

The judge keeps reports by what they depend on: source, types, architecture, compilers and the place
they ran in. What ran out of time or memory is not kept.
"""

from __future__ import annotations

from collections import OrderedDict
from hashlib import sha256
from importlib import import_module

from rlenv import Fault, VerifierFault

from rlenv_plugin_cuda.artifacts import Program, Report
from rlenv_plugin_cuda.box import Box
from rlenv_plugin_cuda.spec import Array, Kernel

from .asking import BREAKS, LATE
from .nvrtc import cpp
from .places import apart
from .ptx import numba, shapes
from .toolchain import missing, toolchain, unsupported

__all__ = ["build", "forget"]

KEPT = 1024  # reports
KEPT_BYTES = 1 << 16  # of names and words in one that is kept
_RIGHT = {
    "cuda": (
        'extern "C" __global__ void k(const float* a, float* o) { o[threadIdx.x] ='
        " a[threadIdx.x]; }"
    ),
    "numba": (
        """from numba import cuda
@cuda.jit
def k(a, o):
    o[cuda.threadIdx.x] = a[cuda.threadIdx.x]
def run(a, o):
    k[1, 32](a, o)
"""
    ),
}
_TASK = Kernel(
    lang="numba",
    inputs=(Array("a", "f4", (32,)),),
    outputs=(Array("o", "f4", (32,)),),
    golden="return [a]",
    hidden=({},),
)
_proven: set[tuple[str, str, str]] = set()
_kept: OrderedDict[bytes, Report] = OrderedDict()


async def build(program: Program, kernel: Kernel, box: Box, arch: str) -> Report:
    """What the kernels of an answer take, or in ``problem`` what is wrong with the answer.

    Args:
        program: numba, Triton or CUDA C++.
        kernel: the task, for the types and shapes that ``run`` is given.
        box: where compilers run.
        arch: such as "sm_90".

    Raises:
        VerifierFault: no compiler is here (kind "unavailable", with the remedy), it does not know
            ``arch``, or the sandbox broke.
    """
    if program.lang == "triton":
        return await _triton(program, kernel, box, arch)
    lacking = missing(program.lang) or unsupported(program.lang, arch)
    if lacking:
        raise VerifierFault(Fault("unavailable", lacking))
    key = _key(program, kernel, box, arch)
    found = _kept.get(key)
    if found is None:
        found = await _built(program, kernel, box, arch)
        if found.problem.startswith(BREAKS):
            await _prove(program.lang, box, arch)
        _keep(key, found)
    else:
        _kept.move_to_end(key)
    return found


async def _triton(program: Program, kernel: Kernel, box: Box, arch: str) -> Report:
    try:
        compile_ = import_module("rlenv_plugin_cuda.lang_triton.build").build
    except ImportError:
        raise VerifierFault(Fault("unavailable", "Triton kernels are not compiled here")) from None
    report: Report = await compile_(program, kernel, box, arch)
    return report


async def _built(program: Program, kernel: Kernel, box: Box, arch: str) -> Report:
    if program.lang == "cuda":
        return await cpp(program, apart(box), arch)
    return await numba(program, kernel, apart(box), arch)


async def _prove(lang: str, box: Box, arch: str) -> None:
    """Compile what is known to be right: before an answer is blamed for a compiler that broke.

    Raises:
        VerifierFault: the compiler breaks on that too.
    """
    proof = (lang, arch, toolchain().identity)
    if proof in _proven:
        return
    report = await _built(Program(lang, _RIGHT[lang], 1), _TASK, box, arch)
    if report.problem:
        said = f"the compilers of {lang} kernels do not work here: {report.problem}"
        raise VerifierFault(Fault("error", said))
    _proven.add(proof)


def forget() -> None:
    """Forget all reports, and which compilers are known to work."""
    _kept.clear()
    _proven.clear()


def _key(program: Program, kernel: Kernel, box: Box, arch: str) -> bytes:
    types = shapes(kernel, program.source) if program.lang == "numba" else None
    parts = (program.lang, program.source, types, arch, toolchain().identity, repr(box))
    return sha256(repr(parts).encode("utf-8", "surrogatepass")).digest()


def _keep(key: bytes, report: Report) -> None:
    words = len(report.problem) + sum(len(kernel.kernel) for kernel in report.kernels)
    if words > KEPT_BYTES or report.problem.startswith((LATE, BREAKS)):
        return
    _kept[key] = report
    while len(_kept) > KEPT:
        _kept.popitem(last=False)
