"""What the blocks of one output have shown so far."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from .blocks import Numpy, Room, inspected, squares, ulp_bits
from .jit import measures
from .numbers import to_float

if TYPE_CHECKING:
    from rlenv_plugin_cuda.numbers import Values

__all__ = ["Found"]

_MOST = 1.7976931348623157e308


class Found:
    """Violations, indices and sums; see ``compare.Difference`` for what they mean."""

    def __init__(
        self, dtype: str, elements: int, *, extremes: bool, ulp: bool, jit: bool | None
    ) -> None:
        self.dtype = dtype
        self.violations = self.classes = 0
        self.first = self.worst = -1
        self._whole = dtype == "b1" or dtype[0] in "iu"
        self._parts = 2 if dtype[0] == "c" else 1
        self.max_abs: float | None = 0.0 if extremes or self._whole else None
        self.ulp: int | None = 0 if ulp and not self._whole else None
        self._error2 = self._want2 = 0.0
        self._measures = measures(elements, jit=jit)
        self.compiled = not isinstance(self._measures, Numpy)

    def relative_l2(self, want: Values) -> float:
        """Norm of the errors over that of the golden numbers, which are all given again.

        It has six digits.
        """
        import numpy as np

        error2 = min(self._error2, _MOST)
        want2 = min(self._want2, _MOST)
        if self._whole and error2:
            with np.errstate(all="ignore"):
                want2 = sum(squares(part) for part in _doubles(want))
        relative = (error2 / want2) ** 0.5 if want2 else float(error2 > 0)
        return float(f"{min(relative, _MOST):.6g}")

    def add(self, start: int, got: Values, want: Values, room: Room) -> None:
        """One block of elements from index ``start``.

        ``room`` is (atol, rtol) of ``|want|``, or one per part.
        """
        if self._whole:
            self._integers(start, got, want, room)
            return
        if self.ulp is not None:
            (bits, mask) = ulp_bits(got, self.dtype)
            (others, _) = ulp_bits(want, self.dtype)
            self.ulp = max(self.ulp, self._measures.ulp(bits, others, mask))
        got = _floats(got, self.dtype)
        want = _floats(want, self.dtype)
        near, error2, want2 = self._measures.near(got, want, room)
        if not near or not error2 <= _MOST:
            self._inspect(start, got, want, room)
            return
        self._error2 += error2
        self._want2 += want2
        if self.max_abs is not None and self._measures.top(got, want) > self.max_abs:
            self._top(start, abs(got - want.astype("f8")))

    def _inspect(self, start: int, got: Values, want: Values, room: Room) -> None:
        import numpy as np

        block = inspected(got, want, room)
        bad = np.logical_or.reduce(block.bad.reshape(-1, self._parts), axis=1)
        odd = np.logical_or.reduce(block.odd.reshape(-1, self._parts), axis=1)
        self._wrong(start, bad, int(np.count_nonzero(odd)))
        self._error2 += squares(block.error)
        self._want2 += block.want2
        self._top(start, block.error)

    def _integers(self, start: int, got: Values, want: Values, room: Room) -> None:
        """Integers and truth values: equal, but for a tolerance that the task gives."""
        import numpy as np

        bad = got != want
        if not bad.any():
            return
        size = np.abs(want.astype("f8"))
        unsigned = f"u{got.dtype.itemsize}"
        error = (
            np.maximum(got, want).view(unsigned) - np.minimum(got, want).view(unsigned)
        ).astype("f8")
        self._error2 += squares(error)
        if self.dtype != "b1":
            bad &= ~(error <= (room[0] + room[1] * size if isinstance(room, tuple) else room))
        self._wrong(start, bad, 0)
        self._top(start, error)

    def _wrong(self, start: int, bad: Values, classes: int) -> None:
        import numpy as np

        if count := int(np.count_nonzero(bad)):
            self.violations += count
            self.classes += classes
            if self.first < 0:
                self.first = start + int(bad.argmax())

    def _top(self, start: int, error: Values) -> None:
        place = int(error.argmax())
        if self.max_abs is not None and float(error[place]) > self.max_abs:
            self.max_abs = float(error[place])
            self.worst = start + place // self._parts


def _floats(values: Values, dtype: str) -> Values:
    """Floats or parts that compiled loops take: of 16 bits as float32, which holds them all."""
    if dtype in ("f2", "bf16"):
        return to_float(values, dtype).astype("<f4", copy=False)
    return values.view("<f4" if dtype == "c8" else "<f8") if dtype[0] == "c" else values


def _doubles(want: Values) -> Iterator[Values]:
    for start in range(0, want.size, 1 << 16):
        yield want[start : start + (1 << 16)].astype("f8")
