"""One runner in a sandbox: it gets a program, then case after case, and gives back bytes."""

from __future__ import annotations

import json
import signal
from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from attrs import frozen
from rlenv import Fault, VerifierFault
from rlenv.sandbox import (
    ChannelEnded,
    ChannelError,
    ChannelTimeout,
    Exit,
    FrameTooLong,
    Profile,
    Session,
)

from rlenv_plugin_cuda.artifacts import Program, Runs, Trial
from rlenv_plugin_cuda.box import Box
from rlenv_plugin_cuda.building.places import planning
from rlenv_plugin_cuda.cases import Case

from .frames import order_of, said_of, trial_of

__all__ = ["Runner", "drive", "guests", "lost", "patience", "profile_of", "shares"]

GUEST = Path(__file__).parent.parent / "guest"
ROOM = 1 << 16  # bytes of a frame beside the outputs
LEAST_S = 0.25  # of CPU, for any case
USUAL_S = 20.0  # of CPU: budgets up to this share warm processes


def patience(seconds: float) -> float:
    """Seconds on a program's clock for so many of CPU: it may wait for files, and for nothing
    else.
    """
    return 2 * seconds + 5


def shares(cases: Sequence[Case], seconds: float, most: float) -> list[float]:
    """Seconds of CPU for each case, so that a kernel without an end takes no whole budget.

    A case gets twice its part: as much as would use up twice the time of all, did those that are at
    least as large
    take as long.

    Args:
        cases: those that one process runs.
        seconds: for all of them.
        most: for one of them.
    """
    sizes = sorted(case.elements for case in cases)
    as_large = [len(sizes) - bisect_left(sizes, case.elements) for case in cases]
    return [min(most, max(LEAST_S, 2 * seconds / count)) for count in as_large]


@lru_cache(8)
def guests(*names: str) -> tuple[tuple[str, bytes], ...]:
    """Modules of the far side, as files that a program can import, and what reads plans."""
    modules = [(f"{name}.py", (GUEST / f"{name}.py").read_bytes()) for name in sorted(names)]
    return (*modules, *planning())


@frozen
class Runner:
    """A program of ours that runs answers.

    Args:
        name: of its backend.
        boot: its source.
        profile: what it needs; its seconds are those of the longest budget that it serves.
        overhead: seconds of CPU for what is not a case.
        contracts: whether it can round ``a * b + c`` once.
    """

    name: str
    boot: str
    profile: Profile
    overhead: float
    contracts: bool = True


def profile_of(box: Box, overhead: float, **needs: Any) -> Profile:
    """A profile that budgets up to ``USUAL_S`` share, so that they share warm processes too."""
    seconds = 2 * max(box.budget, USUAL_S) + overhead
    return Profile(
        cpu_s=seconds,
        wall_s=patience(seconds),
        min_isolation=box.min_isolation,
        output_bytes=1 << 12,
        **needs,
    )


async def drive(runner: Runner, program: Program, cases: Sequence[Case], box: Box) -> Runs:
    """Run every case in one fresh process.

    Raises:
        VerifierFault: the sandbox broke, or the machine gave the process no time.
    """
    cpu_s = box.budget + runner.overhead
    timed = list(zip(cases, shares(cases, cpu_s, box.budget), strict=True))
    both = runner.contracts and any(case.kernel.tol.contract is not False for case in cases)
    cpu_s += box.budget * both  # a case may be run twice
    wall_s = patience(cpu_s)
    async with box.session(runner.profile) as session:
        await session.start(runner.boot, cpu_s=cpu_s, wall_s=wall_s)
        return await _led(runner, session, program, timed, wall_s)


async def _led(
    runner: Runner,
    session: Session,
    program: Program,
    cases: Sequence[tuple[Case, float]],
    seconds_each: float,
) -> Runs:
    trials: list[Trial] = []
    name = runner.name
    try:
        await session.send(json.dumps({"source": program.source}).encode())
        said, _ = said_of(await session.recv(ROOM, seconds_each))
        if "broken" in said:
            raise VerifierFault(
                Fault("error", f"{name} does not work here: {str(said['broken'])[:200]}")
            )
        if "ready" not in said:
            line = said.get("line")
            await session.finish(0)
            text = str(said.get("refused", "it could not be read"))[:300]
            return Runs(
                name,
                refused=text,
                line=line if type(line) is int else 0,
                isolation=session.isolation,
            )
        for place, (case, seconds) in enumerate(cases):
            both = runner.contracts and case.kernel.tol.contract is not False
            await session.send(order_of(place, case, cpu_s=seconds, contract=both))
            most = ROOM + sum(map(len, case.poison)) * (1 + both)
            frame = await session.recv(most, seconds_each)
            trials.append(trial_of(place, case, frame, both=both))
            if trials[-1].broken:  # one is enough: a kernel that breaks once is wrong
                break
        await session.finish(0)
    except ChannelError as error:
        exit_ = await session.finish(0.2 if isinstance(error, ChannelEnded) else 0)
        trials.append(lost(len(trials), error, exit_))
    return Runs(name, tuple(trials), isolation=session.isolation)


def lost(place: int, error: ChannelError, exit_: Exit) -> Trial:
    """Why no word came on a case; the answer's doing unless the machine is known to be at fault.

    Raises:
        VerifierFault: it is.
    """
    if exit_.fault is not None and (not exit_.started or exit_.reason in ("lost", "wall")):
        raise VerifierFault(exit_.fault)
    if isinstance(error, ChannelTimeout) and error.starved:
        raise VerifierFault(
            Fault("timeout", "a runner stood ready to run and got no processor", transient=True)
        )
    if isinstance(error, FrameTooLong):
        return Trial(place, None, "lost", "more came back than the outputs hold")
    if exit_.reason == "memory":
        return Trial(place, None, "memory", "it takes more memory than there is for it")
    rang = exit_.status == signal.SIGVTALRM  # compiled code is ended with this number
    if rang or exit_.reason in ("cpu", "wall") or isinstance(error, ChannelTimeout):
        return Trial(place, None, "endless", "it did not end in its time")
    return Trial(place, None, "crash", "its process ended before it answered")
