"""What measures an answer for ``cuda/speed``: a GPU, or a rehearsal that measures nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, Protocol

from attrs import frozen
from rlenv import Fault, VerifierFault

from .artifacts import Program
from .box import Box
from .cases import Case
from .compare import trial_differences
from .golden import golden_of
from .spec import Kernel

__all__ = ["CLOCKS", "Clock", "Measured", "clock"]

CLOCKS = {
    "gpu": "rlenv_plugin_cuda.gpu.measuring:Gpu",
    "rehearsal": "rlenv_plugin_cuda.clocks:Rehearsal",
}


@frozen
class Measured:
    """What came of measuring.

    Args:
        score: in [0, 1]; 0 where there is a problem.
        detail: in words that may be shown to a policy.
        data: figures that may be shown to a policy.
        problem: why the answer is worth nothing, "" where it is worth something.
        line: of the program where that is, from 1; 0: nowhere in particular.
    """

    score: float
    detail: str = ""
    data: Mapping[str, Any] = {}
    problem: str = ""
    line: int = 0


class Clock(Protocol):
    """One way to measure answers."""

    def usable(self) -> str:
        """ "" or why nothing is measured here, with the remedy."""

    async def measure(
        self,
        program: Program,
        kernel: Kernel,
        cases: Sequence[Case],
        box: Box,
        *,
        baseline: str,
        cap: float,
    ) -> Measured:
        """Time an answer against a baseline and compare every output that it writes.

        Args:
            cases: of the largest hidden shape.
            baseline: a right program in the task's language; "": the roofline of memory.
            cap: how many times faster than the baseline earns 1.

        Raises:
            VerifierFault: the machine broke, not the answer.
        """


def clock(name: str) -> Clock:
    """The clock of this name."""
    module, _, attribute = CLOCKS[name].partition(":")
    try:
        made: Clock = getattr(import_module(module), attribute)()
    except ModuleNotFoundError as err:
        return _Missing(f"clock {name!r} needs {err.name}, which is not installed")
    return made


@frozen
class _Missing:
    """A clock that cannot be had, and why."""

    why: str

    def usable(self) -> str:
        """Why not."""
        return self.why

    async def measure(self, *_: object, **__: object) -> Measured:
        """Nobody asks what is not usable."""
        raise VerifierFault(Fault("unavailable", self.why))


class Rehearsal:
    """Measures nothing.

    It runs answers as ``cuda/run`` does and calls what is right as fast as the baseline.

    For trying an environment where there is no GPU; no reward of it says anything about speed.
    """

    def usable(self) -> str:
        """It needs what ``cuda/run`` needs."""
        return ""

    async def measure(
        self,
        program: Program,
        kernel: Kernel,
        cases: Sequence[Case],
        box: Box,
        *,
        baseline: str,  # noqa: ARG002 - nothing is compared with it
        cap: float,  # noqa: ARG002 - nothing is faster
    ) -> Measured:
        """1 for what is right in all cases."""
        from .choosing import chosen

        golden = golden_of(kernel)
        ((backend, _), *_) = chosen(kernel.lang, "auto", cases, 1 << 62)
        runs = await backend.run(program, kernel, cases, box)
        if runs.refused:
            return Measured(0.0, problem=runs.refused, line=runs.line)
        for case, trial in zip(cases, runs.trials, strict=True):
            if trial.outputs is None:
                return Measured(0.0, problem=f"{trial.broken}: {trial.said}", line=trial.line)
            found = trial_differences(kernel, trial, golden(case.values, case.sizes))
            if not all(one.equal for one in found):
                return Measured(0.0, problem="what it writes is not right")
        return Measured(1.0, "rehearsed, not measured", {"clock": "rehearsal", "launches": 1})
