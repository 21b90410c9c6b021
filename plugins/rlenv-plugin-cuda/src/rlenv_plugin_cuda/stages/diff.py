"""``cuda/diff``: is what the kernels wrote what the golden model says?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from attrs import field, frozen, validators
from rlenv import Attempt, Outcome, Task

from rlenv_plugin_cuda.artifacts import Runs, Trial
from rlenv_plugin_cuda.cases import Case, cases_of
from rlenv_plugin_cuda.compare import Difference, trial_differences
from rlenv_plugin_cuda.golden import Golden, golden_of
from rlenv_plugin_cuda.lint import lint
from rlenv_plugin_cuda.reading import kernel_of
from rlenv_plugin_cuda.shown import at_line, hushed, printable
from rlenv_plugin_cuda.spec import Kernel

__all__ = ["Diff"]

_SHOWN = 5  # cases that are written out, for the operator


@frozen
class _Result:
    """What came of one case: "" for right, else why not.

    ``whole`` has the figures for the operator.
    """

    why: str = ""
    line: int = 0
    broken: bool = False
    figures: Mapping[str, Any] = {}
    whole: Sequence[str] = ()


@frozen(kw_only=True)
class Diff:
    """Compare what ``cuda/run`` collected with the golden model, element by element.

    The task's tolerance decides.

    NaN and infinities have to be where the model has them.  ``data`` has the share of wrong
    elements and the relative error per output; nothing golden is in it.

    Args:
        score: "all": 1 when every case is right, else 0; "fraction": the share of hidden shapes
            whose cases are all right, and 0 for a kernel that broke in any of them.
    """

    phase: ClassVar[str] = "diff"
    where: ClassVar[str] = "worker"
    uses: ClassVar[tuple[str, ...]] = ("info.kernel",)
    draws: ClassVar[bool] = True
    needs: ClassVar[tuple[type, ...]] = (Runs,)
    default_timeout: ClassVar[float] = 90.0

    score: str = field(default="all", validator=validators.in_(("all", "fraction")))

    def validate(self, task: Task) -> None:
        """Refuse tasks that make no sense, and such as pay for what is not computed.

        Raises:
            TaskError: naming the task, the key, what was expected and what to do.
        """
        lint(kernel_of(task), task.id)

    def check(self, attempt: Attempt) -> Outcome:
        """1 or 0, or the share of the shapes that are right.

        Raises:
            VerifierFault: the golden model fails.
        """
        runs = attempt.get(Runs)
        if runs.refused:
            said = at_line(runs.line, printable(runs.refused))
            return Outcome.failed(said, backend=runs.backend)
        kernel = kernel_of(attempt.task)
        cases = cases_of(kernel, attempt.key())
        if len(cases) != len(runs.trials):
            raise ValueError(f"{len(runs.trials)} trials of {len(cases)} cases")
        golden = golden_of(kernel)
        results = [
            _result(kernel, golden, case, trial, attempt.response)
            for case, trial in zip(cases, runs.trials, strict=True)
        ]
        return self._outcome(runs.backend, cases, results)

    def _outcome(self, backend: str, cases: Sequence[Case], results: Sequence[_Result]) -> Outcome:
        right = sum(not result.why for result in results)
        data: dict[str, Any] = {
            "backend": backend,
            "tests_passed": right,
            "total_tests": len(results),
        }
        detail = f"{backend}: {right} of {len(results)} cases are right"
        wrong = [(place, result) for place, result in enumerate(results) if result.why]
        private: dict[str, Any] = {}
        if wrong:
            place, first = wrong[0]
            detail += f"; case {place + 1}: {at_line(first.line, first.why)}"
            data["outputs"] = first.figures
            private["failures"] = [
                {
                    "case": at + 1,
                    "sizes": dict(cases[at].sizes),
                    "dist": cases[at].dist,
                    "why": result.why,
                    "differences": list(result.whole),
                }
                for at, result in wrong[:_SHOWN]
            ]
        share = _share(cases, results) if self.score == "fraction" else float(not wrong)
        return Outcome(share, detail, data, None, private)


def _share(cases: Sequence[Case], results: Sequence[_Result]) -> float:
    """The share of the hidden shapes that are right.

    The number of cases of a shape is drawn, and a score must not move with that.
    """
    if any(result.broken for result in results):  # how many came before is drawn, too
        return 0.0
    shapes: dict[tuple[tuple[str, int], ...], bool] = {}
    for case, result in zip(cases, results, strict=True):
        shape = tuple(sorted(case.sizes.items()))
        shapes[shape] = shapes.get(shape, True) and not result.why
    return sum(shapes.values()) / len(shapes)


def _result(kernel: Kernel, golden: Golden, case: Case, trial: Trial, source: str) -> _Result:
    if trial.outputs is None:
        said = hushed(trial.said, source, trial.line)
        return _Result(f"{trial.broken}: {said}" if said else trial.broken, trial.line, broken=True)
    if len(trial.outputs) != len(kernel.outputs):
        return _Result("another number of outputs")
    want = golden(case.values, case.sizes)
    found = trial_differences(kernel, trial, want)
    names = [array.name for array in kernel.outputs]
    wrong = [(name, one) for name, one in zip(names, found, strict=True) if not one.equal]
    if not wrong:
        return _Result()
    return _Result(
        "; ".join(_why(name, one) for name, one in wrong),
        figures={name: _figures(one) for name, one in zip(names, found, strict=True)},
        whole=[one.text(name) for name, one in wrong],
    )


def _why(name: str, found: Difference) -> str:
    """In words that tell neither a shape nor a value."""
    share = found.violations / max(1, found.elements)
    odd = ", with NaN or infinity on one side only" if found.classes else ""
    much = "all of it is wrong" if share == 1 else f"{_percent(share)} of it is wrong"
    return f"{name}: {much} (relative error {_error(found)}){odd}"


def _error(found: Difference) -> str:
    return f"{found.relative_l2:.1g}" if found.relative_l2 < 10 else "over 10"


def _percent(share: float) -> str:
    if 0.01 <= share <= 0.99:
        return f"{share:.0%}"
    return "under 1%" if share < 0.5 else "over 99%"


def _figures(found: Difference) -> dict[str, Any]:
    share = found.violations / max(1, found.elements)
    return {
        "wrong": float(f"{share:.2g}"),
        "classes": bool(found.classes),
        "relative_error": min(10.0, float(f"{found.relative_l2:.1g}")),
    }
