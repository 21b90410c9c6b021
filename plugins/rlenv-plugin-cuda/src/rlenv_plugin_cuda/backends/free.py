"""Free host code in the jail, for a user who opts in: what it writes is compared, and no word is
said of kernels.
"""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen
from rlenv import Fault, VerifierFault
from rlenv.sandbox import ChannelEnded, ChannelError, ChannelTimeout, Profile, Session

from rlenv_plugin_cuda.artifacts import Program, Runs, Trial
from rlenv_plugin_cuda.box import Box
from rlenv_plugin_cuda.building.places import apart
from rlenv_plugin_cuda.cases import Case
from rlenv_plugin_cuda.spec import Kernel

from .driving import guests, profile_of
from .frames import order_of
from .packages import folders, where

__all__ = ["Free"]

BOOT = "import kernel_free; kernel_free.serve()"
REHEARSED = b"import kernel_free\nkernel_free.rehearse()\n"
MEMORY_MB = 1024


@frozen
class Free:
    """Runs ``run`` as it stands, in a fresh process for each case.

    It gets numpy arrays, and its kernels run on numba's simulator.

    A response may compute on the host, and only its outputs are known: no launches, no races, no
    limits.
    """

    name: str = "jailed"

    def usable(self) -> str:
        """ "" or that numba is not installed."""
        return "" if folders() else "numba is not installed: pip install numba"

    async def run(self, program: Program, kernel: Kernel, cases: Sequence[Case], box: Box) -> Runs:  # noqa: ARG002 - the cases know theirs
        """Every case up to the first that breaks.

        Raises:
            VerifierFault: the sandbox broke.
        """
        trials: list[Trial] = []
        async with apart(box).session(_profile(box)) as session:
            for place, case in enumerate(cases):
                order = order_of(place, case, source=program.source)
                trials.append(await _one(session, place, case, order, box.budget))
                if trials[-1].broken:
                    break
        return Runs(self.name, trials, isolation=session.isolation)


async def _one(session: Session, place: int, case: Case, order: bytes, budget: float) -> Trial:
    sizes = [len(poison) for poison in case.poison]
    await session.start(BOOT, cpu_s=budget, wall_s=2 * budget)
    try:
        await session.send(order)
        body = await session.recv(sum(sizes), max(0.1, 2 * budget - session.clock()))
    except ChannelError as error:
        exit_ = await session.finish(0.2 if isinstance(error, ChannelEnded) else 0)
        if exit_.fault is not None and (not exit_.started or exit_.reason in ("lost", "wall")):
            raise VerifierFault(exit_.fault) from None
        if isinstance(error, ChannelTimeout):
            if error.starved:
                said = "a program stood ready to run and got no processor"
                raise VerifierFault(Fault("timeout", said, transient=True)) from None
            return Trial(place, None, "endless", "it did not end in its time")
        what = {"cpu": "endless", "wall": "endless", "memory": "memory"}.get(exit_.reason, "error")
        return Trial(place, None, what, "it ended without outputs")
    await session.finish(0)
    if len(body) != sum(sizes):
        return Trial(place, None, "error", "outputs of another size came back")
    outputs = []
    start = 0
    for size in sizes:
        outputs.append(body[start : start + size])
        start += size
    return Trial(place, tuple(outputs))


def _profile(box: Box) -> Profile:
    return profile_of(
        box,
        0.0,
        preload=("kernel_rehearsed",),
        memory_mb=MEMORY_MB,
        pids=1100,  # a thread for each of a block
        files=(*guests("kernel_free", "kernel_wire"), where(), ("kernel_rehearsed.py", REHEARSED)),
        paths=folders(),
    )
