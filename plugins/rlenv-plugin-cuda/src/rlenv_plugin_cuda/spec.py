"""The kernel of a task, ``task.info["kernel"]``, with types. Plain data.

``reading.kernel_of`` reads and checks it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

from attrs import field, frozen

from .dims import Dim, extent

__all__ = [
    "DISTS",
    "DTYPES",
    "LANGUAGES",
    "SCALES",
    "Array",
    "Kernel",
    "Limits",
    "Tolerance",
]

Init: TypeAlias = Literal["poison", "zero"]
LANGUAGES = ("numba", "triton", "cuda")
FLOATS = ("f2", "bf16", "f4", "f8")
INTEGERS = ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")
DTYPES = (*FLOATS, *INTEGERS, "b1", "c8", "c16")
DISTS = ("normal", "uniform", "positive", "big", "tiny", "spike", "special", "small_ints")
SCALES = ("", "absdot", "std", "max")
MOST_BYTES = 1 << 31  # of one array


@frozen
class Array:
    """One argument.

    Args:
        name: of the argument, as the golden model and the answer's ``run`` have it.
        dtype: of ``DTYPES``; "scalar" for a float and "int" for an integer, which have no
            dimensions.
        dims: numbers, names of sizes, and arithmetic of both such as "m*n".
    """

    name: str
    dtype: str
    dims: tuple[Dim, ...] = ()

    @property
    def scalar(self) -> bool:
        """Whether it is one number, passed by value."""
        return self.dtype in ("scalar", "int")

    def shape(self, sizes: Mapping[str, int]) -> tuple[int, ...]:
        """Its extents where the named dimensions have these sizes."""
        return tuple(extent(dim, sizes) for dim in self.dims)


@frozen
class Tolerance:
    """How near is near enough: ``|out - want| <= atol + rtol * scale``; both 0: equal.

    Args:
        atol, rtol: from 0.
        scale: "": ``|want|``, element by element; "absdot": what the golden model makes of the
            absolute values of its inputs, which for sums, dot products and matrix products is the
            sum of absolute products (places where that is less than ``|want|`` or not finite use
            ``|want|``); "std" and "max": the standard deviation and the largest absolute value of
            the golden output.
        contract: outputs are right too that are near enough with ``a * b + c`` rounded once, as GPU
            compilers do by default.  A case is then run twice on a CPU, if there is anything to
            fuse, once with and once without. None and True: so; False: the device rounds the
            product.
    """

    atol: float = 0.0
    rtol: float = 0.0
    scale: str = ""
    contract: bool | None = None


@frozen
class Limits:
    """What a kernel may use; None where the task says nothing.

    Args:
        registers: of a thread.
        shared: bytes of a block, static and dynamic.
        stack: bytes of a thread.
        spills: bytes of a thread that go to memory for want of registers, stores and loads.
        threads_per_block: of a launch.
        arch: what the compiler builds for ("sm_90").
    """

    registers: int | None = None
    shared: int | None = None
    stack: int | None = None
    spills: int | None = None
    threads_per_block: int | None = None
    arch: str = "sm_90"


@frozen
class Kernel:
    """A task, read and sound.

    Args:
        lang: of ``LANGUAGES``.
        inputs, outputs: in the order in which the answer gets them.
        golden: the body of a function of the inputs ("return [a + b]"), or "module:function".
        visible: sizes that may be shown and are never scored.
        hidden: sizes that decide.
        dists: of ``DISTS``, what inputs are drawn from.
        tol: what is near enough.
        output_init: what outputs hold before the first launch.
        limits: what it may use.
        values: of scalars that are given rather than drawn.
    """

    lang: str
    inputs: tuple[Array, ...]
    outputs: tuple[Array, ...]
    golden: str = field(repr=False)
    visible: tuple[Mapping[str, int], ...] = ()
    hidden: tuple[Mapping[str, int], ...] = field(default=(), repr=False)
    dists: tuple[str, ...] = ("normal",)
    tol: Tolerance = field(factory=Tolerance)
    output_init: Init = "poison"
    limits: Limits = field(factory=Limits)
    values: Mapping[str, float | int] = field(factory=dict)

    @property
    def halves(self) -> bool:
        """Whether any of its arrays is of floating-point numbers of 16 bits."""
        return any(array.dtype in ("f2", "bf16") for array in (*self.inputs, *self.outputs))
