"""CUDA C++ on the CPU: compiled by g++ for a machine of ours that checks every access, in one fresh
process an answer.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence
from contextlib import suppress

from attrs import evolve, frozen
from rlenv import Fault, VerifierFault
from rlenv.sandbox import ChannelEnded, ChannelError, Session

from rlenv_plugin_cuda.artifacts import Program, Runs, Trial
from rlenv_plugin_cuda.backends.driving import lost, patience, profile_of, shares
from rlenv_plugin_cuda.box import Box
from rlenv_plugin_cuda.cases import Case
from rlenv_plugin_cuda.choosing import HALVES
from rlenv_plugin_cuda.gpu.backend import empty_trial, inputs_of
from rlenv_plugin_cuda.gpu.plans import SIZES, Plan, Wrong, cpp_plan
from rlenv_plugin_cuda.spec import Kernel

from .native import Native, lacking, native, symbol
from .signatures import bare

__all__ = ["CHECKED", "Cpu"]

ORDERS = 3
OVERHEAD_S = 1.0
MEMORY_MB = 768
INPUT, OUTPUT, ZEROED, TEMPORARY = range(4)
TEMPORARIES = 64
_FLOATS = ("f4", "f8")
# Where a program has these, shared memory is checked byte by byte, else by fours.
_NARROW = re.compile(r"char|short|bool|int8|int16")
CHECKED = {
    "orders": ORDERS,
    "found": (
        "outputs that depend on the order of threads or blocks, races on one element, accesses"
        " outside of arrays, reads of what was never written, barriers and warps that diverge,"
        " written inputs, kernels without an end"
    ),
    "missed": (
        "accesses that the compiler removed, or that leave one shared array for another through a"
        " pointer, orders that no run had, weak memory order, registers, spills and time"
    ),
}


@frozen
class Cpu:
    """Runs all blocks of a launch one after another, a fiber for each thread.

    It does so in three orders of threads and blocks.

    It finds what ``CHECKED`` says.  The response is native code, and could switch each check off:
    its outputs of all orders are compared with the golden model by the judge, whatever the process
    says, and checks only take away.
    """

    name: str = "cuda-cpu"

    def usable(self) -> str:
        """ "" where g++ is installed, else what to install."""
        return lacking()

    async def run(self, program: Program, kernel: Kernel, cases: Sequence[Case], box: Box) -> Runs:
        """Every case up to the first that breaks, in one fresh process.

        Raises:
            VerifierFault: the sandbox or g++ broke, or the task has numbers of 16 bits.
        """
        if kernel.halves:
            raise VerifierFault(Fault("unavailable", f"not run: {HALVES}"))
        try:
            plans = [cpp_plan(program, case) for case in cases]
        except Wrong as wrong:
            return Runs(self.name, refused=wrong.said, line=wrong.line)
        if any(len(plan.temporaries) > TEMPORARIES for plan in plans):
            return Runs(self.name, refused=f"more than {TEMPORARIES} temporary arrays")
        names = sorted({step.kernel for plan in plans for step in plan.steps})
        made = await native(program.source, names, box)
        if not isinstance(made, Native):
            return Runs(self.name, refused=f"it does not compile: {made[0]}", line=made[1])
        pairs = list(zip(cases, plans, strict=True))
        found = await _played(made, program, names, pairs, box)
        if not any(trial.broken for trial in found.trials) and _may_fuse(kernel):
            fusing = await native(program.source, names, box, contract=True)
            if isinstance(fusing, Native):
                again = await _played(fusing, program, names, pairs, box)
                found = evolve(found, trials=[*map(_with_fused, found.trials, again.trials)])
        return evolve(found, backend=self.name)


def _may_fuse(kernel: Kernel) -> bool:
    """Whether the device's compiler may round a product and a sum once, and there are numbers to
    round.
    """
    arrays = (*kernel.inputs, *kernel.outputs)
    return kernel.tol.contract is not False and any(array.dtype in _FLOATS for array in arrays)


def _with_fused(trial: Trial, again: Trial) -> Trial:
    """The trial with the outputs of the same case where products and sums are rounded once."""
    if again.outputs is None:
        return trial
    return evolve(trial, fused=again.outputs, fused_orders=again.orders)


async def _played(
    made: Native,
    program: Program,
    names: Sequence[str],
    pairs: Sequence[tuple[Case, Plan]],
    box: Box,
) -> Runs:
    """What came of the cases in one fresh process."""
    cpu_s = box.budget + OVERHEAD_S
    profile = profile_of(box, OVERHEAD_S, runtime="native", memory_mb=MEMORY_MB, pids=4)
    async with box.session(profile) as session:
        await session.start(["./main"], made.files, cpu_s=cpu_s, wall_s=patience(cpu_s))
        grain = "0" if _NARROW.search(bare(program.source)) else "2"
        hello = "".join((grain, *(f"{symbol(name)}\0" for name in names), "\0")).encode()
        trials, place = await _trials(session, hello, names, pairs, box)
        if place and not trials[-1].line:
            trials[-1] = evolve(trials[-1], line=await _line(session, place, made))
    return Runs("", trials, isolation=session.isolation, checked=CHECKED)


async def _trials(
    session: Session,
    hello: bytes,
    names: Sequence[str],
    cases: Sequence[tuple[Case, Plan]],
    box: Box,
) -> tuple[list[Trial], int]:
    """What came of the cases, and the place in the object of the access that broke the last one."""
    seconds = shares([case for case, _ in cases], box.budget + OVERHEAD_S, box.budget)
    trials: list[Trial] = []
    at = 0
    try:
        await _send(session, hello)
        for place, (case, plan) in enumerate(cases):
            await _send(session, _order(case, plan, names))
            sizes = [len(poison) for poison in case.poison]
            frame = await session.recv(1024 + ORDERS * sum(sizes), seconds[place])
            trials.append(_trial(empty_trial(place, plan), frame, sizes))
            if trials[-1].broken:  # one is enough
                at = int.from_bytes(frame[16:24], "little")
                break
        await session.finish(0)
    except ChannelError as error:
        exit_ = await session.finish(0.2 if isinstance(error, ChannelEnded) else 0)
        trials.append(lost(len(trials), error, exit_))
    return trials, at


async def _send(session: Session, frame: bytes) -> None:
    """Send it, also to a program that has ended: what it said before is then read."""
    with suppress(ChannelEnded):
        await session.send(frame)


def _order(case: Case, plan: Plan, names: Sequence[str]) -> bytes:
    """A case as ``answer`` of machine.cpp reads it."""
    kernel = case.kernel
    made = ZEROED if kernel.output_init == "zero" else OUTPUT
    inputs = inputs_of(case)
    outputs = case.poison
    codes = [array.dtype for array in (*kernel.inputs, *kernel.outputs) if not array.scalar]
    modes = [INPUT] * len(inputs) + [made] * len(outputs)
    grains = [min(SIZES[code].bit_length() - 1, 2) for code in codes]
    arrays = [
        *zip(modes, map(len, (*inputs, *outputs)), grains, strict=True),
        *((TEMPORARY, size, 0) for size in plan.temporaries),
    ]
    numbers = [
        case.seed,
        len(arrays),
        *(number for array in arrays for number in array),
        len(plan.steps),
    ]
    for step in plan.steps:
        numbers += [
            names.index(step.kernel),
            *step.grid,
            *step.block,
            step.dynamic,
            len(step.words),
        ]
        for word in step.words:
            numbers += (
                [0, int.from_bytes(bytes.fromhex(word), "little")]
                if isinstance(word, str)
                else [1, word]
            )
    head = struct.pack(f"<{len(numbers) + 1}Q", len(numbers), *numbers)
    return b"".join((head, *inputs, *outputs))


def _trial(empty: Trial, frame: bytes, sizes: Sequence[int]) -> Trial:
    """What a process says of a case.  It holds a response: whatever is odd is the answer's loss."""
    status = frame[:8]
    if status == struct.pack("<Q", 1) and len(frame) >= 24:
        line = min(int.from_bytes(frame[8:16], "little"), 1 << 20)
        what, _, said = frame[24:].decode("utf-8", "replace").partition(":")
        return evolve(empty, broken=what[:40] or "error", said=said[:300], line=line)
    if status != bytes(8) or len(frame) != 8 + ORDERS * sum(sizes):
        return evolve(empty, broken="lost", said="no outputs of the right size came back")
    parts = struct.unpack("8x" + ORDERS * "".join([f"{size}s" for size in sizes]), frame)
    count = len(sizes)
    first, *others = [parts[n * count : (n + 1) * count] for n in range(ORDERS)]
    return evolve(empty, outputs=first, orders=[one for one in others if one != first])


async def _line(session: Session, place: int, made: Native) -> int:
    """The line of the program that is at a place of its object; 0 for none."""
    words = ["addr2line", "-e", "answer.so", hex(place - 1)]
    try:
        await session.start(words, made.files, cpu_s=OVERHEAD_S, wall_s=patience(OVERHEAD_S))
        said = (await session.finish()).stdout.decode("utf-8", "replace").rpartition(":")[2].split()
    except VerifierFault:  # a verdict without a line is better than none
        return 0
    return int(said[0]) if said and said[0].isdigit() and len(said[0]) < 8 else 0
