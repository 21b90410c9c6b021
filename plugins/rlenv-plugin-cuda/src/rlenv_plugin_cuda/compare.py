"""How far outputs are from the golden ones: one pass over memory, and nothing golden in what is
told.

Arrays are taken in blocks that stay in a core's cache. A block without a violation, NaN or infinity
needs four numbers, which ``jit`` gets in one loop; only a block with one is looked at element by
element.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from attrs import field, frozen

from .found import Found
from .numbers import NUMPY, to_float
from .spec import Kernel, Tolerance

if TYPE_CHECKING:
    from rlenv_plugin_cuda.numbers import Values

    from .artifacts import Trial
    from .golden import Wanted

__all__ = ["Difference", "agrees", "difference", "differences", "trial_differences"]

BLOCK = 1 << 15
LARGE = 1 << 18  # of compiled loops that read a block but once
_MOST = 1.7976931348623157e308


def _finite(number: float | None) -> float | None:
    return None if number is None else min(number, _MOST)


@frozen
class Difference:
    """What the comparison of one output found; every figure may be shown to a policy.

    Args:
        elements: how many there are.
        violations: elements outside the tolerance.
        classes: those of them where NaN or an infinity is on one side only, or one of the other
            sign.
        first, worst: index in row order of the first violation and of the largest finite error; -1:
            there is none.
        max_abs: the largest finite error, of complex numbers of a part; None: all is right, and it
            was not asked for.
        relative_l2: norm of the error over the norm of the golden output, of finite elements; six
            digits.
        ulp: the largest distance in representable numbers; None where it was not asked for, or of
            integers.
        shape: of the output.
    """

    elements: int
    violations: int = 0
    classes: int = 0
    first: int = -1
    worst: int = -1
    max_abs: float | None = field(default=None, converter=_finite)
    relative_l2: float = 0.0
    ulp: int | None = None
    shape: tuple[int, ...] = ()

    @property
    def equal(self) -> bool:
        """Whether all of it is near enough."""
        return not self.violations

    def place(self, index: int) -> str:
        """An index as the output's dimensions have it: "[3, 17]"."""
        found = []
        for extent in reversed(self.shape or (self.elements,)):
            found.append(str(index % extent))
            index //= extent
        return f"[{', '.join(reversed(found))}]"

    def text(self, name: str) -> str:
        """One line: how much is wrong, and where first."""
        if self.equal:
            return f"{name}: {self.elements} of {self.elements} elements are right"
        odd = f", {self.classes} of them NaN or infinite on one side only" if self.classes else ""
        where = f"first at {self.place(self.first)}"
        worst = (
            f", largest error {self.max_abs:.3g} at {self.place(self.worst)}"
            if self.worst >= 0
            else ""
        )
        return (
            f"{name}: {self.violations} of {self.elements} elements are wrong{odd}, {where}{worst}"
        )


def differences(
    kernel: Kernel, outputs: Sequence[bytes], wanted: Wanted, *, full: bool = False
) -> list[Difference]:
    """Every output of one case against the golden ones, in their order.

    Args:
        outputs: raw bytes, little endian; an output of another length is all wrong.
        full: also the largest error and the distance in representable numbers, where all is right.
    """
    named = zip(kernel.outputs, outputs, wanted.outputs, wanted.scales, wanted.bounds, strict=True)
    return [
        difference(out, want, array.dtype, kernel.tol, scale=scale, bound=bound, full=full)
        for array, out, want, scale, bound in named
    ]


def trial_differences(kernel: Kernel, trial: Trial, wanted: Wanted) -> list[Difference]:
    """Every output of a trial that did not break, in the version that is nearest to right.

    The device's compiler rounds ``a * b + c`` once or twice, so a trial is right if all outputs of
    either way are.
    """
    assert trial.outputs is not None
    found = _worst(kernel, (trial.outputs, *trial.orders), wanted)
    if trial.fused is None or all(one.equal for one in found):
        return found
    fused = _worst(kernel, (trial.fused, *trial.fused_orders), wanted)
    return fused if all(one.equal for one in fused) else found


def _worst(kernel: Kernel, versions: Sequence[Sequence[bytes]], wanted: Wanted) -> list[Difference]:
    """The differences of the last version of the outputs that is wrong.

    Where all are right, those of the first version.
    """
    found = differences(kernel, versions[0], wanted)
    for outputs in versions[1:]:
        other = differences(kernel, outputs, wanted)
        found = found if all(one.equal for one in other) else other
    return found


