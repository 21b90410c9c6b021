"""One runner in a sandbox: it gets a program, then case after case, and gives back bytes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from time import monotonic
from typing import Any

from rlenv.errors import VerifierFault
from rlenv.sandbox import (
    ChannelEnded,
    ChannelError,
    ChannelTimeout,
    Exit,
    FrameTooLong,
    Profile,
    Session,
)
from rlenv.values import Fault

from rlenv_plugin_cuda.artifacts import Program, Runs, Trial
from rlenv_plugin_cuda.box import Box
from rlenv_plugin_cuda.cases import Case

from .frames import order_of, said_of, trial_of

__all__ = ["drive", "guests", "patience"]

GUEST = Path(__file__).parent.parent / "guest"
ROOM = 1 << 16  # bytes of a frame beside the outputs


def patience(seconds: float) -> float:
    """Seconds of wall time for so many of CPU: on a busy machine it is still the CPU that decides."""
    return max(2 * seconds, min(20 + 5 * seconds, 80.0))


@lru_cache(8)
def guests(*names: str) -> tuple[tuple[str, bytes], ...]:
    """Modules of the far side, as files that a program can import."""
    return tuple((f"{name}.py", (GUEST / f"{name}.py").read_bytes()) for name in sorted(names))


async def drive(  # noqa: PLR0917 - what a runner is, then what it runs
    name: str,
    boot: str,
    profile: Profile,
    program: Program,
    cases: Sequence[Case],
    box: Box,
    order: Mapping[str, Any],
) -> Runs:
    """Run every case in one fresh process.

    Args:
        name: of the backend.
        boot: the source of the runner.
        order: what the runner is told besides the source.

    Raises:
        VerifierFault: the sandbox broke, or the machine gave the process no time.
    """
    until = monotonic() + profile.wall_s
    async with box.session(profile) as session:
        await session.start(boot)
        return await _led(name, session, program, cases, order, until)


async def _led(  # noqa: PLR0917 - as above
    name: str,
    session: Session,
    program: Program,
    cases: Sequence[Case],
    order: Mapping[str, Any],
    until: float,
) -> Runs:
    trials: list[Trial] = []
    try:
        await session.send(json.dumps({"source": program.source, **order}).encode())
        said, _ = said_of(await session.recv(ROOM, until - monotonic()))
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
        for place, case in enumerate(cases):
            await session.send(order_of(place, case))
            most = ROOM + sum(map(len, case.poison))
            trials.append(
                trial_of(place, case, await session.recv(most, max(0.1, until - monotonic())))
            )
            if trials[-1].broken:  # one is enough: a kernel that breaks once is wrong
                break
        await session.finish(0)
    except ChannelError as error:
        exit_ = await session.finish(0.2 if isinstance(error, ChannelEnded) else 0)
        trials.append(_lost(len(trials), error, exit_))
    return Runs(name, tuple(trials), isolation=session.isolation)


def _lost(place: int, error: ChannelError, exit_: Exit) -> Trial:
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
    if exit_.reason in ("cpu", "wall") or isinstance(error, ChannelTimeout):
        return Trial(place, None, "endless", "it did not end in its time")
    return Trial(place, None, "crash", "its process ended before it answered")
