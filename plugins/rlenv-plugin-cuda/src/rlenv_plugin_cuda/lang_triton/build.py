"""What Triton's compiler makes of an answer, without a GPU: registers, shared memory, stack and
spills of every version.

Triton compiles to PTX in one place of the sandbox, the assembler of its wheel makes objects in
another, and the judge reads these as for the other languages.  Shared memory is what a launch of
the kernel asks for.
"""

from __future__ import annotations

import json
import re
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from functools import lru_cache
from hashlib import sha256

from attrs import evolve
from rlenv import Fault, VerifierFault
from rlenv.sandbox import Profile

from rlenv_plugin_cuda.artifacts import Program, Report, Resources
from rlenv_plugin_cuda.box import Box
from rlenv_plugin_cuda.building.asking import BREAKS, LATE, Asked, Stopped, asked, ran, tried
from rlenv_plugin_cuda.building.places import FRAME_BYTES, PATIENCE, apart
from rlenv_plugin_cuda.building.ptx import Refused as Wrong
from rlenv_plugin_cuda.building.ptx import assembled, shapes
from rlenv_plugin_cuda.building.report import worst
from rlenv_plugin_cuda.spec import Kernel

from .rules import Refused, read
from .where import BOOT_FILES, REMEDY, assembler, files, missing, packages, tools

__all__ = ["COMPILER", "build"]

COMPILER = "triton"
BOOT = "from rlenv_plugin_cuda.lang_triton.guest.triton_aot import serve; serve()"
ARCHES = re.compile(r"sm_(7[05]|8[0679]|9[0]a?|1[02][0-9][af]?)")
MOST_SHARED = 227 << 10  # bytes of a block, on the largest devices
SECONDS = 20.0  # of CPU, for one answer
MEMORY_MB = 2048
KEPT = 256  # reports
_MODULES = ("body", "guest/triton_aot", "names", "rules", "tracing")
_PREFIX = re.compile(rb"^ptxas-\w+ info", re.M)
_TARGET = re.compile(rb"^\.target (sm_[0-9]+[af]?)", re.M)
_SHELL = ("/bin/sh", "-c", '"$@" >&2 && exec cat kernel.cubin', "sh")
_RIGHT = """import triton
import triton.language as tl
@triton.jit
def k(x, o):
    tl.store(o, tl.load(x))
def run(x, o):
    k[(1,)](x, o)
"""
_kept: OrderedDict[bytes, Report] = OrderedDict()


async def build(program: Program, kernel: Kernel, box: Box, arch: str) -> Report:
    """The report of a Triton program for all versions that its ``run`` launches, or what is wrong
    with it.

    Raises:
        VerifierFault: Triton is not here (kind "unavailable", with the remedy), or the sandbox
            broke.
    """
    lacking = missing()
    if lacking:
        raise VerifierFault(Fault("unavailable", f"no compiler of Triton kernels: {lacking}"))
    if not ARCHES.fullmatch(arch):
        raise VerifierFault(Fault("unavailable", f"Triton does not compile for {arch}: {REMEDY}"))
    try:
        read(program.source)
    except Refused as refused:
        return Report(arch, COMPILER, (), refused.said, refused.line)
    order = {"source": program.source, "cases": shapes(kernel, program.source), "arch": arch}
    key = sha256(json.dumps([order, repr(box), packages()]).encode()).digest()
    if key not in _kept:
        found = await _built(order, box, arch)
        if found.problem.startswith(BREAKS):
            await _prove(box, arch)
        if found.problem.startswith((LATE, BREAKS)):
            return found
        _kept[key] = found
        if len(_kept) > KEPT:
            _kept.popitem(last=False)
    return _kept[key]


async def _prove(box: Box, arch: str) -> None:
    """Compile what is known to be right, before an answer is blamed for a compiler that broke.

    Raises:
        VerifierFault: the compiler breaks on that too.
    """
    cases = [[["f4", [64], None], ["f4", [1], None]]]
    found = await _built({"source": _RIGHT, "cases": cases, "arch": arch}, box, arch)
    if found.problem:
        said = f"the compiler of Triton kernels does not work here: {found.problem}"
        raise VerifierFault(Fault("error", said))