def difference(
    out: bytes | Values,
    want: Values,
    dtype: str,
    tol: Tolerance,
    *,
    scale: Values | float | None = None,
    bound: Values | None = None,
    full: bool = False,
    jit: bool | None = None,
) -> Difference:
    """One output against the golden one: ``|out - want| <= atol + rtol * scale + bound``.

    NaN is near NaN alone and an infinity near itself alone; -0.0 is 0.0. Parts of complex numbers
    are compared apart, with a tolerance of the larger part.

    Args:
        out: raw bytes, little endian, or an array of the dtype's numpy type.
        want: of the dtype's numpy type (bf16 as bits).
        scale: what ``rtol`` multiplies: None for ``|want|``, an array of its shape, or a float.
        bound: more tolerance per element, or None.
        full: also the largest error and the distance in representable numbers, where all is right.
        jit: True or False to choose the way; both find the same. None: by size.
    """
    import numpy as np

    pair = _Pair(out, want, dtype, tol, scale=scale, bound=bound)
    count = pair.want.size
    if pair.got is None:
        return Difference(count, violations=count, first=0, shape=want.shape)
    with np.errstate(all="ignore"):
        found = pair.found(full=full, jit=jit)
        if found.violations and not full:
            found = pair.found(full=True, ulp=False, jit=jit)
    return Difference(
        elements=count,
        violations=found.violations,
        classes=found.classes,
        first=found.first,
        worst=found.worst,
        max_abs=found.max_abs,
        relative_l2=found.relative_l2(pair.want),
        ulp=found.ulp,
        shape=want.shape,
    )


def agrees(
    out: bytes | Values,
    want: Values,
    dtype: str,
    tol: Tolerance,
    *,
    scale: Values | float | None = None,
    bound: Values | None = None,
) -> bool:
    """Whether ``difference`` would find no violation; it looks no further than the first."""
    import numpy as np

    pair = _Pair(out, want, dtype, tol, scale=scale, bound=bound)
    if pair.got is None:
        return False
    with np.errstate(all="ignore"):
        return not pair.found(full=False).violations


class _Pair:
    """Two outputs as rows of numbers; ``got`` is None where it has another length."""

    def __init__(  # noqa: PLR0917 - what a comparison takes
        self,
        out: bytes | Values,
        want: Values,
        dtype: str,
        tol: Tolerance,
        scale: Values | float | None,
        bound: Values | None,
    ) -> None:
        import numpy as np

        kind = "u1" if dtype == "b1" else NUMPY[dtype]
        self.want = np.ascontiguousarray(want).reshape(-1).view(kind)
        self.got: Values | None = None
        self._dtype = dtype
        self._tol = tol
        self._scale = scale
        self._bound = bound
        try:
            got = (
                np.frombuffer(out, kind)
                if isinstance(out, bytes)
                else np.ascontiguousarray(out).reshape(-1).view(kind)
            )
        except ValueError:  # not a multiple of an element
            return
        self.got = got if got.size == self.want.size else None

    def found(self, *, full: bool, ulp: bool = True, jit: bool | None = None) -> Found:
        """All blocks with all figures, or those up to the first violation."""
        assert self.got is not None
        found = Found(self._dtype, self.want.size, extremes=full, ulp=full and ulp, jit=jit)
        block = BLOCK if full or not found.compiled else LARGE
        for start in range(0, self.want.size, block):
            here = slice(start, start + block)
            scale = _part(self._scale, here)
            bound = _part(self._bound, here)
            room = _room(self.want[here], self._dtype, self._tol, scale, bound)
            found.add(start, self.got[here], self.want[here], room)
            if found.violations and not full:
                break
        return found


def _part(given: Values | float | None, here: slice) -> Values | float | None:
    if given is None or isinstance(given, float):
        return given
    return given.reshape(-1)[here]


def _room(
    want: Values, dtype: str, tol: Tolerance, scale: Values | float | None, bound: Any
) -> Values | tuple[float, float]:
    """(atol, rtol) of ``|want|``, or a tolerance per part."""
    import numpy as np

    if bound is None and dtype[0] != "c":
        if scale is None:
            return tol.atol, tol.rtol
        if isinstance(scale, float):
            return tol.atol + tol.rtol * scale, 0.0
    if scale is None:
        scale = np.abs(to_float(want, dtype).astype("f8")) if dtype[0] != "c" else _larger(want)
    room = np.broadcast_to(tol.atol + tol.rtol * np.asarray(scale), want.shape)
    if bound is not None:
        room = room + np.where(np.isfinite(bound), bound, 0.0)
    return np.repeat(room, 2) if dtype[0] == "c" else np.ascontiguousarray(room, "f8")


def _larger(want: Values) -> Values:
    """Of two parts the larger finite one: an infinity must not make room for the other part."""
    import numpy as np

    parts = np.stack([want.real, want.imag]).astype("f8")
    found: Values = np.where(np.isfinite(parts), np.abs(parts), 0.0).max(axis=0)
    return found
