"""CUDA C++ to an object, by NVRTC in the sandbox: no file, no header but ours, and a report that no
message can forge.
"""

from __future__ import annotations

from rlenv import Fault, VerifierFault

from rlenv_plugin_cuda.artifacts import Program, Report
from rlenv_plugin_cuda.box import Box

from .asking import BREAKS, Stopped, asked, tried
from .cpp_rules import refused
from .log import said
from .places import SECONDS, compilers
from .prelude import NAME, headers, lacking
from .report import Unclear, resources
from .scrub import complaint
from .toolchain import REMEDY

__all__ = ["COMPILER", "cpp"]

COMPILER = "nvrtc"
KERNELS = 64  # of one answer
STATIC_SHARED = 48 << 10  # bytes that a kernel may declare; more is asked for at its launch
_OK = 0
_WRONG_OPTION = 5
_WRONG_SOURCE = 6
_WORDS = ("--ptxas-options=-v", "-w", f"--pre-include={NAME}")


async def cpp(program: Program, box: Box, arch: str) -> Report:
    """The report of a CUDA C++ program, or what is wrong with it.

    Raises:
        VerifierFault: the sandbox, or the compiler, does not work.
    """
    wrong = refused(program.source)
    if wrong:
        line, said = wrong
        return Report(arch, COMPILER, (), said, line)
    header = lacking(program.source)
    if header:
        raise VerifierFault(Fault("unavailable", f"{header} is not installed here; {REMEDY}"))
    seconds = min(SECONDS, box.budget)
    profile = compilers("cuda", box.min_isolation)
    order = {
        "do": "cuda",
        "source": program.source,
        "options": [f"-arch={arch}", *_WORDS],
        "headers": headers(program.source),
    }

    async def once() -> tuple[int, str, bytes]:
        async with box.session(profile) as session:
            found = await asked(session, order, seconds)
        status = found.head.get("done")
        log = found.head.get("log")
        if type(status) is not int or type(log) is not str or len(found.parts) != 1:
            raise Stopped(BREAKS)
        return status, log, found.parts[0]

    try:
        return _report(arch, *await tried(once))
    except Stopped as stopped:
        return Report(arch, COMPILER, (), stopped.said)


def _report(arch: str, status: int, log: str, cubin: bytes) -> Report:
    if status == _WRONG_OPTION:
        raise VerifierFault(Fault("error", f"NVRTC does not take {arch} and {' '.join(_WORDS)}"))
    if status == _WRONG_SOURCE:
        told = complaint(log)
        return Report(arch, COMPILER, (), _too_much(log) or told.said, told.line)
    if status != _OK:
        return Report(arch, COMPILER, (), f"{BREAKS}: status {status}")
    try:
        kernels = resources(cubin, log)
    except Unclear as unclear:
        return Report(arch, COMPILER, (), f"{BREAKS}: {unclear}")
    if not 1 <= len(kernels) <= KERNELS:
        return Report(
            arch, COMPILER, (), f"{len(kernels)} kernels (__global__); from 1 to {KERNELS} are read"
        )
    return Report(arch, COMPILER, kernels)


def _too_much(log: str) -> str:
    """What the assembler refused without a word: the log then ends with its figures."""
    for name, words in said(log).items():
        if words.shared > STATIC_SHARED:
            return (
                f"{name:.80}: {words.shared} bytes of static shared memory; {STATIC_SHARED} is the"
                " most"
            )
    return ""
