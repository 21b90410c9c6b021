"""Whether a task can tell an answer from a cheat: what is tried when tasks load.

The golden model has to say the same twice. Then outputs that no kernel should be paid for are held
against it under the task's own tolerance, smallest shapes first, and each has to be wrong
somewhere.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from attrs import define
from rlenv import TaskError, VerifierFault

from .cases import Case
from .cheats import Cheat, Scene, cheats_of
from .compare import agrees, difference
from .golden import PREFIX, Golden, golden_of
from .indices import Same
from .numbers import to_bytes
from .spec import Kernel, Tolerance

if TYPE_CHECKING:
    from rlenv_plugin_cuda.numbers import Values

__all__ = ["lint"]

_SMALL = 1 << 16  # elements of a case that is tried whatever has failed before
_LARGE = 1 << 24  # elements of a case that is not tried where there is a smaller one
_ROUNDS = 3  # how often each shape is tried with each distribution
_PROBES = ("normal", "uniform", "spike")
_ANY = Tolerance(atol=1e300)


def lint(kernel: Kernel, task_id: str | None = None) -> None:
    """Try the golden model and the tolerance; a kernel that was tried before costs nothing.

    Raises:
        TaskError: the model fails, gives other shapes, or says another thing when it is asked
            again; or a cheat passes: which one, by how much, and what would stop it.
    """
    if problem := _problem(Same(kernel)):
        raise TaskError(f"info.kernel.{problem}", task_id)


@define(eq=False)
class _Trial:
    """A cheat at one output, as far as it has come."""

    cheat: Cheat
    output: int
    tried: int = 0
    same: bool = True  # it was the golden output itself, to the last bit
    nearest: float = 0.0

    def passes(self, scene: Scene) -> bool:
        """Whether it can be done here and is near enough."""
        made = self.cheat.make(scene, self.output)
        if made is None or not _near(scene, made, self.output, scene.case.kernel.tol):
            return False
        self.tried += 1
        self.same = self.same and _near(scene, made, self.output, None)
        if not self.same:
            want = scene.wanted.outputs[self.output]
            dtype = scene.dtype(self.output)
            self.nearest = max(self.nearest, difference(made, want, dtype, _ANY).relative_l2)
        return True

    def differs(self, scene: Scene) -> bool:
        """Whether it is not the golden output to the last bit."""
        made = self.cheat.make(scene, self.output)
        return made is None or not _near(scene, made, self.output, None)


@lru_cache(4096)
def _problem(same: Same) -> str:
    """What is wrong, from its key on; "" where nothing is."""
    kernel = same.kernel
    key = hashlib.sha256(same.said.encode("utf-8", "surrogatepass")).digest()
    try:
        golden = golden_of(kernel)
        if problem := _forgetful(golden, key):
            return problem
        for trial in _survivors(golden, key):
            if problem := _objection(trial, golden, key):
                return problem
    except VerifierFault as broken:
        return broken.fault.message.replace(PREFIX, "golden: ", 1)
    return ""


def _cases(kernel: Kernel, key: bytes, dists: tuple[str, ...]) -> Iterator[Case]:
    """Smallest first; every shape with every distribution, several times."""

    def size(sizes: Any) -> int:
        return Case(kernel, sizes, dists[0], seed=0, key=key, inputs=0, outputs=0).elements

    shapes = sorted(kernel.hidden, key=size)
    shapes = [sizes for sizes in shapes if size(sizes) <= _LARGE] or shapes[:1]
    for again in range(_ROUNDS):
        for place, sizes in enumerate(shapes):
            for dist in dists:
                number = again * len(shapes) + place
                yield Case(kernel, sizes, dist, seed=0, key=key, inputs=number, outputs=0)


def _scene(golden: Golden, case: Case) -> Scene:
    values = case.values
    return Scene(case, values, golden, golden(values, case.sizes))


def _forgetful(golden: Golden, key: bytes) -> str:
    """Whether the model says the same of the same inputs, other ones having come between."""
    kernel = golden.kernel
    cases = [case for case in _cases(kernel, key, kernel.dists) if case.elements <= _SMALL]
    asked = cases[: len(kernel.dists) * len(kernel.hidden)]
    first = [_bits(golden, case) for case in asked]
    for case, bits in zip(reversed(asked), reversed(first), strict=True):
        if _bits(golden, case) != bits:
            return (
                f"golden: it is not deterministic: for the sizes {dict(case.sizes)} and the same"
                " inputs it gives another output when it is asked again; seed what is random in"
                " it, or compute it"
            )
    return ""


def _bits(golden: Golden, case: Case) -> list[bytes]:
    outputs, _ = golden.outputs(case.values, case.sizes)
    arrays = golden.kernel.outputs
    return [to_bytes(output, array.dtype) for array, output in zip(arrays, outputs, strict=True)]


def _survivors(golden: Golden, key: bytes) -> list[_Trial]:
    """The cheats that no case has refused."""
    kernel = golden.kernel
    trials: list[_Trial] | None = None
    for case in _cases(kernel, key, kernel.dists):
        scene = _scene(golden, case)
        if trials is None:
            trials = [
                _Trial(cheat, output)
                for cheat in cheats_of(scene)
                for output in range(len(kernel.outputs))
            ]
        trials = [trial for trial in trials if trial.passes(scene)]
        if not trials:
            break
    return trials or []


def _objection(trial: _Trial, golden: Golden, key: bytes) -> str:
    """What to say of a cheat that passed; "" where it is what the task asks for."""
    kernel = golden.kernel
    cheat = trial.cheat
    name = kernel.outputs[trial.output].name
    if trial.same and cheat.excused:
        if cheat.excused == "same" or not _shown(trial, golden, key):
            return ""
        return (
            f"dists: {', '.join(kernel.dists)}: for the output {name}, {cheat.says} would be right"
            " in all of "
            f'{trial.tried} cases, though not on other inputs; add a distribution such as "normal"'
            " that shows it"
        )
    if trial.same:
        return (
            f"golden: the right output {name} is nothing but {cheat.says} in all of {trial.tried}"
            " cases, which needs no kernel; change the model, or dists and hidden so that its"
            " output is not always the same"
        )
    tol = kernel.tol
    return (
        f"tol: with atol {tol.atol:g} and rtol {tol.rtol:g}, for the output {name}, {cheat.says}"
        f" would pass in all of {trial.tried} cases (relative error {trial.nearest:.2g} at most);"
        f" {cheat.remedy}"
    )


def _shown(trial: _Trial, golden: Golden, key: bytes) -> bool:
    """Whether other distributions would show that a cheat is one."""
    for case in _cases(golden.kernel, key, _PROBES):
        if case.elements > _SMALL:
            continue
        try:
            if trial.differs(_scene(golden, case)):
                return True
        except VerifierFault:
            continue  # the model is not made for such inputs
    return False


def _near(scene: Scene, made: Values, output: int, tol: Tolerance | None) -> bool:
    """Whether an output is within a tolerance; None: to the last bit."""
    wanted = scene.wanted
    right = wanted.outputs[output]
    dtype = scene.dtype(output)
    if tol is None:
        return agrees(made, right, dtype, Tolerance())
    return agrees(made, right, dtype, tol, scale=wanted.scales[output], bound=wanted.bounds[output])
