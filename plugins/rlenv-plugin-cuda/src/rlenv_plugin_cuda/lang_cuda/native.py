"""CUDA C++ as an object for this machine's processor: g++ in the sandbox, on a header of ours and
no other.

The object may call the mathematics of the C library and ``machine.cpp``, which the linker sees to,
and nothing of it runs when it is loaded.  This keeps honest answers honest; what a dishonest one
gains by a way around it are its own outputs.
"""

from __future__ import annotations

import os
import platform
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from attrs import frozen
from rlenv import Fault, VerifierFault
from rlenv.sandbox import Exit, Profile

from rlenv_plugin_cuda.box import Box
from rlenv_plugin_cuda.building.asking import Stopped, ran, tried
from rlenv_plugin_cuda.building.places import FRAME_BYTES, MEMORY_MB, PATIENCE, SECONDS, apart
from rlenv_plugin_cuda.building.prelude import HALVES, HEADERS, NAME, headers
from rlenv_plugin_cuda.building.scrub import complaint

from .signatures import bare

__all__ = ["Native", "lacking", "machine", "native", "symbol"]

SHIM = Path(__file__).with_name("shim")
HEADER = "rlenv_cuda.h"
HALF = '#error "16-bit floating-point numbers are not run on a CPU here"\n'
_MAIN = b'extern "C" int rl_main();\nint main() { return rl_main(); }\n'
_COMMON = ("-std=c++17", "-fPIC", "-fno-exceptions", "-fno-rtti", "-pipe")
_MACHINE = (
    "-O2",
    "-fvisibility=hidden",
    "-shared",
    "machine.cpp",
    "-o",
    "machine.so",
    "-Wl,-soname,machine.so",
)
_CHECKED = (
    "-O1", "-g1", "-Werror=vla", "-D__CUDACC__", "-D__CUDA_ARCH__=900",
    "-fsanitize=thread,bounds,alignment,object-size", "--param",
    "tsan-instrument-func-entry-exit=0", "-ftrivial-auto-var-init=pattern",
    "-fno-threadsafe-statics", "-fwrapv", "-fno-strict-aliasing",
    "-fno-tree-loop-distribute-patterns", "-fmax-errors=5", "-nostdinc", "-I.", "-include", HEADER,
    "-include", NAME,
)  # fmt: skip
# With the second, g++ rounds `a * b + c` once, as nvcc does unless it is told otherwise.  Its pass
# for that belongs to -fexpensive-optimizations
# (https://gcc.gnu.org/onlinedocs/gcc/Optimize-Options.html).
_ROUNDS = {
    False: ("-ffp-contract=off",),
    True: ("-ffp-contract=fast", "-mfma", "-fexpensive-optimizations"),
}
_LINKED = (
    "-nostdlib", "-shared", "-Wl,-z,defs", "-x", "c++", "kernel.cu", "-x", "none", "machine.so",
    "-lm", "-lgcc", "-o", "answer.so",
)  # fmt: skip
# Of what runs when an object is loaded there is one entry: the sanitizer's, which every object has.
_LOADS = """"$@" >&2 || exit 1
readelf -dW answer.so > facts || exit 3
others=$(grep -cE '[(](INIT|FINI|PREINIT_ARRAY|FINI_ARRAY)[)]' facts)
test "$others$(grep -c 'INIT_ARRAYSZ.* 8 (bytes)' facts)" = 01 || exit 2
exec cat answer.so"""
# The same, and nothing where there is no instruction that multiplies and adds.
_FUSES = """objdump -d answer.so | grep -qE 'vf(n|)m(add|sub)' || exit 4
exec cat answer.so"""
NOTHING_FUSED = "no product is added"
_BUILDS = """"$0" "$@" && "$0" main.cpp machine.so -o main -Wl,-rpath,. &&
wc -c < main && cat main machine.so"""
_ALIGNED = r"(?:(?:__align__|alignas)\s*\([^()]*\)\s*)?"
_DYNAMIC = re.compile(
    rf"\bextern\s+{_ALIGNED}(?:volatile\s+)?__shared__\s+{_ALIGNED}((?:\w|::|[<>]|\s)+?)\s*\b(\w+)\s*\[\s*\]\s*;"
)
_STATIC = re.compile(r"\bstatic(?=\s+__shared__\b)")


@frozen
class Native:
    """The files of a program that is started as ``./main``, as ``Session.start`` takes them."""

    files: Mapping[str, tuple[bytes, int]]


def lacking() -> str:
    """ "" or why nothing is compiled for this machine, with the remedy."""
    if platform.machine() != "x86_64":
        return f"CUDA C++ runs on the CPU of x86-64 machines, and this is {platform.machine()}"
    absent = " and ".join(tool for tool in ("g++", "readelf") if not shutil.which(tool))
    remedy = "install g++ (Debian: apt install g++)"
    return f"CUDA C++ runs on a CPU with {absent}: {remedy}" if absent else ""


