"""What the stages of a code environment hand to one another: plain data, nothing that can act."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, TypeAlias

from attrs import field, frozen

__all__ = ["Answer", "Answers", "Compiled", "Program", "Status"]

Status: TypeAlias = Literal[
    "ok",  # it answered
    "error",  # it raised; ``error`` is the name of the exception's type
    "timeout",  # it used up its time
    "memory",  # it used up its memory
    "crash",  # it ended without an answer
    "protocol",  # what it sent is no answer
    "output",  # it wrote more than is kept
    "skipped",  # it was not asked, since the budget was used up or an earlier case ended it
]


@frozen
class Program:
    """The program of a response.

    Args:
        language: a name of ``languages.LANGUAGES``.
        source: its text, with line ends of one kind.
        first_line: line of the response, from 1, where the source begins.
    """

    language: str
    source: str
    first_line: int = 1


@frozen
class Compiled:
    """A program that compiles.

    Args:
        program: what was compiled.
        binary: the executable; native languages only.
    """

    program: Program
    binary: bytes | None = field(default=None, repr=False)


@frozen
class Answer:
    """What a program did with one case.

    Args:
        status: how it ended.
        value: the returned value (function, golden), the text of standard output (stdio) or whether
            the test passed (asserts); None unless ``status`` is "ok".
        error: a few words for a reader, the type of an exception for instance.
        cpu, wall: seconds; the judge's measurement.
        peak_memory: bytes.
    """

    status: Status
    value: Any = None
    error: str = ""
    cpu: float = 0.0
    wall: float = 0.0
    peak_memory: int = 0


def _tuple(answers: Iterable[Answer]) -> tuple[Answer, ...]:
    return tuple(answers)


@frozen
class Answers:
    """What a program did with every scored case, in order.

    Args:
        kind: the kind of the tests.
        answers: one per scored case; visible cases are not among them.
        expected: for golden tasks what the golden program answered to the same inputs.
        inputs: for golden tasks of whole programs the standard inputs.
        isolation: the weakest tier that a case ran in.
        stable: False when repetitions disagreed.
    """

    kind: str
    answers: tuple[Answer, ...] = field(converter=_tuple)
    expected: tuple[Any, ...] | None = None
    isolation: str = "process"
    stable: bool = True
    inputs: tuple[str, ...] | None = None
