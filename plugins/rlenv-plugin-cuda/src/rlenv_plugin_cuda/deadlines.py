"""The wall deadline of the stages here, which follows from the limits of all that an answer may
cost.

Compilers and programs are ended on clocks of their own, which give a score.  The deadline of the
worker ends in a fault, so no response may reach it, however busy the machine is.
"""

from __future__ import annotations

__all__ = ["BUSY", "deadline", "seconds_of"]

BUSY = 30.0  # wall seconds for one of CPU, above which the sandbox calls the machine too busy


def seconds_of(budget: float) -> float:
    """CPU seconds that an answer may cost at most: its compilers, its cases, and what is
    interpreted once more.

    Args:
        budget: the option of this name, in seconds.
    """
    from .backends.interpreter import OVERHEAD_S as AGAIN_S
    from .backends.njit import OVERHEAD_S as FIRST_S
    from .building.places import SECONDS

    builds = 2 * SECONDS  # a compiler, and an assembler or linker
    cases = 2 * budget + FIRST_S  # each case may be run twice; ``backends.free`` allows as much
    again = budget + AGAIN_S  # one more case, for its races; see ``backends.njit``
    return builds + cases + again


def deadline(budget: float) -> float:
    """Wall seconds within which an answer has a score, on a machine as busy as the sandbox accepts.

    Args:
        budget: the option of this name, in seconds.
    """
    from .backends.driving import patience
    from .gpu.process import clock_of

    cpu = seconds_of(budget)
    waits = patience(cpu) - cpu  # for files: no load makes these longer
    return BUSY * cpu + waits + clock_of(budget)
