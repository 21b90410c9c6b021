"""What the stages hand each other: plain values, sound to send to another process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import field, frozen

__all__ = ["Launch", "Program", "Report", "Resources", "Runs", "Trial"]


def _tuple(values: Sequence[object]) -> tuple[Any, ...]:
    return tuple(values)


@frozen
class Program:
    """An answer's program.

    Args:
        lang: "numba", "triton" or "cuda".
        source: its text.
        line: of the response in which the source begins, from 1.
        plan_from: line of the source in which a launch plan begins that stood in a block of its
            own; 0: there is none.
        plan_line: line of the response in which that plan begins.
    """

    lang: str
    source: str
    line: int = 1
    plan_from: int = 0
    plan_line: int = 1

    def place(self, line: int) -> int:
        """The line of the response that is a line of the source, 0 for none."""
        if not line:
            return 0
        if self.plan_from and line >= self.plan_from:
            return line - self.plan_from + self.plan_line
        return line + self.line - 1


@frozen
class Resources:
    """What one kernel takes, as the assembler says it.

    Args:
        kernel: its name.
        registers: per thread.
        shared: bytes of static shared memory per block, without what the system reserves.
        stack: bytes per thread; 1 << 31 where recursion leaves it without a bound.
        spill_stores, spill_loads: bytes per thread that go to memory for want of registers.
        max_threads: per block that it was compiled for; None: as many as the device allows.
    """

    kernel: str
    registers: int
    shared: int
    stack: int
    spill_stores: int
    spill_loads: int
    max_threads: int | None = None


@frozen
class Report:
    """What came of compiling for one architecture.

    Args:
        arch: such as "sm_90".
        compiler: what compiled it; "": nothing did, since there is no compiler here.
        kernels: by name; none where there is a problem.
        problem: why the answer does not compile, "" when it does.
        line: of the program where that is, from 1; 0: nowhere in particular.
    """

    arch: str
    compiler: str
    kernels: tuple[Resources, ...] = field(converter=_tuple, default=())
    problem: str = ""
    line: int = 0


@frozen
class Launch:
    """A kernel as a launch plan launched it.

    Args:
        kernel: its name.
        arguments: their types: "f4[2]" for an array of two dimensions, "int", "float", "bool",
            "complex".
        shared: bytes of dynamic shared memory.
        threads: of a block.
    """

    kernel: str
    arguments: tuple[str, ...] = field(converter=_tuple, default=())
    shared: int = 0
    threads: int = 0


@frozen
class Trial:
    """One case.

    Args:
        case: its place among the cases.
        outputs: the bytes of each output, in order; None where the case broke.
        broken: what broke it, in a word ("race", "bounds", "endless"); "" when nothing did.
        said: how, for a reader.
        line: of the program, from 1; 0: nowhere in particular.
        launches: how many there were.
        threads: of the largest block.
        shared: bytes of shared memory of a block, static and dynamic, at most.
        launched: the launches, each once.
        orders: outputs of further orders of threads and blocks, where they are others; they have to
            be right too.
        fused: outputs with ``a * b + c`` rounded once, where the task allows that; else None.
        fused_orders: the same of further orders of threads and blocks, where they are others.
    """

    case: int
    outputs: tuple[bytes, ...] | None = field(repr=False)
    broken: str = ""
    said: str = ""
    line: int = 0
    launches: int = 0
    threads: int = 0
    shared: int = 0
    launched: tuple[Launch, ...] = field(converter=_tuple, default=())
    orders: tuple[tuple[bytes, ...], ...] = field(converter=_tuple, repr=False, default=())
    fused: tuple[bytes, ...] | None = field(repr=False, default=None)
    fused_orders: tuple[tuple[bytes, ...], ...] = field(converter=_tuple, repr=False, default=())


@frozen
class Runs:
    """What came of running an answer.

    Args:
        backend: what ran it.
        trials: one per case that was run, in order.
        refused: why it was not run at all, "" when it was.
        line: of the program where that is, from 1; 0: nowhere in particular.
        isolation: the tier it ran in.
        checked: what was looked for besides wrong outputs, and what this misses; {} where the page
            of the backend says it.
    """

    backend: str
    trials: tuple[Trial, ...] = field(converter=_tuple, default=())
    refused: str = ""
    line: int = 0
    isolation: str = ""
    checked: Mapping[str, object] = {}
