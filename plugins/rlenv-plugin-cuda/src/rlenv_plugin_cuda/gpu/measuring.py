"""The clock of ``cuda/speed``: an answer in turn with a baseline on one GPU, and every output that
was timed compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Any

from attrs import evolve, frozen
from rlenv import Attempt, Fault, Task, VerifierFault

from rlenv_plugin_cuda import speed
from rlenv_plugin_cuda.artifacts import Program
from rlenv_plugin_cuda.box import Box
from rlenv_plugin_cuda.cases import Case
from rlenv_plugin_cuda.clocks import Measured
from rlenv_plugin_cuda.compare import differences
from rlenv_plugin_cuda.golden import golden_of
from rlenv_plugin_cuda.programs import Bad, program_of
from rlenv_plugin_cuda.spec import Kernel

from .backend import inputs_of
from .device import absent
from .objects import Objects, objects
from .plans import Wrong
from .process import Silent, about, opened, trusted

__all__ = ["PAIRS", "Gpu", "judged"]

PAIRS = 20
WARM = 2  # runs of each side whose times are not read
SETS = 4  # inputs at least
HELD_BYTES = 1 << 30  # of inputs, and of the outputs that they lead to
FRESH = 1 << 20  # beyond the numbers of inputs that cuda/run draws
KEPT_BYTES = 1 << 30  # as the other side has it
RUN_S = 5.0  # of one run, until it counts as endless


@frozen
class Gpu:
    """Measures answers on a GPU.

    Answer and baseline use the same buffers, A-B-B-A; between two runs everything is overwritten,
    objects are loaded anew and caches flushed, so that nothing is left of what either wrote.
    """

    def usable(self) -> str:
        """ "" or why not: no GPU, or no driver."""
        return absent()

    async def measure(
        self,
        program: Program,
        kernel: Kernel,
        cases: Sequence[Case],
        box: Box,
        *,
        baseline: str,
        cap: float,
    ) -> Measured:
        """See ``clocks.Clock``.

        Raises:
            VerifierFault: the GPU, the sandbox, a compiler or the baseline broke, or times say
                nothing.
        """
        device = await about(box)
        cases = _sets(cases)
        try:
            own = await objects(program, cases, box, device.arch)
        except Wrong as wrong:
            return Measured(0.0, problem=wrong.said, line=wrong.line)
        sides = [own]
        if baseline:
            sides.append(await _baseline(baseline, kernel, cases, box, device.arch))
        try:
            said, body = await _timed(sides, cases, box)
        except Silent as silent:
            await trusted(box)
            return Measured(0.0, problem=f"{silent.what}: {silent.said}")
        if "broken" in said:
            await trusted(box)
            return Measured(0.0, problem=f"{said['broken']}: {said.get('said', '')}")
        problem = _compared(kernel, cases, said, body)
        if problem:
            return Measured(0.0, problem=problem)
        read = sum(map(len, inputs_of(cases[0])))
        return judged(said["runs"], read, said["bandwidth"], cap, {"gpu": device.name})


def _sets(cases: Sequence[Case]) -> list[Case]:
    """Inputs for every pair of runs, drawn anew: what a kernel hid in memory the last time is of no
    use to it.

    Where they would be more than ``HELD_BYTES`` a few are used in turn.
    """
    alike = [case for case in cases if case.sizes == cases[0].sizes]
    bytes_ = sum(map(len, inputs_of(cases[0]))) + 2 * sum(map(len, cases[0].poison))
    count = min(WARM + PAIRS, max(SETS, HELD_BYTES // max(1, bytes_)))
    return [evolve(alike[n % len(alike)], inputs=FRESH + n) for n in range(count)]


async def _baseline(
    text: str, kernel: Kernel, cases: Sequence[Case], box: Box, arch: str
) -> Objects:
    program = program_of(Attempt(Task(""), text), kernel.lang)
    try:
        if isinstance(program, Bad):
            raise Wrong(program.said)
        return await objects(program, cases, box, arch)
    except Wrong as wrong:
        raise VerifierFault(
            Fault("error", f"info.baseline does not compile: {wrong.said}")
        ) from None


async def _timed(
    sides: Sequence[Objects], cases: Sequence[Case], box: Box
) -> tuple[dict[str, Any], bytes]:
    described = []
    images = list[bytes]()
    for side in sides:
        numbers = list(range(len(images), len(images) + len(side.images)))
        plans = [side.order(place) for place in range(len(cases))]
        described.append({"images": numbers, "plans": plans})
        images += side.images
    sequence = [[int(not mine), 0] for mine in speed.order(WARM + PAIRS)]
    if len(sides) == 1:
        sequence = [one for one in sequence if not one[0]]
    for turn, one in enumerate(sequence):
        one[1] = (turn // len(sides)) % len(cases)  # both sides of a pair get the same inputs
    outputs = [len(part) for part in cases[0].poison]
    order = {
        "do": "time", "sides": described, "sets": len(cases), "outputs": outputs,
        "sequence": sequence, "seconds": RUN_S,
    }  # fmt: skip
    parts = [part for case in cases for part in inputs_of(case)]
    async with opened(box) as process:
        await process.say({"do": "load"}, images)
        return await process.say(order, parts, KEPT_BYTES + (2 * len(cases) + 1) * sum(outputs))


def _compared(kernel: Kernel, cases: Sequence[Case], said: dict[str, Any], body: bytes) -> str:
    """Why outputs that were timed are wrong, "" where all are right.

    Raises:
        VerifierFault: those of the baseline are.
    """
    golden = golden_of(kernel)
    place = 0
    wrong: set[int] = set()
    wanted: dict[int, Any] = {}
    for number, which in enumerate(said["found"]):
        case = cases[which]
        outputs = []
        for poison in case.poison:
            outputs.append(body[place : place + len(poison)])
            place += len(poison)
        if which not in wanted:
            wanted[which] = golden(case.values, case.sizes)
        if not all(one.equal for one in differences(kernel, outputs, wanted[which])):
            wrong.add(number)
    for side, _, _, number in said["runs"]:
        if number in wrong and not side:
            return "what it writes while it is timed is not right"
    if wrong:
        raise VerifierFault(Fault("error", "what info.baseline writes is not right"))
    return ""


def judged(
    runs: Sequence[Sequence[Any]], read: int, bandwidth: float, cap: float, data: dict[str, Any]
) -> Measured:
    """The score of times.

    Args:
        runs: [side, seconds by events, seconds by wall, …] in the order in which they were taken;
            the answer's is side 0.
        read: bytes of the inputs.
        bandwidth: bytes per second that a copy read.
        cap: of the score.
        data: to be reported with it.

    Raises:
        VerifierFault: the two clocks do not agree, or the times vary too much to say anything.
    """
    sides = [[run for run in runs if run[0] == side][WARM:] for side in (0, 1)]
    own = [run[1] for run in sides[0]]
    for side in sides:
        if side and not speed.agree([run[1] for run in side], [run[2] for run in side]):
            raise VerifierFault(
                Fault("error", "the clocks of the GPU and of its host do not agree", transient=True)
            )
    middle = median(own)
    if middle <= 0 or speed.impossible(middle, read, bandwidth):
        return Measured(0.0, problem="it is faster than its inputs can be read", data=data)
    floor = read / bandwidth if bandwidth > 0 else 0.0
    base = [run[1] for run in sides[1]] or [floor or middle] * len(own)
    found = speed.ratio([max(time, floor) for time in own], base)
    if found.spread > speed.SPREAD:
        said = (
            f"times vary too much: {found.low:.3g} to {found.high:.3g} times the baseline's speed"
        )
        raise VerifierFault(Fault("error", said, transient=True))
    value = speed.score(found.value, cap) if sides[1] else speed.within(found.value, cap)
    told = {
        "ratio": round(found.value, 4), "low": round(found.low, 4), "high": round(found.high, 4),
        "pairs": found.pairs, "own_us": round(middle * 1e6, 3), "clock": "gpu", **data,
    }  # fmt: skip
    against = "the baseline's speed" if sides[1] else "the speed of memory"
    return Measured(value, f"{found.value:.2f} times {against}", told)
