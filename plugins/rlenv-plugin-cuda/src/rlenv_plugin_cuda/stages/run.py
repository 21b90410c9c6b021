"""``cuda/run``: an answer's kernels on the hidden shapes; what they write is for later stages."""

from __future__ import annotations

from collections import Counter
from typing import Any, ClassVar

from attrs import field, frozen
from rlenv import Attempt, Outcome, Task
from rlenv.authoring import Safe

from rlenv_plugin_cuda.artifacts import Program, Runs
from rlenv_plugin_cuda.boxed import Running, is_host
from rlenv_plugin_cuda.lint import lint
from rlenv_plugin_cuda.reading import kernel_of
from rlenv_plugin_cuda.running import runs_of
from rlenv_plugin_cuda.shown import at_line, hushed, printable

__all__ = ["Run"]


@frozen(kw_only=True)
class Run(Running):
    """Run a response's kernels on inputs that are drawn anew for it, in a sandbox or on a GPU.

    Every hidden shape meets every distribution, in an order and number that no policy can foresee;
    outputs begin as random bytes.  Without a GPU numba kernels are interpreted, which finds
    accesses out of bounds, races, reads of what nobody wrote, and barriers that part of a block
    misses; large cases are lowered to the CPU with bounds checks. CUDA C++ is compiled for the CPU
    and checked in the same way, where g++ is installed. The score is 1 when every case ended with
    outputs, right or wrong, else 0; ``cuda/diff`` compares them.

    Args:
        host: "plan", the only value: device code and a launch plan, nothing else of the host.
    """

    phase: ClassVar[str] = "execute"
    where: ClassVar[str] = "worker"
    uses: ClassVar[tuple[str, ...]] = ("info.kernel",)
    makes: ClassVar[tuple[type, ...]] = (Runs,)
    takes: ClassVar[tuple[type, ...]] = (Program,)
    draws: ClassVar[bool] = True

    host: Safe[str] = field(default="plan", validator=is_host)

    def validate(self, task: Task) -> None:
        """Refuse tasks that make no sense, and a backend that is demanded and not here.

        Raises:
            TaskError: naming the task, the key, what was expected and what to do.
        """
        kernel = self.runnable(task)
        lint(kernel, task.id)

    async def check(self, attempt: Attempt) -> Outcome:
        """Run, and hand on what the kernels wrote.

        Raises:
            VerifierFault: no backend is here, or the machine broke on every try.
        """
        kernel = kernel_of(attempt.task)
        runs = await runs_of(attempt, kernel, self.box(), self.backend, self.small)
        attempt.put(runs)
        return _outcome(runs, attempt.response)


def _outcome(runs: Runs, response: str) -> Outcome:
    data: dict[str, Any] = {"backend": runs.backend, "isolation": runs.isolation}
    if runs.refused or not runs.trials:
        return Outcome.failed(at_line(runs.line, printable(runs.refused)), **data)
    count = len(runs.trials)
    broken = [trial for trial in runs.trials if trial.outputs is None]
    data |= {"cases": count, "answered": count - len(broken)}
    data |= {"checked": dict(runs.checked)} if runs.checked else {}
    detail = f"{runs.backend}: {count - len(broken)} of {count} cases gave outputs"
    if broken:
        data["broken"] = dict(sorted(Counter(trial.broken for trial in broken).items()))
        data["line"] = broken[0].line
        detail += (
            f"; {at_line(broken[0].line, broken[0].broken)}:"
            f" {hushed(broken[0].said, response, broken[0].line)}"
        )
    return Outcome(float(not broken), detail, data)