def symbol(name: str) -> str:
    """What the object calls the kernel of this name."""
    return f"rl_kernel_{name}"


def profile(box: Box) -> Profile:
    """Where the compiler runs."""
    return Profile(
        runtime="native",
        cpu_s=SECONDS,
        wall_s=PATIENCE * SECONDS,
        memory_mb=MEMORY_MB,
        pids=16,
        output_bytes=FRAME_BYTES,
        min_isolation=box.min_isolation,
    )


async def _ran(words: list[str], files: dict[str, bytes], box: Box, seconds: float) -> Exit:
    async def once() -> Exit:
        async with apart(box).session(profile(box)) as session:
            return await ran(session, words, files, seconds)

    return await tried(once)


_machines: dict[float, tuple[bytes, bytes]] = {}


async def machine(box: Box) -> tuple[bytes, bytes]:
    """``main`` and ``machine.so``, made once per process: nothing of any answer is in them.

    Raises:
        VerifierFault: g++ does not work here.
    """
    changed = os.stat(_tool()).st_mtime
    if changed not in _machines:
        files = {"machine.cpp": (SHIM / "machine.cpp").read_bytes(), "main.cpp": _MAIN}
        words = ["/bin/sh", "-c", _BUILDS, _tool(), *_COMMON, *_MACHINE]
        try:
            exit_ = await _ran(words, files, box, SECONDS)
        except Stopped as stopped:
            raise VerifierFault(stopped.fault or _broken(stopped.said)) from None
        size, _, both = exit_.stdout.partition(b"\n")
        if exit_.status != 0 or not size.strip().isdigit():
            raise VerifierFault(_broken(exit_.stderr.decode("utf-8", "replace")))
        _machines[changed] = both[: int(size)], both[int(size) :]
    return _machines[changed]


def _tool() -> str:
    return shutil.which("g++") or "g++"


def _broken(said: str) -> Fault:
    return Fault("error", f"g++ does not work here: {said[:300]}")


async def native(
    source: str, names: Sequence[str], box: Box, *, contract: bool = False
) -> Native | tuple[str, int]:
    """An answer that keeps the rules, compiled; or what is wrong with it, and the line.

    Args:
        names: of the kernels that are launched.
        contract: round ``a * b + c`` once, on a processor that has an instruction for it.

    Raises:
        VerifierFault: g++ does not work here.
    """
    main, machine_so = await machine(box)
    script = _LOADS.replace("exec cat answer.so", _FUSES) if contract else _LOADS
    flags = [*_COMMON, *_CHECKED, *_ROUNDS[contract], *_LINKED]
    words = ["/bin/sh", "-c", script, "sh", _tool(), *flags]
    files = {**_files(source, names), "machine.so": machine_so}
    try:
        exit_ = await _ran(words, files, box, min(SECONDS, box.budget))
    except Stopped as stopped:
        return stopped.said, 0
    if exit_.truncated:
        return f"it compiles to more than {FRAME_BYTES >> 20} MiB", 0
    if exit_.status == 0:
        made = {"main": main, "machine.so": machine_so, "answer.so": exit_.stdout}
        return Native({name: (content, 0o755) for name, content in made.items()})
    if exit_.status == 2:
        return "a variable is given its value by code: no device runs a constructor", 0
    if exit_.status == 4:
        return NOTHING_FUSED, 0
    told = complaint(exit_.stderr.decode("utf-8", "replace"))
    return told.said, told.line


def _files(source: str, names: Sequence[str]) -> dict[str, bytes]:
    calls = "".join(f"RL_KERNEL({name})\n" for name in names)
    made = dict.fromkeys(HEADERS, b"") | dict.fromkeys(HALVES, HALF.encode())
    made[HEADER] = (SHIM / HEADER).read_bytes()
    made[NAME] = headers()[NAME].encode()
    return {**made, "kernel.cu": f"{rewritten(source)}\n{calls}".encode()}


def rewritten(source: str) -> str:
    """With shared arrays of a launch's size as pointers to where they are; lines stay."""
    text = bare(source)
    for match in _STATIC.finditer(text):
        source = source[: match.start()] + " " * len(match[0]) + source[match.end() :]
    for match in reversed([*_DYNAMIC.finditer(text)]):
        kind = match[1].strip()
        name = match[2]
        lines = "\n" * match[0].count("\n")
        made = f"{kind} *const {name} = ({kind} *)rl_dynamic;{lines}"
        source = source[: match.start()] + made + source[match.end() :]
    return source
