"""Growth laws: what work costs on an input twice as large, instead of whether a huge input ever
ends.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from math import inf
from time import thread_time

FEWEST = (
    4  # measurements of each before a law holds: what shares a processor disturbs all of a moment
)
ROUNDS = 40  # before it counts as broken
SHORTEST = 0.002  # seconds of one measurement; below that the clock is too coarse
FACTOR = 3.0  # linear work costs 2 times as much on twice as much input, quadratic work 4 times


def assert_linear(work: Callable[[str], object], unit: str, size: int = 20_000) -> None:
    """Assert that ``work`` costs less than 3 times as much on twice as much input.

    Costs are seconds of this thread on a processor, the least of several measurements, so the load
    of the machine does not decide.

    Args:
        work: takes a text.
        unit: repeated until the text has the size.
        size: characters of the smaller text. Beyond 100,000 what the kernel takes to find memory
            weighs more than work.
    """
    small, large = (unit * (n // len(unit)) for n in (size, 2 * size))
    assert_growth(lambda: work(small), lambda: work(large))


def assert_growth(small: Callable[[], object], large: Callable[[], object]) -> None:
    """Assert that ``large``, which has twice as much to do, costs less than 3 times as much as
    ``small``.
    """
    times = _repetitions(small)
    least = [inf, inf]
    for done in range(1, ROUNDS + 1):
        least = [min(least[0], _cost(small, times)), min(least[1], _cost(large, times))]
        if done >= FEWEST and least[1] < FACTOR * least[0]:
            return
    raise AssertionError(
        f"twice as much input costs {least[1] / least[0]:.1f} times as much: {least[0] / times:.2g}"
        f" s, then {least[1] / times:.2g} s; less than {FACTOR:g} times is wanted"
    )


def _repetitions(work: Callable[[], object]) -> int:
    """How often it has to run to be measured; what it does only the first time is done thereby."""
    times = 1
    work()
    while _cost(work, times) < SHORTEST:
        times *= 2
    return times


def _cost(work: Callable[[], object], times: int) -> float:
    gc.disable()  # what earlier tests left is not part of the cost
    try:
        start = thread_time()
        for _ in range(times):
            work()
        return thread_time() - start
    finally:
        gc.enable()
