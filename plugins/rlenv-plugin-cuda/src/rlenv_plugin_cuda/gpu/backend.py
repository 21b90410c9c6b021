"""Answers on a real GPU, as ``cuda/run`` wants them: one process and one context each, and raw
bytes back.
"""

from __future__ import annotations

from collections.abc import Sequence

from attrs import evolve, frozen

from rlenv_plugin_cuda.artifacts import Program, Runs, Trial
from rlenv_plugin_cuda.backends.frames import filled
from rlenv_plugin_cuda.box import Box
from rlenv_plugin_cuda.cases import Case
from rlenv_plugin_cuda.numbers import to_bytes
from rlenv_plugin_cuda.spec import Kernel

from .device import absent
from .objects import Objects, objects
from .plans import Plan, Wrong
from .process import Process, Silent, about, opened, trusted

__all__ = ["Gpu", "empty_trial", "inputs_of"]


def inputs_of(case: Case) -> list[bytes]:
    """The bytes of the arrays that a kernel reads, in order."""
    values = case.values
    arrays = [array for array in case.kernel.inputs if not array.scalar]
    return [to_bytes(values[array.name], array.dtype) for array in arrays]


@frozen
class Gpu:
    """Launches an answer's kernels on a GPU.

    Device code and numbers are all that reaches the GPU's process: the plan was followed before,
    the objects were made in a sandbox.  Guards lie on both sides of every buffer, inputs are
    compared afterwards, outputs and temporary arrays begin as noise, objects are loaded anew for
    each case.  It finds no races and no reads of what was never written, as the interpreter does.
    """

    name: str = "gpu"

    def usable(self) -> str:
        """ "" or why not: no GPU, or no driver."""
        return absent()

    async def run(self, program: Program, kernel: Kernel, cases: Sequence[Case], box: Box) -> Runs:  # noqa: ARG002 - the cases know theirs
        """Every case up to the first that breaks, in one fresh process.

        Raises:
            VerifierFault: the device, the sandbox or a compiler broke.
        """
        device = await about(box)
        try:
            ready = await objects(program, cases, box, device.arch)
        except Wrong as wrong:
            return Runs(self.name, refused=wrong.said, line=wrong.line)
        async with opened(box) as process:
            trials = await _trials(process, ready, cases, box.budget)
            tier = process.session.isolation
        if trials and trials[-1].broken:
            await trusted(box)
        return Runs(self.name, trials, isolation=tier)


async def _trials(
    process: Process, ready: Objects, cases: Sequence[Case], seconds: float
) -> list[Trial]:
    trials: list[Trial] = []
    try:
        said, _ = await process.say({"do": "load"}, ready.images)
        for place, case in enumerate(cases):
            empty = empty_trial(place, ready.plans[place])
            inputs = inputs_of(case)
            poison = case.poison
            order = {
                "do": "run", "case": place, "plan": ready.order(place), "inputs": len(inputs),
                "seconds": seconds,
            }  # fmt: skip
            room = sum(map(len, poison))
            said, body = await process.say(order, [*inputs, *poison], room)
            trials.append(filled(empty, said, body, [len(part) for part in poison]))
            if trials[-1].broken:
                break
    except Silent as silent:
        place = len(trials)
        trials.append(
            evolve(empty_trial(place, ready.plans[place]), broken=silent.what, said=silent.said)
        )
    return trials


def empty_trial(place: int, plan: Plan) -> Trial:
    """What is known of a case before it runs."""
    launched = plan.launched()
    threads = max(launch.threads for launch in launched)
    shared = max(launch.shared for launch in launched)
    return Trial(
        place, None, launches=len(plan.steps), threads=threads, shared=shared, launched=launched
    )
