"""``code/limits``: does a program keep to what it may be, import, call and use?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

from attrs import field, frozen, validators
from rlenv import Attempt, Outcome, Task, TaskError
from rlenv.authoring import Safe

from rlenv_plugin_code.artifacts import Answer, Answers, Compiled, Program
from rlenv_plugin_code.boxed import Boxed, names_tuple
from rlenv_plugin_code.names import Names, names_in
from rlenv_plugin_code.programs import program_in, source_problem, tests_in
from rlenv_plugin_code.spec import Tests

__all__ = ["Limits"]

_OVERRUN = {"timeout": "time", "memory": "memory", "output": "output"}
_optional = validators.optional(validators.gt(0))


@frozen(kw_only=True)
class Limits(Boxed):
    """1 when a program keeps all limits, else 0.  A task's own ``limits`` have precedence.

    What is imported and called is told by the syntax tree, through aliases, ``__import__``,
    ``getattr`` and the like; a program that puts names together as it runs can hide them, so this
    steers honest programs and is no wall: the sandbox is.  ``cpu_s``, ``wall_s``, ``peak_mb`` and
    ``output_bytes`` need ``code/run`` before.

    Args:
        source_bytes: of the program, as UTF-8.
        imports: modules that must not be imported, their submodules included ("os", "os.path").
        calls: names that must not be used ("eval", "os.system"), or methods of anything (".sort").
        cpu_s: seconds of CPU of any one case; of function tasks and asserts the mean of all cases.
        wall_s: seconds of any one case, on the program's clock.
        peak_mb: MiB that any one case may need at its peak.
        output_bytes: of standard output of any one case (stdio).
    """

    phase: ClassVar[str] = "constrain"
    where: ClassVar[str] = "worker"
    takes: ClassVar[tuple[type, ...]] = (Compiled,)
    default_gate: ClassVar[float] = 1.0

    source_bytes: int = field(default=1 << 18, validator=validators.gt(0))
    imports: Safe[tuple[str, ...]] = field(default=(), converter=names_tuple)
    calls: Safe[tuple[str, ...]] = field(default=(), converter=names_tuple)
    cpu_s: float | None = field(default=None, validator=_optional)
    wall_s: float | None = field(default=None, validator=_optional)
    peak_mb: float | None = field(default=None, validator=_optional)
    output_bytes: int | None = field(default=None, validator=_optional)

    @property
    def measures(self) -> bool:
        """Whether anything that is measured has a limit."""
        limits = (self.cpu_s, self.wall_s, self.peak_mb, self.output_bytes)
        return any(limit is not None for limit in limits)

    @property
    def needs(self) -> tuple[type, ...]:
        return (Answers,) if self.measures else ()

    @property
    def deterministic(self) -> bool:
        return self.cpu_s is None and self.wall_s is None and self.peak_mb is None

    def validate(self, task: Task) -> None:
        """Refuse tests that make no sense, and limits that cannot be checked.

        Raises:
            TaskError: naming the task, the key, and what to do.
        """
        if task.info.get("tests") is not None:
            self.sound(task)
        tests = tests_in(task, self.language)
        if tests.language != "python" and (self._imports(tests) or self._calls(tests)):
            raise TaskError(
                f"imports and calls are told of Python only, and this task is in {tests.language}; "
                "leave them out of code/limits, or give such tasks an environment of their own",
                task.id,
            )
        if tests.limits.cpu is not None and not self.measures:
            raise TaskError(
                "info.tests.limits.cpu is a limit of what code/run measures; "
                "put code/run before code/limits and give code/limits cpu_s, for tasks without",
                task.id,
            )

    async def check(self, attempt: Attempt) -> Outcome:
        """1 or 0; the detail names the first limit that is broken.

        Raises:
            ConfigError: such a sandbox cannot be had here.
            VerifierFault: the sandbox broke on every try.
        """
        tests = tests_in(attempt.task, self.language)
        program = program_in(attempt, tests, self.prefix)
        broken = source_problem(program, tests.limits.source_bytes or self.source_bytes)
        if not broken and self.measures:
            broken = self._measured(attempt.get(Answers).answers, tests)
        if not broken:
            broken = await self._named(program, tests)
        if broken:
            return Outcome.failed(broken)
        return Outcome.passed("it keeps all limits")

    def _imports(self, tests: Tests) -> Sequence[str]:
        own = tests.limits.imports
        return self.imports if own is None else own

    def _calls(self, tests: Tests) -> Sequence[str]:
        own = tests.limits.calls
        return self.calls if own is None else own

    async def _named(self, program: Program, tests: Tests) -> str:
        """The first import or use that is not allowed, "" for none."""
        imports = self._imports(tests)
        calls = self._calls(tests)
        if program.language != "python" or not (imports or calls):
            return ""
        names = await names_in(self.runs(tests), program)
        if isinstance(names, Answer):
            return f"it cannot be read: {names.error}"
        return _first(names, imports, calls, program.first_line - 1)

    def _measured(self, answers: Iterable[Answer], tests: Tests) -> str:
        """The first case that used more than it may, "" for none."""
        cpu = self.cpu_s if tests.limits.cpu is None else tests.limits.cpu
        for number, answer in enumerate(answers, 1):
            what = _OVERRUN.get(answer.status, "")
            if not what and cpu is not None and answer.cpu > cpu:
                what = f"{answer.cpu:.3g} s of CPU, {cpu:g} are allowed"
            elif not what and self.wall_s is not None and answer.wall > self.wall_s:
                what = f"{answer.wall:.3g} s, {self.wall_s:g} are allowed"
            elif (
                not what and self.peak_mb is not None and answer.peak_memory > self.peak_mb * 2**20
            ):
                what = f"{answer.peak_memory >> 20} MiB, {self.peak_mb:g} are allowed"
            elif not what and _too_long(answer, self.output_bytes):
                what = f"more than {self.output_bytes} bytes of output"
            if what:
                return f"test {number} used too much: {what}"
        return ""


def _too_long(answer: Answer, most: int | None) -> bool:
    if most is None or not isinstance(answer.value, str):
        return False
    return len(answer.value.encode("utf-8", "surrogatepass")) > most


def _first(names: Names, imports: Sequence[str], calls: Sequence[str], shift: int) -> str:
    for name, line in sorted(names.imports, key=_line):
        if any(_within(name, module) for module in imports):
            return f"line {line + shift}: it imports {name}"
    for name, line in sorted(names.uses, key=_line):
        if any(_within(name, call) for call in calls) or any(_within(name, m) for m in imports):
            return f"line {line + shift}: it uses {name.removeprefix('.')}"
    return ""


def _within(name: str, whole: str) -> bool:
    return name == whole or name.startswith(f"{whole}.")


def _line(item: tuple[str, int]) -> int:
    return item[1]
