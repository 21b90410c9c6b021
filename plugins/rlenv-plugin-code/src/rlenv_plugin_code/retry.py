"""Tries and what they come to: a broken sandbox is no answer, an answer that always breaks one is.

- A try that breaks before the program's own code has begun is nobody's doing: another place, and in the
  end no reward at all.
- A try that breaks after that is repeated too; what repeats every time is the program's own.
- Only where the machine starved the program in every try, and it never got the CPU that it may use, is
  there no reward either.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from rlenv.errors import VerifierFault
from rlenv.values import Fault

from .drive.clock import Clock
from .drive.ran import Ran

__all__ = ["retried"]


async def retried(
    play: Callable[[], Awaitable[Ran]], clock: Clock, retries: int, enough: float = 1.0
) -> Ran:
    """The first try that nothing broke, of ``retries`` + 1 at most, while the budget lasts.

    Args:
        play: one try.
        clock: the budget.
        retries: how many tries there may be after the first.
        enough: seconds of CPU after which a program that ran out of time cannot blame the machine.

    Raises:
        VerifierFault: see above.
    """
    unfair: list[bool] = []
    fault: Fault | None = None
    last: Ran | None = None
    for _ in range(retries + 1):
        try:
            ran = await play()
        except VerifierFault as err:
            if not err.fault.transient and err.fault.kind == "error":
                raise
            fault, last = err.fault, None
        else:
            if ran.fault is None:
                return ran
            fault, last = ran.fault, ran if ran.started else None
            unfair.append(ran.starved and ran.cpu < enough)
        if clock.left() <= 0:
            break
    assert fault is not None
    if last is None or all(unfair):
        raise VerifierFault(fault)
    return last
