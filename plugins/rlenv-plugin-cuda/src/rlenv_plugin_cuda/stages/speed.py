"""``cuda/speed``: how fast kernels are, measured on a GPU, after they are right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from attrs import field, frozen, validators
from rlenv import Attempt, Fault, Outcome, Task, TaskError, VerifierFault

from rlenv_plugin_cuda.artifacts import Program
from rlenv_plugin_cuda.boxed import Boxed
from rlenv_plugin_cuda.cases import Case, cases_of
from rlenv_plugin_cuda.choosing import BACKENDS
from rlenv_plugin_cuda.clocks import CLOCKS, clock
from rlenv_plugin_cuda.lint import lint
from rlenv_plugin_cuda.programs import SOURCE_BYTES, Bad, program_of
from rlenv_plugin_cuda.reading import kernel_of
from rlenv_plugin_cuda.running import readable
from rlenv_plugin_cuda.shown import at_line, hushed
from rlenv_plugin_cuda.spec import Kernel

__all__ = ["Speed"]

UNMEASURED = ("unscored", "unpaid")


@frozen(kw_only=True)
class Speed(Boxed):
    """Time kernels on a GPU, in turn with a baseline.

    The score is log-scaled and capped, and 0 for what is not right.

    The judge's side owns stream, events and buffers: answers are timed with cold caches and rotated
    inputs, and every output that is timed is compared.  The baseline is ``info.baseline``, a right
    program in the task's language; without one, what memory allows.  Where there is no GPU the
    stage is a fault with the reason: what was not measured is unscored.

    Args:
        clock: "gpu"; or "rehearsal", which measures nothing and pays what is right: to try an
            environment.
        cap: how many times faster than the baseline earns 1.
        demand: refuse tasks at load where no GPU is here.
        unmeasured: what becomes of answers where there is nothing to measure them with, no GPU or
            none that runs their language: "unscored", a fault with the reason; or "unpaid", 0 with
            the reason, so that correctness can be paid where speed cannot be known.  A measurement
            that breaks is a fault with either.
    """

    phase: ClassVar[str] = "judge"
    where: ClassVar[str] = "worker"
    uses: ClassVar[tuple[str, ...]] = ("info.kernel",)
    takes: ClassVar[tuple[type, ...]] = (Program,)
    draws: ClassVar[bool] = True
    deterministic: ClassVar[bool] = False
    at_once: ClassVar[int] = 1  # two answers that are measured at one time measure each other

    clock: str = field(default="gpu", validator=validators.in_(tuple(CLOCKS)))
    cap: float = field(default=10.0, validator=[validators.gt(1), validators.le(1e6)])
    demand: bool = False
    unmeasured: str = field(default="unscored", validator=validators.in_(UNMEASURED))

    def validate(self, task: Task) -> None:
        """Refuse tasks that make no sense, and all where a GPU is demanded and none is here.

        Raises:
            TaskError: naming the task, the key, what was expected and what to do.
        """
        kernel = kernel_of(task)
        lint(kernel, task.id)
        _baseline(task, kernel)
        problem = self._lacking(kernel) if self.demand else ""
        if problem:
            raise TaskError(f"a GPU is demanded and there is none: {problem}", task.id)

    def survey(self, tasks: Sequence[Task]) -> list[str]:
        """That nothing is measured here."""
        problem = clock(self.clock).usable()
        return [f"{problem}: responses are {self.unmeasured}"] if tasks and problem else []

    def _lacking(self, kernel: Kernel) -> str:
        """Why nothing is measured here of this language; "" where it is."""
        if self.clock == "gpu" and "gpu" not in BACKENDS[kernel.lang]:
            return f"{kernel.lang} kernels are not launched on a GPU"
        return clock(self.clock).usable()

    async def check(self, attempt: Attempt) -> Outcome:
        """The speed in [0, 1].

        Raises:
            VerifierFault: no GPU is here, or it broke.
        """
        kernel = kernel_of(attempt.task)
        program = readable(attempt, kernel)
        if isinstance(program, Bad):
            return Outcome.failed(at_line(program.line, program.said))
        problem = self._lacking(kernel)
        if problem and self.unmeasured == "unpaid":
            said = f"speed was not measured, and nothing is paid for it: {problem}"
            return Outcome(0.0, said, {"measured": False})
        if problem:
            raise VerifierFault(Fault("unavailable", f"speed was not measured: {problem}"))
        found = await clock(self.clock).measure(
            program,
            kernel,
            _largest(cases_of(kernel, attempt.key())),
            self.box(),
            baseline=_baseline(attempt.task, kernel),
            cap=self.cap,
        )
        if found.problem:
            line = program.place(found.line)
            said = at_line(line, hushed(found.problem, attempt.response, line))
            return Outcome(0.0, said, found.data)
        return Outcome(found.score, found.detail, found.data)


def _largest(cases: Sequence[Case]) -> list[Case]:
    """The cases of the shape with the most elements."""
    most = max(case.elements for case in cases)
    return [case for case in cases if case.elements == most]


def _baseline(task: Task, kernel: Kernel) -> str:
    """The text of ``info.baseline``, "" where there is none.

    Raises:
        TaskError: it is no program in the language of the task.
    """
    given: Any = task.info.get("baseline")
    if given is None:
        return ""
    if not isinstance(given, str) or not given.strip():
        raise TaskError(
            f"info.baseline: expected a program in {kernel.lang}, not {given!r:.60}", task.id
        )
    program = program_of(Attempt(task, given), kernel.lang)
    if isinstance(program, Bad):
        raise TaskError(
            f"info.baseline: {program.said}; at most {SOURCE_BYTES} bytes of {kernel.lang}", task.id
        )
    return given
