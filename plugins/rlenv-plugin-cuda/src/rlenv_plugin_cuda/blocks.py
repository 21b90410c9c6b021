"""One block of an output against the golden one, in numpy: quick figures of a clean block, exact
ones of any.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from attrs import frozen

if TYPE_CHECKING:
    from rlenv_plugin_cuda.numbers import Values

__all__ = ["Block", "Measures", "Near", "Numpy", "inspected", "squares", "ulp_bits"]

Room = tuple[float, float] | Any  # (atol, rtol) of |want|, or an array of doubles
Near = tuple[bool, float, float]


def squares(values: Values) -> float:
    """The sum of squares, on one thread: a BLAS wakes others, for which a busy machine lets it
    wait.
    """
    return float((values * values).sum())


class Measures(Protocol):
    """Two ways to the same figures: numpy's, and compiled loops."""

    def near(self, got: Values, want: Values, room: Room) -> Near:
        """Of floats: whether all are near, and the sums of squares of errors and of golden numbers.

        Where a number is not finite the first is False, or the second is.
        """
        ...

    def top(self, got: Values, want: Values) -> float:
        """The largest error of floats that are finite."""
        ...

    def ulp(self, got: Values, want: Values, mask: int) -> int:
        """Of bits as signed integers: the largest distance in representable numbers, of finite
        pairs.

        Args:
            mask: the bits of the exponent.
        """
        ...


class Numpy:
    """Sums and comparisons of whole blocks."""

    def near(self, got: Values, want: Values, room: Room) -> Near:
        """See ``Measures``."""
        import numpy as np

        wide = want.astype("f8")
        error = np.abs(got - wide)
        np.abs(wide, out=wide)
        allowed = room[0] + room[1] * wide if isinstance(room, tuple) else room
        near = bool((error <= allowed).all())
        return near, squares(error), squares(wide)

    def top(self, got: Values, want: Values) -> float:
        """See ``Measures``."""
        return float(abs(got - want.astype("f8")).max())

    def ulp(self, got: Values, want: Values, mask: int) -> int:
        """See ``Measures``."""
        import numpy as np

        finite = (got & mask != mask) & (want & mask != mask)
        least = np.array(np.iinfo(got.dtype).min, got.dtype)
        a, b = (np.where(bits >= 0, bits, least - bits) for bits in (got, want))
        wide = f"u{got.dtype.itemsize}"
        apart = np.maximum(a, b).view(wide) - np.minimum(a, b).view(wide)
        return int(np.where(finite, apart, 0).max())


def ulp_bits(values: Values, dtype: str) -> tuple[Values, int]:
    """Floats, or parts of complex numbers, as signed integers, and the mask of their exponents."""
    if dtype[0] == "c":
        dtype = "f4" if dtype == "c8" else "f8"
    bits, mask = {
        "bf16": ("<i2", 0x7F80),
        "f2": ("<i2", 0x7C00),
        "f4": ("<i4", 0x7F800000),
        "f8": ("<i8", 0x7FF0000000000000),
    }[dtype]
    return values.view(bits), mask


@frozen(eq=False)
class Block:
    """A block looked at element by element.

    Args:
        bad: outside the tolerance.
        odd: NaN or infinite on one side only, or infinite with the other sign.
        error: finite errors, 0 elsewhere.
        want2: the sum of squares of the finite golden numbers.
    """

    bad: Values
    odd: Values
    error: Values
    want2: float


def inspected(got: Values, want: Values, room: Room) -> Block:
    """What is where in a block of floats."""
    import numpy as np

    got = got.astype("f8")
    want = want.astype("f8")
    finite = np.isfinite(want)
    both = finite & np.isfinite(got)
    odd = ~both & (got != want) & ~(np.isnan(got) & np.isnan(want))
    size = np.where(finite, np.abs(want), 0.0)
    error = np.where(both, np.abs(got - want), 0.0)
    allowed = room[0] + room[1] * size if isinstance(room, tuple) else room
    return Block(odd | (both & ~(error <= allowed)), odd, error, squares(size))
