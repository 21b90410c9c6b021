"""Tries and their results: a broken sandbox is not an answer, an answer that always breaks one is.

- A try that breaks before the program's own code has begun is nobody's doing: another place, and in
  the end no reward at all.
- A try that breaks after that is repeated too; what repeats every time is the program's own.
- Where the machine was too busy to tell, nothing is tried again: that would make it busier.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from rlenv import Fault, VerifierFault

from .drive.clock import Clock
from .drive.ran import Ran

__all__ = ["retried", "worth_a_retry"]


async def retried(play: Callable[[], Awaitable[Ran]], clock: Clock, retries: int) -> Ran:
    """The first try that nothing broke, of ``retries`` + 1 at most, while the budget lasts.

    Args:
        play: one try.
        clock: the budget.
        retries: how many tries there may be after the first.

    Raises:
        VerifierFault: see above.
    """
    fault: Fault | None = None
    last: Ran | None = None
    for _ in range(retries + 1):
        try:
            ran = await play()
        except VerifierFault as err:
            if not worth_a_retry(err.fault):
                raise
            fault = err.fault
            last = None
        else:
            if ran.fault is None:
                return ran
            if ran.starved:
                raise VerifierFault(ran.fault)
            fault = ran.fault
            last = ran if ran.started else None
        if clock.left() <= 0:
            break
    assert fault is not None
    if last is None:
        raise VerifierFault(fault)
    return last


def worth_a_retry(fault: Fault) -> bool:
    """Whether another place may do better: the sandbox broke, and not for want of time."""
    return fault.kind != "timeout" and (fault.transient or fault.kind != "error")
