"""Outputs that no kernel should be paid for, made from what the golden model says: a task has to
refuse them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from attrs import evolve, field, frozen

from .cases import Case
from .numbers import NUMPY, to_bf16, to_float

if TYPE_CHECKING:
    from rlenv_plugin_cuda.numbers import Values

    from .golden import Golden, Wanted

    Make = Callable[["Scene", int], "Values | None"]

__all__ = ["Cheat", "Scene", "cheats_of"]

WIDE = ("f4", "f8", "c8", "c16")
_LOWER = "lower tol.atol and tol.rtol"


@frozen(eq=False)
class Scene:
    """One case with what is known of it.

    Args:
        case: the case, and ``values`` its inputs.
        golden, wanted: the model, and what it says here.
    """

    case: Case
    values: Mapping[str, Any]
    golden: Golden
    wanted: Wanted

    def dtype(self, output: int) -> str:
        """Of an output."""
        return self.case.kernel.outputs[output].dtype


@frozen(eq=False)
class Cheat:
    """A way to an output without the kernel.

    Args:
        says: what the output would be, for a message.
        make: the output of a scene, in its numpy type; None where this cannot be done, which
            is as good as wrong.
        remedy: what would make it fail.
        excused: "same": it is no cheat where it is right to the last bit in every case; "data":
            only where it is so for other distributions too; "": never.
    """

    says: str
    make: Make = field(repr=False)
    remedy: str = _LOWER
    excused: str = ""


def cheats_of(scene: Scene) -> Iterator[Cheat]:
    """All that are tried on a kernel."""
    yield Cheat("zeros", lambda scene, output: _filled(scene, output, 0))
    yield Cheat("ones", lambda scene, output: _filled(scene, output, 1))
    yield Cheat("NaN alone", _nan, 'add a distribution such as "normal" without NaN')
    yield Cheat("the mean of the right output", _mean)
    yield Cheat("the right output shifted by one element", _shifted, _LOWER, "data")
    yield Cheat("the right output transposed", _transposed, _LOWER, "data")
    yield Cheat("the right output rounded to float16", _rounded, _LOWER, "data")
    yield Cheat("what inputs rounded to float16 give", _from_rounded, _LOWER, "data")
    for array in scene.case.kernel.inputs:
        if not array.scalar:
            yield Cheat(
                f"a copy of the input {array.name}",
                _copied(array.name),
                _LOWER,
                "data",
            )
            for axis in range(len(array.dims)):
                says = f"what is right without the last element of the input {array.name}"
                says += f" along axis {axis}" if len(array.dims) > 1 else ""
                remedy = (
                    f"{_LOWER}, or add a smaller hidden shape, where one element counts for more"
                )
                yield Cheat(says, _dropped(array.name, axis), remedy, "same")


def _as(values: Any, dtype: str) -> Values:
    import numpy as np

    with np.errstate(all="ignore"):
        made: Values = (
            to_bf16(values) if dtype == "bf16" else np.asarray(values).astype(NUMPY[dtype])
        )
    return made


def _filled(scene: Scene, output: int, number: float) -> Values:
    import numpy as np

    return _as(np.full(scene.wanted.outputs[output].shape, number), scene.dtype(output))


def _nan(scene: Scene, output: int) -> Values | None:
    whole = scene.dtype(output)[0] in "iu" or scene.dtype(output) == "b1"
    return None if whole else _filled(scene, output, float("nan"))


def _mean(scene: Scene, output: int) -> Values | None:
    """Of this output; of those of other draws where this one is all the same number."""
    import numpy as np

    dtype = scene.dtype(output)
    if dtype == "b1":
        return None  # zeros, or ones
    right = to_float(scene.wanted.outputs[output], dtype)
    if right.size == 1 or (right == right.reshape(-1)[0]).all():
        right = np.stack([to_float(each[output], dtype) for each in _others(scene)])
    wide = right.astype("c16" if dtype[0] == "c" else "f8")
    finite = wide[np.isfinite(wide)]
    return _filled(scene, output, finite.mean()) if finite.size else None


def _others(scene: Scene) -> list[tuple[Values, ...]]:
    case = scene.case
    draws = (evolve(case, inputs=1000 + again) for again in range(3))
    return [scene.golden.outputs(each.values, each.sizes)[0] for each in draws]


def _shifted(scene: Scene, output: int) -> Values:
    import numpy as np

    return np.roll(scene.wanted.outputs[output], 1)


def _transposed(scene: Scene, output: int) -> Values:
    right = scene.wanted.outputs[output]
    return right if right.ndim < 2 else right.swapaxes(-1, -2).copy().reshape(right.shape)


def _rounded(scene: Scene, output: int) -> Values | None:
    dtype = scene.dtype(output)
    return _short(scene.wanted.outputs[output]) if dtype in WIDE else None


def _from_rounded(scene: Scene, output: int) -> Values | None:
    wide = {array.name for array in scene.case.kernel.inputs if array.dtype in WIDE}
    if scene.dtype(output) not in WIDE or not wide:
        return None
    values = {
        name: _short(value) if name in wide else value for name, value in scene.values.items()
    }
    return scene.golden.outputs(values, scene.case.sizes)[0][output]


def _short(values: Values) -> Values:
    """As float16 holds them, in their own type."""
    import numpy as np

    with np.errstate(all="ignore"):
        if values.dtype.kind != "c":
            return values.astype("f2").astype(values.dtype)
        parts = values.view("f4" if values.dtype.itemsize == 8 else "f8")
        return parts.astype("f2").astype(parts.dtype).view(values.dtype)


def _copied(name: str) -> Make:
    def make(scene: Scene, output: int) -> Values | None:
        right = scene.wanted.outputs[output]
        (array,) = (array for array in scene.case.kernel.inputs if array.name == name)
        value = to_float(scene.values[name], array.dtype)
        if value.size != right.size or (value.dtype.kind == "c" and right.dtype.kind != "c"):
            return None
        return _as(value.reshape(right.shape), scene.dtype(output))

    return make


def _dropped(name: str, axis: int) -> Make:
    def make(scene: Scene, output: int) -> Values:
        value = scene.values[name].copy()
        value[(slice(None),) * axis + (-1,)] = 0
        return scene.golden.outputs({**scene.values, name: value}, scene.case.sizes)[0][output]

    return make
