"""``cuda/compile``: does an answer keep the rules of its language, and does it compile?"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, ClassVar

from attrs import field, frozen, validators
from rlenv import Attempt, Outcome, Task, TaskError, VerifierFault
from rlenv.authoring import Safe

from rlenv_plugin_cuda.allowing import refused
from rlenv_plugin_cuda.artifacts import Program, Report
from rlenv_plugin_cuda.box import Box
from rlenv_plugin_cuda.boxed import Boxed, is_host
from rlenv_plugin_cuda.building import toolchain
from rlenv_plugin_cuda.building.builder import build
from rlenv_plugin_cuda.programs import Bad, program_of
from rlenv_plugin_cuda.reading import kernel_of
from rlenv_plugin_cuda.shown import at_line
from rlenv_plugin_cuda.spec import Kernel

__all__ = ["Compile"]

COMPILERS = ("auto", "required", "none")


@frozen(kw_only=True)
class Compile(Boxed):
    """Take the kernels out of a response, check them against the rules, and compile them.

    The score is 1 when all that goes well, else 0.

    The program is the last fenced block of the task's language.  The rules let device code and a
    launch plan ``run(*inputs, *outputs)`` through and refuse all other host code, with the line and
    the reason.  What keeps the rules is compiled in a sandbox for ``limits.arch``, without a GPU.

    Args:
        compiler: "auto": compile where a compiler is installed, and say so where none is;
            "required": a task is rejected at load where none is; "none": the rules alone.
        host: "plan", the only value, as at ``cuda/run``.
    """

    phase: ClassVar[str] = "compile"
    where: ClassVar[str] = "worker"
    uses: ClassVar[tuple[str, ...]] = ("info.kernel",)
    makes: ClassVar[tuple[type, ...]] = (Program, Report)
    default_gate: ClassVar[float] = 1.0

    compiler: str = field(default="auto", validator=validators.in_(COMPILERS))
    host: Safe[str] = field(default="plan", validator=is_host)

    def validate(self, task: Task) -> None:
        """Refuse tasks that make no sense, and architectures that the compiler does not know.

        Raises:
            TaskError: naming the task, the key, what was expected and what to do.
        """
        kernel = kernel_of(task)
        if self.compiler != "none":
            compilable(kernel, task, required=self.compiler == "required")

    def survey(self, tasks: Sequence[Task]) -> list[str]:
        """Languages that nothing compiles here."""
        if self.compiler == "none":
            return []
        langs = sorted({kernel_of(task).lang for task in tasks})
        return [f"{why}: kernels are only read" for why in map(toolchain.missing, langs) if why]

    async def check(self, attempt: Attempt) -> Outcome:
        """1 when the program compiles; the detail has the line of the response where it does not.

        Raises:
            VerifierFault: the sandbox broke on every try; or no compiler is here and one is
                required.
        """
        return attempt.with_hidden(await self._compiled(attempt))

    async def _compiled(self, attempt: Attempt) -> Outcome:
        kernel = kernel_of(attempt.task)
        program = program_of(attempt, kernel.lang)
        problem = program if isinstance(program, Bad) else refused(program)
        if problem is not None or isinstance(program, Bad):
            assert problem is not None
            return Outcome.failed(at_line(problem.line, problem.said), compiled=False)
        report, why = await self._report(program, kernel)
        if report.problem:
            line = program.place(report.line)
            said = at_line(line, f"it does not compile: {report.problem}")
            return Outcome.failed(said, compiled=False, compiler=report.compiler)
        attempt.put(program)
        attempt.put(report)
        return _outcome(report, why)

    async def _report(self, program: Program, kernel: Kernel) -> tuple[Report, str]:
        """The report, or one that says nothing and why nothing compiled it."""
        arch = kernel.limits.arch
        if self.compiler == "none":
            return Report(arch, ""), "compiler is none"
        try:
            return await built(program, kernel, self.box()), ""
        except VerifierFault as err:
            if self.compiler == "required" or err.fault.kind != "unavailable":
                raise
            return Report(arch, ""), err.fault.message


async def built(program: Program, kernel: Kernel, box: Box) -> Report:
    """The report of a program; the compilers are asked what they know where no loop waits for them.

    Raises:
        VerifierFault: as ``build``.
    """
    arch = kernel.limits.arch
    if not toolchain.missing(kernel.lang):
        await asyncio.to_thread(toolchain.unsupported, kernel.lang, arch)
    return await build(program, kernel, box, arch)


def compilable(kernel: Kernel, task: Task, *, required: bool) -> None:
    """Refuse what the compilers of this machine cannot build.

    Raises:
        TaskError: the architecture is unknown to a compiler that is here; or a required one is not.
    """
    lacking = toolchain.missing(kernel.lang)
    if lacking and required:
        raise TaskError(lacking, task.id)
    unknown = "" if lacking else toolchain.unsupported(kernel.lang, kernel.limits.arch)
    if unknown:
        raise TaskError(f"info.kernel.limits.arch: {unknown}", task.id)


def _outcome(report: Report, why: str) -> Outcome:
    if not report.compiler:
        return Outcome.passed(f"it keeps the rules; not compiled: {why}", compiled=False)
    kernels: dict[str, Any] = {
        kernel.kernel: {
            "registers": kernel.registers,
            "shared": kernel.shared,
            "stack": kernel.stack,
            "spills": kernel.spill_stores + kernel.spill_loads,
        }
        for kernel in report.kernels
    }
    return Outcome.passed(
        f"it compiles with {report.compiler}",
        compiled=True,
        compiler=report.compiler,
        kernels=kernels,
    )
