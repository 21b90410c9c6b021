"""Tries and what they come to: a broken sandbox is no answer, an answer that always breaks one is.

- A try that breaks before the program's own code has begun is nobody's doing: another place, and in the
  end no reward at all.
- A try that breaks after that is repeated too; what repeats every time is the program's own.
- Only where the machine gave the program no time, in every try, and nothing of the program took it, is
  there no reward either.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from rlenv.errors import VerifierFault
from rlenv.values import Fault

from .drive.clock import Clock
from .drive.ran import Ran

__all__ = ["retried"]


async def retried(play: Callable[[], Awaitable[Ran]], clock: Clock, retries: int) -> Ran:
    """The first try that nothing broke, of ``retries`` + 1 at most, while the budget lasts.

    Raises:
        VerifierFault: see above.
    """
    starved: list[bool] = []
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
            starved.append(ran.unfair)
        if clock.left() <= 0:
            break
    assert fault is not None
    if last is None or all(starved):
        raise VerifierFault(fault)
    return last
