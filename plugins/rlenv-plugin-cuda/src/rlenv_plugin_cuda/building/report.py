"""The report of one object: each number from where no answer can write it.

Registers, shared memory and stack are read from the object; spills are in the assembler's log only.
Where both say the same thing they must agree.
"""

from __future__ import annotations

from rlenv_plugin_cuda.artifacts import Resources

from .cubin import BadCubin, entries
from .log import said

__all__ = ["Unclear", "resources", "worst"]


class Unclear(Exception):
    """Object and log do not tell the same story, or none at all."""


def resources(cubin: bytes, log: str) -> tuple[Resources, ...]:
    """What the kernels of an object take, by name.

    Raises:
        Unclear: see there.
    """
    try:
        kernels = entries(cubin)
    except BadCubin as bad:
        raise Unclear(str(bad)) from None
    spoken = said(log)
    made = []
    for kernel in kernels:
        words = spoken.get(kernel.name)
        if words is None:
            raise Unclear("the assembler's log says nothing of a kernel")
        if (words.registers, words.shared) != (kernel.registers, kernel.shared):
            raise Unclear("the assembler's log and its object differ")
        made.append(
            Resources(
                kernel=kernel.name,
                registers=kernel.registers,
                shared=kernel.shared,
                stack=kernel.stack,
                spill_stores=words.spill_stores,
                spill_loads=words.spill_loads,
                max_threads=kernel.max_threads,
            )
        )
    return tuple(made)


def worst(name: str, one: Resources, other: Resources) -> Resources:
    """Two builds of one kernel as one: of each number the larger, of the launch bounds the
    tighter.
    """
    bounds = [r.max_threads for r in (one, other) if r.max_threads is not None]
    return Resources(
        kernel=name,
        registers=max(one.registers, other.registers),
        shared=max(one.shared, other.shared),
        stack=max(one.stack, other.stack),
        spill_stores=max(one.spill_stores, other.spill_stores),
        spill_loads=max(one.spill_loads, other.spill_loads),
        max_threads=min(bounds, default=None),
    )
