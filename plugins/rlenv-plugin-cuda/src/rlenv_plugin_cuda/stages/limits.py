"""``cuda/limits``: what kernels take of a device, against what the task allows, and how full they
leave it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from attrs import field, frozen, validators
from rlenv import Attempt, Fault, Outcome, Task, TaskError, VerifierFault

from rlenv_plugin_cuda.artifacts import Launch, Program, Report, Resources, Runs
from rlenv_plugin_cuda.boxed import Running
from rlenv_plugin_cuda.building import toolchain
from rlenv_plugin_cuda.building.occupancy import Occupancy, device, occupancy
from rlenv_plugin_cuda.cases import Case, cases_of
from rlenv_plugin_cuda.programs import Bad
from rlenv_plugin_cuda.reading import kernel_of
from rlenv_plugin_cuda.running import readable, runs_of
from rlenv_plugin_cuda.shown import at_line, hushed, printable
from rlenv_plugin_cuda.spec import Kernel
from rlenv_plugin_cuda.spec import Limits as Allowed

from .compile import built, compilable

__all__ = ["Limits"]


@frozen(kw_only=True)
class Limits(Running):
    """1 when kernels keep the task's ``limits``, else 0.

    There are limits of registers, shared memory, stack, spills and threads per block.

    Registers, stack and spills are those of the compiler's report for ``limits.arch``; shared
    memory is the report's and what launches add to it.  Where no compiler is installed the stage is
    a fault with the remedy: what was not checked is unscored.

    Args:
        score: "limits": 1 or 0; "occupancy": 0 where a limit is broken, else the share of a
            multiprocessor's warps that can be resident, of the worst launch of the largest case.
        compiler: "auto", or "required": a task is rejected at load where none is installed.
    """

    phase: ClassVar[str] = "constrain"
    where: ClassVar[str] = "worker"
    uses: ClassVar[tuple[str, ...]] = ("info.kernel",)
    draws: ClassVar[bool] = True
    takes: ClassVar[tuple[type, ...]] = (Program, Report, Runs)

    score: str = field(default="limits", validator=validators.in_(("limits", "occupancy")))
    compiler: str = field(default="auto", validator=validators.in_(("auto", "required")))

    @property
    def default_gate(self) -> float | None:
        """1 where a limit decides; occupancy is no gate."""
        return 1.0 if self.score == "limits" else None

    def validate(self, task: Task) -> None:
        """Refuse limits that make no sense, or that the compilers of this machine cannot tell.

        Raises:
            TaskError: naming the task, the key, what was expected and what to do.
        """
        kernel = self.runnable(task)
        if self._compiles(kernel.limits):
            compilable(kernel, task, required=self.compiler == "required")
        if self.score == "occupancy" and device(kernel.limits.arch) is None:
            raise TaskError(
                f"info.kernel.limits.arch: the occupancy of {kernel.limits.arch} is not known here;"
                ' name another architecture, or score = "limits"',
                task.id,
            )

    def survey(self, tasks: Sequence[Task]) -> list[str]:
        """Languages whose limits cannot be told here."""
        kernels = map(kernel_of, tasks)
        langs = sorted({kernel.lang for kernel in kernels if self._compiles(kernel.limits)})
        return [f"{why}: responses are unscored" for why in map(toolchain.missing, langs) if why]

    def _compiles(self, limits: Allowed) -> bool:
        """Whether a compiler has to say something."""
        asked = (limits.registers, limits.shared, limits.stack, limits.spills)
        return self.score == "occupancy" or any(limit is not None for limit in asked)

    def _launches(self, limits: Allowed) -> bool:
        """Whether launches have to be known."""
        asked = (limits.shared, limits.threads_per_block)
        return self.score == "occupancy" or any(limit is not None for limit in asked)

    async def check(self, attempt: Attempt) -> Outcome:
        """1, 0 or the occupancy; the detail names the first limit that is broken.

        Raises:
            VerifierFault: no compiler is here, or the sandbox broke.
        """
        kernel = kernel_of(attempt.task)
        program = readable(attempt, kernel)
        if isinstance(program, Bad):
            return Outcome.failed(at_line(program.line, program.said))
        limits = kernel.limits
        report = Report(limits.arch, "")
        if self._compiles(limits):
            report = await self._report(attempt, program, kernel)
        if report.problem:
            line = program.place(report.line)
            return Outcome.failed(at_line(line, f"it does not compile: {report.problem}"))
        if not self._launches(limits):
            return self._outcome(_Used(report, (), ()), limits)
        runs = attempt.find(Runs) or await runs_of(
            attempt, kernel, self.box(), self.backend, self.small
        )
        if not any(trial.launched for trial in runs.trials):
            said = printable(runs.refused) or "; ".join(
                hushed(trial.said, attempt.response, trial.line) for trial in runs.trials[:1]
            )
            return Outcome.failed(f"it launches nothing: {said}".rstrip(": "))
        return self._outcome(_used(report, runs, cases_of(kernel, attempt.key())), limits)

    async def _report(self, attempt: Attempt, program: Program, kernel: Kernel) -> Report:
        report = attempt.find(Report)
        if report is not None and report.compiler:
            return report
        lacking = toolchain.missing(kernel.lang)
        if lacking:
            raise VerifierFault(Fault("unavailable", f"limits were not checked: {lacking}"))
        return await built(program, kernel, self.box())

    def _outcome(self, used: _Used, limits: Allowed) -> Outcome:
        data: dict[str, Any] = {"used": used.table()}
        broken = next(used.broken(limits), "")
        if broken:
            return Outcome(0.0, broken, data)
        if self.score == "limits":
            said = "it keeps all limits" if data["used"] else "the task sets no limits"
            return Outcome(1.0, said, data)
        if not used.largest:
            return Outcome(0.0, "the largest case does not run", data)
        worst = min(used.occupancies(limits.arch), key=lambda found: found.fraction)
        data |= {"occupancy": round(worst.fraction, 4), "limiter": worst.limiter}
        said = f"occupancy {worst.fraction:.0%}, limited by {worst.limiter}"
        return Outcome(min(1.0, worst.fraction), said, data)


def _used(report: Report, runs: Runs, cases: Sequence[Case]) -> _Used:
    """With the launches of all cases, and those of the largest one if it ended."""
    pairs = zip(cases, runs.trials, strict=True)
    _, largest = max(pairs, key=lambda pair: pair[0].elements)
    every = [launch for trial in runs.trials for launch in trial.launched]
    return _Used(report, every, () if largest.outputs is None else largest.launched)


class _Used:
    """What kernels take, by the compiler's report and by their launches."""

    def __init__(
        self, report: Report, launches: Sequence[Launch], largest: Sequence[Launch]
    ) -> None:
        self.compiled = bool(report.compiler)
        self.kernels = {kernel.kernel: kernel for kernel in report.kernels}
        self.launches = tuple(dict.fromkeys(launches))
        self.largest = tuple(largest)

    def shared(self, launch: Launch) -> int:
        """Bytes of a block, static and dynamic."""
        kernel = self.kernels.get(launch.kernel)
        return launch.shared + (kernel.shared if kernel else 0)

    def table(self) -> dict[str, int]:
        """The most of each, over all kernels and launches; spills are stores and loads."""
        found: dict[str, int] = {}
        for kernel in self.kernels.values():
            for what, much in _figures(kernel):
                found[what] = max(found.get(what, 0), much)
        for launch in self.launches:
            found["shared"] = max(found.get("shared", 0), self.shared(launch))
            found["threads_per_block"] = max(found.get("threads_per_block", 0), launch.threads)
        return found

    def broken(self, limits: Allowed) -> Iterator[str]:
        """Every limit that is broken, in words."""
        if self.compiled:
            for launch in self.launches:
                if launch.kernel not in self.kernels:
                    yield f"{launch.kernel} is launched and was never compiled"
        for what, much in self.table().items():
            most = getattr(limits, what)
            if most is not None and much > most:
                yield f"{_UNITS[what].format(much)}; {most} are allowed"

    def occupancies(self, arch: str) -> Iterator[Occupancy]:
        """Of the launches of the largest case."""
        for launch in self.largest:
            registers = self.kernels[launch.kernel].registers
            yield occupancy(arch, registers, self.shared(launch), max(1, launch.threads))


_UNITS = {
    "registers": "{} registers a thread",
    "shared": "{} bytes of shared memory a block",
    "stack": "{} bytes of stack a thread",
    "spills": "{} bytes a thread are spilled",
    "threads_per_block": "{} threads a block",
}


def _figures(kernel: Resources) -> Iterator[tuple[str, int]]:
    yield "registers", kernel.registers
    yield "shared", kernel.shared
    yield "stack", kernel.stack
    yield "spills", kernel.spill_stores + kernel.spill_loads
