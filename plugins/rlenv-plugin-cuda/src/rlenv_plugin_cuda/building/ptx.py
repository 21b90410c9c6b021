"""numba kernels to objects: PTX by numba and libNVVM in one place of the sandbox, objects by ptxas
in another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from random import Random
from typing import Any

from attrs import evolve, frozen

from rlenv_plugin_cuda.artifacts import Program, Report, Resources
from rlenv_plugin_cuda.box import Box
from rlenv_plugin_cuda.spec import Array, Kernel

from .asking import BREAKS, Asked, Stopped, asked, ran, tried
from .places import SECONDS, assembler, compilers
from .report import Unclear, resources, worst
from .scrub import complaint
from .toolchain import ARCH, toolchain

__all__ = ["COMPILER", "assembled", "numba", "shapes"]

COMPILER = "numba+ptxas"
PLAYED = 32  # times for each size, where numbers are drawn
_SHELL = ("/bin/sh", "-c", '"$@" >&2 && exec cat kernel.cubin', "sh")
_FILES = ("kernel.ptx", "-o", "kernel.cubin")


@frozen
class _Ptx:
    name: str
    text: bytes
    registers: int | None


class Refused(Exception):
    """The answer's fault, in ``line`` of its program."""

    def __init__(self, said: str, line: int = 0) -> None:
        self.said = said
        self.line = line
        super().__init__(said)


async def numba(program: Program, kernel: Kernel, box: Box, arch: str) -> Report:
    """The report of a numba program for the types that its ``run`` gives its kernels, or what is
    wrong with it.

    Raises:
        VerifierFault: the sandbox, or a compiler, does not work.
    """
    seconds = min(SECONDS, box.budget)
    try:
        made = await tried(lambda: _lowered(program, kernel, box, arch, seconds))
        built = await tried(lambda: _objects(made, box, arch, seconds))
        return Report(arch, COMPILER, _merged(built))
    except Stopped as stopped:
        return Report(arch, COMPILER, (), stopped.said)
    except Refused as wrong:
        return Report(arch, COMPILER, (), wrong.said, wrong.line)


def shapes(kernel: Kernel, source: str) -> list[list[list[Any]]]:
    """[[[dtype, shape or None, number or None], …], …]: what ``run`` is played through with, for
    each size.

    Numbers by value are drawn as they are for a verification, from the program's own text: so a
    plan can neither tell the two apart nor know the numbers, and a report is always the same.
    """
    free = any(a.scalar and a.name not in kernel.values for a in kernel.inputs)
    rng = Random(sha256(source.encode("utf-8", "surrogatepass")).digest())  # noqa: S311
    found: dict[str, list[list[Any]]] = {}
    for sizes in (*kernel.hidden, *kernel.visible):
        for _ in range(PLAYED if free else 1):
            case = [_argument(kernel, a, sizes, rng) for a in (*kernel.inputs, *kernel.outputs)]
            found[repr(case)] = case
    return list(found.values())


def _argument(kernel: Kernel, array: Array, sizes: Mapping[str, int], rng: Random) -> list[Any]:
    if not array.scalar:
        return [array.dtype, list(array.shape(sizes)), None]
    number: float = rng.choice((-1.0, 1.0)) * (0.25 + 2.0 * rng.random())
    if array.dtype == "int":
        number = sizes.get(array.name, rng.randrange(1, 16))
    return [array.dtype, None, kernel.values.get(array.name, number)]


async def _lowered(
    program: Program, kernel: Kernel, box: Box, arch: str, seconds: float
) -> list[_Ptx]:
    match = ARCH.fullmatch(arch)
    assert match is not None  # whoever made the limits has seen to it
    capability = divmod(int(match[1]), 10)
    order = {
        "do": "numba",
        "source": program.source,
        "cases": shapes(kernel, program.source),
        "cc": capability,
    }
    profile = compilers("numba", box.min_isolation)
    async with box.session(profile) as session:
        found = await asked(session, order, seconds)
    return _read(found)


def _read(found: Asked) -> list[_Ptx]:
    head = found.head
    if "refused" in head:
        line = head.get("line")
        raise Refused(
            _plain(head["refused"]), line if type(line) is int and 0 <= line < 1 << 20 else 0
        )
    listed = head.get("kernels")
    if type(listed) is not list or len(listed) != len(found.parts) or not listed:
        raise Stopped(BREAKS)
    return [_one(entry, text) for entry, text in zip(listed, found.parts, strict=True)]


def _one(entry: Mapping[str, object], text: bytes) -> _Ptx:
    name = entry.get("name")
    most = entry.get("registers")
    if type(name) is not str or not (most is None or (type(most) is int and 0 < most < 1 << 16)):
        raise Stopped(BREAKS)
    return _Ptx(_plain(name), text, most)


def _plain(text: object) -> str:
    return "".join(c if c.isprintable() else "?" for c in str(text))[:300]


async def _objects(
    made: Sequence[_Ptx], box: Box, arch: str, seconds: float
) -> list[tuple[str, Resources]]:
    built = []
    left = seconds  # for all of them
    async with box.session(assembler(box.min_isolation)) as session:
        for ptx in made:
            words = [*_SHELL, toolchain().ptxas, "-v", f"-arch={arch}"]
            words += [f"--maxrregcount={ptx.registers}"] if ptx.registers else []
            exit_ = await ran(session, [*words, *_FILES], {"kernel.ptx": ptx.text}, max(left, 0.5))
            left -= exit_.cpu
            built.append((ptx.name, assembled(exit_.status, exit_.stdout, exit_.stderr)))
    return built


def assembled(status: int | None, cubin: bytes, log: bytes) -> Resources:
    """The one kernel of an object that ptxas made.

    Raises:
        Refused: it made none, or another number of kernels.
    """
    text = log.decode("utf-8", "replace")
    if status != 0:
        raise Refused(complaint(text).said)
    try:
        kernels = resources(cubin, text)
    except Unclear as unclear:
        raise Refused(f"{BREAKS}: {unclear}") from None
    if len(kernels) != 1:
        raise Refused(f"{BREAKS}: {len(kernels)} kernels in an object of one")
    return kernels[0]


def _merged(built: Sequence[tuple[str, Resources]]) -> tuple[Resources, ...]:
    """Under the names that the answer gave them, each once."""
    found: dict[str, Resources] = {}
    for name, one in built:
        found[name] = worst(name, found[name], one) if name in found else evolve(one, kernel=name)
    return tuple(found[name] for name in sorted(found))
