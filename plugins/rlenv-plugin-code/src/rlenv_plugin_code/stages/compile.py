"""``code/compile``: does the program of a response compile?"""

from __future__ import annotations

from typing import ClassVar

from attrs import field, frozen, validators
from rlenv import Attempt, ConfigError, Outcome, Task, TaskError

from rlenv_plugin_code.artifacts import Answer, Compiled
from rlenv_plugin_code.boxed import Boxed
from rlenv_plugin_code.compiler import checked, executable
from rlenv_plugin_code.languages import tools
from rlenv_plugin_code.programs import program_in, source_problem, tests_in

__all__ = ["Compile", "binary_of"]

binary_of = executable


@frozen(kw_only=True)
class Compile(Boxed):
    """Take the program out of a response and compile it, in a sandbox; 1 when it compiles, else 0.

    Args:
        source_bytes: a longer source does not compile; a task's ``limits.source_bytes`` has
            precedence.
    """

    phase: ClassVar[str] = "compile"
    where: ClassVar[str] = "worker"
    makes: ClassVar[tuple[type, ...]] = (Compiled,)
    default_gate: ClassVar[float] = 1.0

    source_bytes: int = field(default=1 << 18, validator=validators.gt(0))

    def validate(self, task: Task) -> None:
        """Refuse tests that cannot be run, and a language whose compiler is not here.

        Raises:
            TaskError: naming the task and what to do.
        """
        if task.info.get("tests") is not None:
            self.sound(task)
            return
        try:
            tools(self.default)
        except ConfigError as err:
            raise TaskError(str(err), task.id) from None

    async def check(self, attempt: Attempt) -> Outcome:
        """1 when the program compiles; the detail has the line of the response where it does not.

        Raises:
            ConfigError: such a sandbox cannot be had here.
            VerifierFault: the sandbox broke on every try.
        """
        return attempt.with_hidden(await self._compiled(attempt))

    async def _compiled(self, attempt: Attempt) -> Outcome:
        tests = tests_in(attempt.task, self.language)
        program = program_in(attempt, tests, self.prefix)
        problem = source_problem(program, tests.limits.source_bytes or self.source_bytes)
        if problem:
            return Outcome.failed(problem, language=program.language)
        runs = self.runs(tests)
        made = await checked(runs, program)
        data = {"language": program.language, "isolation": self.tier(runs)}
        if isinstance(made, Answer):
            return Outcome(
                0.0, f"it does not compile: {made.error}", {**data, "status": made.status}
            )
        attempt.put(made)
        return Outcome(1.0, "it compiles", data)
