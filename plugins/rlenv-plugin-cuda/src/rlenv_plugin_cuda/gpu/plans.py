"""A launch plan as a list of launches: nothing of an answer is left in it but numbers and names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import frozen

from rlenv_plugin_cuda.artifacts import Launch, Program
from rlenv_plugin_cuda.cases import Case
from rlenv_plugin_cuda.lang_cuda.rules import read
from rlenv_plugin_cuda.planning.reading import Plan as Reading
from rlenv_plugin_cuda.planning.values import Dtype, Handle, Refused, Trouble, configured

from .abi import Given, Mismatch, Passed, Word, c_words

__all__ = [
    "LAUNCHES", "SHARED_BYTES", "SIZES", "TEMPORARY_BYTES", "THREADS", "Plan", "Step", "Wrong",
    "cpp_plan",
]  # fmt: skip

LAUNCHES = 4096
TEMPORARY_BYTES = 4 << 30
SHARED_BYTES = (
    232_448  # of a block, with opt-in, on sm_90: "CUDA C++ Programming Guide", compute capabilities
)
SIZES = {
    "f2": 2, "bf16": 2, "f4": 4, "f8": 8, "b1": 1, "c8": 8, "c16": 16, "i1": 1, "i2": 2, "i4": 4,
    "i8": 8, "u1": 1, "u2": 2, "u4": 4, "u8": 8,
}  # fmt: skip
THREADS = 1024


class Wrong(Exception):
    """The answer's fault; ``line`` within the program, 0: nowhere in particular."""

    def __init__(self, said: str, line: int = 0, what: str = "launch") -> None:
        self.said = said
        self.line = line
        self.what = what
        super().__init__(said)


@frozen
class Step:
    """One launch.

    Args:
        kernel: its name in the answer.
        key: which of the objects: the name, or for numba the name and the types.
        grid, block: three sizes each.
        dynamic: bytes of shared memory.
        words: see ``abi``.
        types: of the arguments, as ``artifacts.Launch`` has them.
    """

    kernel: str
    key: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    dynamic: int
    words: tuple[Word, ...]
    types: tuple[str, ...] = ()


@frozen
class Plan:
    """Launches in order, and the bytes of the arrays that the plan makes for itself."""

    temporaries: tuple[int, ...]
    steps: tuple[Step, ...]

    def launched(self) -> tuple[Launch, ...]:
        """Each launch once."""
        found = {}
        for step in self.steps:
            x, y, z = step.block
            found[step.key, step.block, step.dynamic] = Launch(
                step.kernel, step.types, step.dynamic, x * y * z
            )
        return tuple(found.values())[:64]


class _Host:
    """What a plan of CUDA C++ asks for, noted."""

    def __init__(
        self, parameters: Mapping[str, Sequence[tuple[str, str, bool]]], first: int
    ) -> None:
        self._parameters = parameters
        self._first = first
        self.temporaries: list[int] = []
        self.steps: list[Step] = []

    def allocate(self, shape: tuple[int, ...], code: str, fill: float | None) -> Handle:
        if fill is not None:
            raise Trouble("type", "an array of a plan for a GPU begins with what a kernel writes")
        made = Handle(None, shape, code)
        size = made.size * SIZES[code]
        if sum(self.temporaries) + size > TEMPORARY_BYTES:
            raise Trouble("memory", f"more than {TEMPORARY_BYTES} bytes of temporary arrays")
        made.buffer = self._first + len(self.temporaries)
        self.temporaries.append(size)
        return made

    def fill(self, array: Handle, value: float) -> None:  # noqa: ARG002 - of the port
        raise Trouble("type", "plans for a GPU fill no arrays: a kernel does")

    def launch(
        self,
        kernel: str,
        shape: object,
        args: Sequence[object],
        named: Mapping[str, object],
        line: int,
    ) -> None:
        if named:
            raise Trouble("arguments", f"{kernel} takes its arguments in their order", line)
        if len(self.steps) >= LAUNCHES:
            raise Trouble("launches", f"more than {LAUNCHES} launches", line)
        grid, block, dynamic = configured(kernel, shape, SHARED_BYTES, THREADS)
        given = [_given(argument) for argument in args]
        words = c_words(self._parameters[kernel], given)
        types = tuple(_type(one) for one in given)
        step = Step(
            kernel=kernel,
            key=kernel,
            grid=grid,
            block=block,
            dynamic=dynamic,
            words=tuple(words),
            types=types,
        )
        self.steps.append(step)


def _given(argument: object) -> Given:
    if isinstance(argument, Handle):
        assert isinstance(argument.buffer, int)
        return Passed(argument.buffer, argument.code, SIZES[argument.code], argument.shape)
    if isinstance(argument, (bool, int, float)):
        return argument
    kind = "a type" if isinstance(argument, Dtype) else type(argument).__name__
    raise Trouble("type", f"kernels take arrays and numbers, not {kind}")


def _type(given: Given) -> str:
    return (
        f"{given.code}[{len(given.shape)}]" if isinstance(given, Passed) else type(given).__name__
    )


def cpp_plan(program: Program, case: Case) -> Plan:
    """The launches of a CUDA C++ answer for one case; no code of it is executed for that.

    Raises:
        Wrong: the plan cannot be followed.
    """
    try:
        answer = read(program.source)
    except Refused as refused:
        raise Wrong(refused.said, refused.line, "refused") from None
    parameters = {
        kernel.name: [(p.name, p.code, p.pointer) for p in kernel.parameters]
        for kernel in answer.kernels
    }
    arguments, first = _arguments(case)
    host = _Host(parameters, first)
    try:
        Reading(answer.plan, answer.names, host).run(arguments)
    except Trouble as trouble:
        raise Wrong(trouble.said, trouble.line, trouble.what) from None
    except Mismatch as mismatch:
        raise Wrong(str(mismatch), answer.plan.lineno, "arguments") from None
    if not host.steps:
        raise Wrong("no kernel is launched", answer.plan.lineno)
    return Plan(tuple(host.temporaries), tuple(host.steps))


def _arguments(case: Case) -> tuple[list[Any], int]:
    """What ``run`` gets: handles numbered as the buffers are, inputs first.

    The second value is the number of buffers.
    """
    values = case.values
    given = list[Any]()
    number = 0
    for array in (*case.kernel.inputs, *case.kernel.outputs):
        if array.scalar:
            given.append(values[array.name])
            continue
        given.append(Handle(number, array.shape(case.sizes), array.dtype))
        number += 1
    return given, number
