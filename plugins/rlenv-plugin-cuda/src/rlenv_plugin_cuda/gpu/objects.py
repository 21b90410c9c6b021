"""What a GPU process needs of an answer: objects for its architecture, and the launches of each
case as a list.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import frozen
from rlenv import Fault, VerifierFault
from rlenv.sandbox import ChannelEnded, ChannelError, Session

from rlenv_plugin_cuda.artifacts import Program
from rlenv_plugin_cuda.box import Box
from rlenv_plugin_cuda.building import asking, nvrtc, places, ptx
from rlenv_plugin_cuda.building.asking import Asked, Stopped, asked, ran, tried
from rlenv_plugin_cuda.building.cpp_rules import refused
from rlenv_plugin_cuda.building.cubin import BadCubin, entries
from rlenv_plugin_cuda.building.prelude import headers
from rlenv_plugin_cuda.building.scrub import complaint
from rlenv_plugin_cuda.building.toolchain import ARCH, missing, toolchain, unsupported
from rlenv_plugin_cuda.cases import Case
from rlenv_plugin_cuda.planning.values import Trouble, configured

from .abi import Given, Mismatch, Passed, numba_words
from .plans import (
    LAUNCHES,
    SHARED_BYTES,
    SIZES,
    TEMPORARY_BYTES,
    THREADS,
    Plan,
    Step,
    Wrong,
    cpp_plan,
)

__all__ = ["Objects", "objects"]

_BOOT = "import kernel_record; kernel_record.serve()"


@frozen
class Objects:
    """Ready to be launched.

    Args:
        images: objects for one architecture.
        symbols: key of a step → (number of its image, name in it).
        plans: one per case.
    """

    images: tuple[bytes, ...]
    symbols: Mapping[str, tuple[int, str]]
    plans: tuple[Plan, ...]

    def order(self, place: int, first: int = 0) -> dict[str, Any]:
        """The plan of a case as a GPU process reads it.

        ``first`` is the number of its first image there.
        """
        plan = self.plans[place]
        steps = []
        for step in plan.steps:
            image, symbol = self.symbols[step.key]
            steps.append(
                [image + first, symbol, step.grid, step.block, step.dynamic, list(step.words)]
            )
        return {"temporaries": list(plan.temporaries), "steps": steps}


async def objects(program: Program, cases: Sequence[Case], box: Box, arch: str) -> Objects:
    """Compile an answer in the sandbox and follow its plan for each case.

    Args:
        program: numba or CUDA C++.
        arch: of the GPU.

    Raises:
        Wrong: the answer's fault.
        VerifierFault: no compiler is here, or it broke.
    """
    if program.lang == "triton":
        said = "Triton kernels are not launched on a GPU here; backend = 'triton' runs them"
        raise VerifierFault(Fault("unavailable", said))
    lacking = missing(program.lang) or unsupported(program.lang, arch)
    if lacking:
        raise VerifierFault(Fault("unavailable", lacking))
    apart = places.apart(box)
    seconds = min(places.SECONDS, box.budget)
    try:
        if program.lang == "cuda":
            return await _cpp(program, cases, apart, arch, seconds)
        return await _numba(program, cases, apart, arch, seconds)
    except Stopped as stopped:
        raise Wrong(stopped.said, what="compile") from None


async def _cpp(
    program: Program, cases: Sequence[Case], box: Box, arch: str, seconds: float
) -> Objects:
    plans = tuple(cpp_plan(program, case) for case in cases)
    bad = refused(program.source)
    if bad:
        raise Wrong(bad[1], bad[0], "refused")
    options = [f"-arch={arch}", *nvrtc._WORDS]
    order = {
        "do": "cuda",
        "source": program.source,
        "options": options,
        "headers": headers(program.source),
    }
    profile = places.compilers("cuda", box.min_isolation)

    async def once() -> Asked:
        async with box.session(profile) as session:
            return await asked(session, order, seconds)

    found = await tried(once)
    if found.head.get("done") != 0 or len(found.parts) != 1:
        told = complaint(str(found.head.get("log", "")))
        raise Wrong(told.said, told.line, "compile")
    image = found.parts[0]
    symbols = {entry.name: (0, entry.name) for entry in _entries(image)}
    for plan in plans:
        for step in plan.steps:
            if step.key not in symbols:
                raise Wrong(f'`{step.key}` is no kernel of the object; write extern "C" before it')
    return Objects((image,), symbols, plans)


def _entries(image: bytes) -> Any:
    try:
        return entries(image)
    except BadCubin as bad:
        raise Wrong(f"{asking.BREAKS}: {bad}", what="compile") from None


async def _numba(
    program: Program, cases: Sequence[Case], box: Box, arch: str, seconds: float
) -> Objects:
    match = ARCH.fullmatch(arch)
    assert match is not None  # the driver said so
    order = {
        "source": program.source,
        "cases": [_described(case) for case in cases],
        "cc": divmod(int(match[1]), 10),
    }
    profile = places.compilers("numba", box.min_isolation)

    async def recorded() -> Asked:
        async with box.session(profile) as session:
            return await _recorded(session, order, seconds)

    found = await tried(recorded)
    try:
        listed = ptx._read(found)
    except ptx.Refused as wrong:
        raise Wrong(wrong.said, wrong.line, "compile") from None
    images = await tried(lambda: _assembled(listed, box, arch, seconds))
    symbols = {str(n): (n, _entries(image)[0].name) for n, image in enumerate(images)}
    given = found.head.get("plans")
    if type(given) is not list or len(given) != len(cases):
        raise Wrong(asking.BREAKS, what="compile")
    pairs = zip(given, cases, strict=True)
    return Objects(tuple(images), symbols, tuple(_plan(one, case, symbols) for one, case in pairs))


async def _recorded(session: Session, order: Mapping[str, object], seconds: float) -> Asked:
    import json

    await session.start(_BOOT)
    try:
        await session.send(json.dumps(order).encode())
        frame = await session.recv(places.FRAME_BYTES, places.PATIENCE * seconds)
    except ChannelError as error:
        exit_ = await session.finish(0.2 if isinstance(error, ChannelEnded) else 0)
        raise asking._stopped(error, exit_, seconds) from None
    except BaseException:
        await session.finish(0)
        raise
    await session.finish(0)
    return asking._read(frame)


async def _assembled(listed: Sequence[Any], box: Box, arch: str, seconds: float) -> list[bytes]:
    images = []
    async with box.session(places.assembler(box.min_isolation)) as session:
        for one in listed:
            words = [*ptx._SHELL, toolchain().ptxas, f"-arch={arch}"]
            words += [f"--maxrregcount={one.registers}"] if one.registers else []
            exit_ = await ran(session, [*words, *ptx._FILES], {"kernel.ptx": one.text}, seconds)
            if exit_.status != 0:
                said = complaint(exit_.stderr.decode("utf-8", "replace")).said
                raise Wrong(said, what="compile")
            images.append(exit_.stdout)
    return images


def _described(case: Case) -> list[list[Any]]:
    values = case.values
    found = []
    for array in (*case.kernel.inputs, *case.kernel.outputs):
        shape = None if array.scalar else list(array.shape(case.sizes))
        found.append([array.dtype, shape, values[array.name] if array.scalar else None])
    return found


def _plan(given: Any, case: Case, symbols: Mapping[str, Any]) -> Plan:
    """What was recorded, held against what a GPU takes: it comes from where an answer was."""
    try:
        first = sum(not array.scalar for array in (*case.kernel.inputs, *case.kernel.outputs))
        sizes = [SIZES[code] * math.prod(_extents(shape)) for code, shape in given["temporaries"]]
        if sum(sizes) > TEMPORARY_BYTES or len(given["steps"]) > LAUNCHES:
            raise Wrong("more memory or launches than a plan may take", what="memory")
        steps = [_step(step, symbols, first + len(sizes)) for step in given["steps"]]
    except (KeyError, TypeError, ValueError, IndexError):
        raise Wrong(asking.BREAKS, what="compile") from None
    except Mismatch as mismatch:
        raise Wrong(str(mismatch), what="arguments") from None
    except Trouble as trouble:
        raise Wrong(trouble.said, what=trouble.what) from None
    return Plan(tuple(sizes), tuple(steps))


def _extents(shape: object) -> list[int]:
    if type(shape) is not list or not all(type(n) is int and 0 <= n < 1 << 40 for n in shape):
        raise ValueError("no shape")
    return shape


def _step(said: Any, symbols: Mapping[str, Any], buffers: int) -> Step:
    name, number, shape, arguments = said
    grid, block, dynamic = configured(str(name)[:100], shape, SHARED_BYTES, THREADS)
    if str(number) not in symbols:
        raise ValueError("no object")
    given = [_given(one, buffers) for one in arguments]
    types = tuple(
        f"{one.code}[{len(one.shape)}]" if isinstance(one, Passed) else type(one).__name__
        for one in given
    )
    return Step(
        kernel=str(name)[:100],
        key=str(number),
        grid=grid,
        block=block,
        dynamic=dynamic,
        words=tuple(numba_words(given)),
        types=types,
    )


def _given(said: Any, buffers: int) -> Given:
    kind = said[0]
    if kind == "array":
        _, number, code, shape = said
        if type(number) is not int or not 0 <= number < buffers:
            raise ValueError("no buffer")
        return Passed(number, code, SIZES[code], tuple(_extents(shape)))
    if kind == "float":
        return float.fromhex(said[1])
    if kind == "bool":
        return bool(said[1] == "True")
    return complex(said[1]) if kind == "complex" else int(said[1])
