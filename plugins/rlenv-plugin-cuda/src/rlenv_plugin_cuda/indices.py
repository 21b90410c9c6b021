"""Integers that are places: a golden model that refuses any number may take those of an array's
elements.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING, Any

from rlenv import VerifierFault

from .dims import Dim, extent
from .draws import drawn, generator
from .spec import INTEGERS, Kernel

__all__ = ["Same", "draw", "places"]

if TYPE_CHECKING:
    from numpy.random import Generator

_SMALL = 1 << 16  # elements of an array of a shape that is tried
_TRIES = 3
_TAKERS = ("at", "bincount", "put", "put_along_axis", "take", "take_along_axis")


class Same:
    """A kernel as a key: two that say the same are equal."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.said = repr((kernel, kernel.golden, kernel.hidden))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and self.said == other.said

    def __hash__(self) -> int:
        return hash(self.said)


def places(kernel: Kernel, sizes: Mapping[str, int]) -> int | None:
    """Below which number the integers of arrays have to be for these sizes; None: they may be any.

    Where the golden model fails with any numbers, or indexes with an input (for numpy -1 is a
    place), and works with places, they are places: from 0 and below the largest dimension with
    which it works, else below all of them.
    """
    if not any(array.dtype in INTEGERS and array.dims for array in kernel.inputs):
        return None
    found = _bounds(Same(kernel))
    return None if found is None else _below(found, sizes)


def draw(kernel: Kernel, sizes: Mapping[str, int], dist: str, rng: Generator) -> dict[str, Any]:
    """A value for every input, by name, as ``drawn`` gives them.

    Integers are places where the model takes no others.
    """
    return drawn(kernel, sizes, dist, rng, places(kernel, sizes))


def _below(bounds: Sequence[Dim], sizes: Mapping[str, int]) -> int:
    return min(extent(dim, sizes) for dim in bounds)


@lru_cache(4096)
def _bounds(same: Same) -> tuple[Dim, ...] | None:
    """The dimensions that integers stay below; None where they may be any."""
    kernel = same.kernel
    if not _subscripts(kernel) and _works(kernel, None):
        return None
    shapes = _shapes(kernel)
    dims = list(
        dict.fromkeys(dim for array in (*kernel.inputs, *kernel.outputs) for dim in array.dims)
    )
    dims.sort(key=lambda dim: -sum(extent(dim, sizes) for sizes in shapes))
    candidates = [*((dim,) for dim in dims), tuple(dims)]
    return next((bounds for bounds in candidates if _works(kernel, bounds)), None)


def _shapes(kernel: Kernel) -> list[Mapping[str, int]]:
    shapes = sorted(kernel.hidden, key=lambda sizes: _elements(kernel, sizes))
    return [sizes for sizes in shapes if _elements(kernel, sizes) <= _SMALL][:_TRIES] or shapes[:1]


def _subscripts(kernel: Kernel) -> bool:
    """Whether the model's source takes elements at an input itself: ``x[at]``, ``np.take(x,
    at)``.
    """
    try:
        tree = ast.parse(textwrap.dedent(kernel.golden))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    names = {array.name for array in kernel.inputs if array.dtype in INTEGERS}
    found: list[ast.expr] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript):
            found += node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            found += node.args if node.func.attr in _TAKERS else []
    return any(isinstance(node, ast.Name) and node.id in names for node in found)


def _works(kernel: Kernel, bounds: Sequence[Dim] | None) -> bool:
    """Whether the model takes a few draws of the smaller shapes.

    The last place is always among them.
    """
    from .golden import golden_of

    try:
        golden = golden_of(kernel)
        for place, sizes in enumerate(_shapes(kernel)):
            below = None if bounds is None else _below(bounds, sizes)
            for dist in ("spike", "special", "normal", "normal"):
                rng = generator(b"places", place, dist)
                golden.outputs(drawn(kernel, sizes, dist if below else "normal", rng, below), sizes)
    except VerifierFault:
        return False
    return True


def _elements(kernel: Kernel, sizes: Mapping[str, int]) -> int:
    return max(prod(array.shape(sizes)) for array in (*kernel.inputs, *kernel.outputs))
