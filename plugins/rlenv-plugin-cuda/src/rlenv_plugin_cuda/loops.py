"""The loops that numba compiles: a block is read once, without a temporary.

They run over slices from 0 and do not branch, so that they are vectorized; the largest error is
found in its bits, whose order as integers is that of doubles from 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from rlenv_plugin_cuda.numbers import Values

__all__ = ["farthest", "largest", "near_by_room", "near_by_size"]


def near_by_size(got: Values, want: Values, atol: float, rtol: float) -> Any:
    """As ``blocks.Measures.near`` says, with room of ``atol + rtol * |want|``."""
    bad = np.int64(0)
    error2 = 0.0
    want2 = 0.0
    for i in range(got.size):
        wide = np.float64(want[i])
        error = abs(np.float64(got[i]) - wide)
        wide = abs(wide)
        bad += not error <= atol + rtol * wide
        error2 += error * error
        want2 += wide * wide
    return bad == 0, error2, want2


def near_by_room(got: Values, want: Values, room: Values) -> Any:
    """As ``blocks.Measures.near`` says, with a room for each."""
    bad = np.int64(0)
    error2 = 0.0
    want2 = 0.0
    for i in range(got.size):
        wide = np.float64(want[i])
        error = abs(np.float64(got[i]) - wide)
        bad += not error <= room[i]
        error2 += error * error
        want2 += wide * wide
    return bad == 0, error2, want2


def largest(got: Values, want: Values) -> Any:
    """As ``blocks.Measures.top`` says."""
    top = np.int64(0)
    for i in range(got.size):
        error = np.float64(abs(np.float64(got[i]) - np.float64(want[i])))
        top = max(top, error.view(np.int64))
    return np.int64(top).view(np.float64)


def farthest(got: Values, want: Values, mask: int, least: int) -> Any:
    """As ``blocks.Measures.ulp`` says; ``least`` is the least number of the bits' type."""
    most = np.uint64(0)
    for i in range(got.size):
        a = np.int64(got[i])
        b = np.int64(want[i])
        finite = ((a & mask) != mask) & ((b & mask) != mask)
        a = a if a >= 0 else least - a
        b = b if b >= 0 else least - b
        apart = np.uint64(max(a, b)) - np.uint64(min(a, b))
        most = max(most, apart if finite else np.uint64(0))
    return most
