"""The tests of a task, ``task.info["tests"]``, with types.  Plain data.

``reading.tests_of`` reads and checks it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from attrs import field, frozen

__all__ = ["KINDS", "PREFIXES", "Case", "Kind", "Limits", "Prefix", "Tests"]

Kind: TypeAlias = Literal["function", "stdio", "asserts", "golden", "suite"]
KINDS: tuple[Kind, ...] = ("function", "stdio", "asserts", "golden", "suite")
Prefix: TypeAlias = Literal["none", "prompt"]
PREFIXES: tuple[Prefix, ...] = ("none", "prompt")


@frozen
class Limits:
    """What a program may use; None where the task says nothing and the stage's option holds.

    Args:
        memory_mb: MiB for one run.
        output_bytes: of standard output and error, each, that one run may write.
        processes: processes and threads at one time.
        cpu: seconds of CPU of one case (``code/limits``; ``time`` of the tests ends a case).
        source_bytes: of the program's text in UTF-8.
        imports: modules that it must not import.
        calls: names that it must not call ("eval", "os.system").
    """

    memory_mb: int | None = None
    output_bytes: int | None = None
    processes: int | None = None
    cpu: float | None = None
    source_bytes: int | None = None
    imports: tuple[str, ...] | None = None
    calls: tuple[str, ...] | None = None


@frozen
class Case:
    """One test.

    Args:
        visible: it may be shown to a policy and is never scored.
        args, kwargs: what the function is called with (function, golden).
        expected: what it returns (function).
        stdin: what the program reads (stdio, golden of programs).
        stdout: what it writes (stdio).
        test: text of a test, run on the trusted side with the entry point as a proxy (asserts).
    """

    visible: bool = False
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(factory=dict)
    expected: Any = field(default=None, repr=False)
    stdin: str = ""
    stdout: str = field(default="", repr=False)
    test: str = field(default="", repr=False)


@frozen
class Tests:
    """The tests of one task.

    Args:
        kind: "function", "stdio", "asserts", "golden" or "suite" (the response is a test suite:
            ``code/tests``).
        cases: in the task's order; golden: those it has besides the generated ones.
        language: a name of ``languages.LANGUAGES``.
        entry_point: the function that is called; None where programs are run as a whole.
        setup: source that the trusted side runs before each test (asserts).
        golden: source of a correct program, "" for none (golden; any kind for ``code/speed`` and
            ``code/tests``).
        inputs: one schema per argument, see ``draw`` (golden).
        generate: source of ``def generate(rng)`` that returns a list of arguments, or the text of
            standard input (golden).
        count: how many inputs are generated (golden).
        rtol, atol: relative and absolute tolerance of numbers; 0 and 0: exact.
        unordered: the items of a list (the lines of an output) may come in any order.
        loose: a list may stand for a tuple, a tuple for a list, an integer for a float of its
            value.
        checker: source of ``def check(stdin, stdout, expected) -> bool``, "" for none (stdio).
        time: seconds for one case; None: the stage's ``timeout``.
        prefix: what is before the program of a response; None: the stage's option.
        min_isolation: the weakest tier this task may run in; None: the stage's option.
        limits: see Limits.
    """

    __test__ = False  # pytest: no tests in here

    kind: Kind
    cases: tuple[Case, ...] = ()
    language: str = "python"
    entry_point: str | None = None
    setup: str = field(default="", repr=False)
    golden: str = field(default="", repr=False)
    inputs: tuple[Any, ...] | None = None
    generate: str = field(default="", repr=False)
    count: int = 0
    rtol: float = 0.0
    atol: float = 0.0
    unordered: bool = False
    loose: bool = False
    checker: str = field(default="", repr=False)
    time: float | None = None
    prefix: Prefix | None = None
    min_isolation: str | None = None
    limits: Limits = Limits()

    @property
    def scored(self) -> tuple[Case, ...]:
        """The cases that count: those that are not visible."""
        return tuple(case for case in self.cases if not case.visible)

    @property
    def programs(self) -> bool:
        """Whether programs are run as a whole, on text, rather than a function on values."""
        return self.kind == "stdio" or (self.kind == "golden" and self.entry_point is None)
