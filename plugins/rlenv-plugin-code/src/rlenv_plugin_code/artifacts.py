"""What the stages of a code environment hand to one another: plain data, nothing that can act."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any, Literal, TypeAlias

from attrs import field, frozen

from .codec import decode

__all__ = [
    "SENT_BYTES",
    "Answer",
    "Answers",
    "Compiled",
    "Program",
    "Sent",
    "Status",
    "plain",
    "sent",
]

SMALL = 64  # bytes of a value that is kept as it is
# Of all values and the executable of one response; a worker sends a third more, at most 64 MiB.
SENT_BYTES = 44 << 20

Status: TypeAlias = Literal[
    "ok",  # it answered
    "error",  # it raised; ``error`` is the name of the exception's type
    "timeout",  # it used up its time
    "memory",  # it used up its memory
    "crash",  # it ended without an answer
    "protocol",  # what it sent is not an answer
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
class Sent:
    """A value as the bytes that it came in: a worker sends these on at no more cost for a long list
    than for a text.

    Args:
        data: the text of ``codec``, or UTF-8.
        is_text: whether it is UTF-8.
    """

    data: bytes = field(repr=False)
    is_text: bool = False

    @cached_property
    def value(self) -> Any:
        return self.data.decode("utf-8", "surrogatepass") if self.is_text else decode(self.data)


def sent(value: Any, data: bytes, *, is_text: bool = False) -> Any:
    """A value that came in these bytes, as ``Answer`` and ``Answers`` hold it."""
    return value if len(data) <= SMALL else Sent(data, is_text)


def plain(value: Any) -> Any:
    """The value that ``sent`` was given."""
    return value.value if isinstance(value, Sent) else value


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
    sent: Any = field(default=None, alias="value", eq=plain)
    error: str = ""
    cpu: float = 0.0
    wall: float = 0.0
    peak_memory: int = 0

    @property
    def value(self) -> Any:
        return plain(self.sent)


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
    _expected: tuple[Any, ...] | None = field(default=None, alias="expected")
    isolation: str = "process"
    stable: bool = True
    _inputs: tuple[Any, ...] | None = field(default=None, alias="inputs")

    @property
    def expected(self) -> tuple[Any, ...] | None:
        return None if self._expected is None else tuple(map(plain, self._expected))

    @property
    def inputs(self) -> tuple[str, ...] | None:
        return None if self._inputs is None else tuple(map(plain, self._inputs))

    @property
    def size(self) -> int:
        """Bytes of the values that are large."""
        values = [answer.sent for answer in self.answers]
        values += [*(self._expected or ()), *(self._inputs or ())]
        return sum(len(value.data) for value in values if isinstance(value, Sent))