async def _built(order: Mapping[str, object], box: Box, arch: str) -> Report:
    profile = _profile(box.min_isolation, packages())

    async def once() -> Asked:
        async with apart(box).session(profile) as session:
            return await asked(session, order, SECONDS, BOOT)

    try:
        found = await tried(once)
        made = _listed(found)
        if isinstance(made, Report):
            return evolve(made, arch=arch)
        built = await tried(lambda: _assembled(made, box))
        return _report(arch, made, built)
    except Stopped as stopped:
        return Report(arch, COMPILER, (), stopped.said)
    except Wrong as wrong:
        return Report(arch, COMPILER, (), wrong.said)


@lru_cache(8)
def _profile(min_isolation: str, paths: tuple[str, ...]) -> Profile:
    names = (*BOOT_FILES, *(f"lang_triton/{name}" for name in _MODULES))
    return Profile(
        preload=("rlenv_boot",),
        cpu_s=SECONDS,
        wall_s=PATIENCE * SECONDS,
        memory_mb=MEMORY_MB,
        pids=64,
        output_bytes=1 << 12,
        files=files(
            names, "from rlenv_plugin_cuda.lang_triton.guest.triton_aot import rehearse\nrehearse()"
        ),
        paths=paths,
        min_isolation=min_isolation,
    )


def _listed(found: Asked) -> list[tuple[str, int, bytes]] | Report:
    """(kernel, bytes of shared memory, PTX) of every version."""
    head = found.head
    if "refused" in head:
        line = head.get("line")
        said = "".join(c if c.isprintable() else "?" for c in str(head["refused"]))[:300]
        return Report(
            "", COMPILER, (), said, line if type(line) is int and 0 <= line < 1 << 20 else 0
        )
    listed = head.get("kernels")
    if type(listed) is not list or len(listed) != len(found.parts) or not listed:
        raise Stopped(BREAKS)
    made = []
    for entry, text in zip(listed, found.parts, strict=True):
        name = entry.get("name")
        shared = entry.get("shared")
        if type(name) is not str or type(shared) is not int or shared < 0:
            raise Stopped(BREAKS)
        made.append((name[:100], shared, text))
    return made


async def _assembled(made: Sequence[tuple[str, int, bytes]], box: Box) -> list[Resources]:
    folder = tools()
    built = []
    left = SECONDS
    async with apart(box).session(_assembler(box.min_isolation, folder)) as session:
        for _, _, text in made:
            target = _TARGET.search(text)
            if target is None:
                raise Stopped(BREAKS)
            arch = target[1].decode()
            tool = assembler(folder, int(re.sub(r"[^0-9]", "", arch)))
            words = [*_SHELL, tool, "-v", f"-arch={arch}", "kernel.ptx", "-o", "kernel.cubin"]
            exit_ = await ran(session, words, {"kernel.ptx": text}, max(left, 0.5))
            left -= exit_.cpu
            log = _PREFIX.sub(b"ptxas info", exit_.stderr)
            built.append(assembled(exit_.status, exit_.stdout, log))
    return built


@lru_cache(8)
def _assembler(min_isolation: str, folder: str) -> Profile:
    return Profile(
        runtime="native",
        cpu_s=SECONDS,
        wall_s=PATIENCE * SECONDS,
        memory_mb=1024,
        pids=32,
        output_bytes=FRAME_BYTES,
        paths=(folder,),
        min_isolation=min_isolation,
    )


def _report(
    arch: str, made: Sequence[tuple[str, int, bytes]], built: Sequence[Resources]
) -> Report:
    kernels: dict[str, Resources] = {}
    for (name, shared, _), found in zip(made, built, strict=True):
        one = evolve(found, kernel=name, shared=found.shared + shared)
        kernels[name] = worst(name, kernels[name], one) if name in kernels else one
    for one in kernels.values():
        if one.shared > MOST_SHARED:
            said = (
                f"{one.kernel}: {one.shared} bytes of shared memory; {MOST_SHARED} is the most of"
                " any device"
            )
            return Report(arch, COMPILER, (), said)
    return Report(arch, COMPILER, tuple(kernels[name] for name in sorted(kernels)))
