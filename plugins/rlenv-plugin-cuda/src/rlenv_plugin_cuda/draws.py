"""Inputs of kernels, drawn by law 5's key, so that no constant, mean, sample or guess comes near
the answer.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .numbers import NUMPY, to_bf16
from .spec import Array, Kernel

if TYPE_CHECKING:
    from numpy.random import Generator

    from rlenv_plugin_cuda.numbers import Values

__all__ = ["drawn", "generator", "poison"]

_MOST = {
    "f2": 16.0
}  # how large "big" and "spike" are, where squares and sums of them must stay finite
_LEAST = {"f2": 1e-2}  # how small "tiny" is
_DENORMAL = {"f2": 1e-6, "bf16": 1e-39, "f4": 1e-42, "f8": 1e-310, "c8": 1e-42, "c16": 1e-310}


def generator(key: bytes, *labels: str | int) -> Generator:
    """A source of numbers for one purpose; other labels give independent ones.

    Args:
        key: 32 bytes, of ``attempt.key()``.
    """
    from numpy.random import PCG64, Generator

    seed = hashlib.sha256(key + repr(labels).encode()).digest()
    return Generator(PCG64(int.from_bytes(seed, "little")))


def drawn(
    kernel: Kernel, sizes: Mapping[str, int], dist: str, rng: Generator, below: int | None
) -> dict[str, Any]:
    """One value for every input, by name: a numpy array of ``NUMPY``'s type, a float or an int.

    A float by value is a float32 too, whatever a language passes it as. Every now and then the
    largest or the smallest element of an array is first or last, so that an answer that leaves
    those out is wrong.

    Args:
        sizes: of the named dimensions; an "int" of that name is that number.
        dist: of ``spec.DISTS``.
        below: integers of arrays are from 0 and below this number; None: any.
    """
    import numpy as np

    made: dict[str, Any] = {}
    for array in kernel.inputs:
        if array.name in kernel.values:
            made[array.name] = kernel.values[array.name]
        elif array.dtype == "int":
            made[array.name] = sizes.get(array.name, int(rng.integers(1, 16)))
        elif array.scalar:
            made[array.name] = float(
                np.float32(rng.choice((-1.0, 1.0)) * (0.25 + 2.0 * rng.random()))
            )
        else:
            made[array.name] = _array(array.dtype, array.shape(sizes), dist, rng, below)
    return made


def poison(array: Array, sizes: Mapping[str, int], rng: Generator) -> bytes:
    """Bytes that an output may hold before the first launch."""
    shape = array.shape(sizes)
    count = 1
    for extent in shape:
        count *= extent
    if array.dtype == "b1":
        return bytes(rng.integers(0, 2, count, dtype="u1"))
    from numpy import dtype

    return rng.bytes(count * dtype(NUMPY[array.dtype]).itemsize)


def _array(
    dtype: str, shape: tuple[int, ...], dist: str, rng: Generator, below: int | None
) -> Values:
    if dtype[0] in "iu" and below is not None:
        made = _places(dtype, shape, dist, rng, below)
    elif dtype[0] in "iu":
        made = _integers(dtype, shape, dist, rng)
    elif dtype == "b1":
        made = rng.random(shape) < 0.5
    elif dtype[0] == "c":
        made = (_floats(dtype, shape, dist, rng) + 1j * _floats(dtype, shape, dist, rng)).astype(
            NUMPY[dtype]
        )
    else:
        made = _floats(dtype, shape, dist, rng)
        made = to_bf16(made) if dtype == "bf16" else made.astype(NUMPY[dtype])
    return _edged(made, rng)


def _edged(made: Values, rng: Generator) -> Values:
    """The same numbers.

    In two of three draws an extreme one has changed places with the first or the last.
    """
    kind = int(rng.integers(6))
    if kind < 4:
        flat = made.reshape(-1)
        found = int(flat.argmax() if kind & 1 else flat.argmin())
        edge = -1 if kind & 2 else 0
        flat[found], flat[edge] = flat[edge], flat[found]
    return made


def _places(dtype: str, shape: tuple[int, ...], dist: str, rng: Generator, below: int) -> Values:
    import numpy as np

    last = min(below - 1, int(np.iinfo(NUMPY[dtype]).max))
    if dist == "special":
        return rng.choice(np.array([0, last], dtype=NUMPY[dtype]), shape)
    if dist == "spike":
        made = np.zeros(shape, NUMPY[dtype])
        made.reshape(-1)[rng.integers(made.size)] = last
        return made
    return rng.integers(0, last, shape, dtype=NUMPY[dtype], endpoint=True)


def _integers(dtype: str, shape: tuple[int, ...], dist: str, rng: Generator) -> Values:
    import numpy as np

    info = np.iinfo(NUMPY[dtype])
    low = max(-100, int(info.min))
    high = 100
    if dist == "special":
        return rng.choice(np.array([info.min, info.max, 0, 1], dtype=NUMPY[dtype]), shape)
    if dist == "big":
        low = int(info.min) // 4
        high = int(info.max) // 4
    elif dist in ("tiny", "small_ints"):
        low = 0
        high = 8
    elif dist == "positive":
        low = 1
    elif dist == "spike":
        made = rng.integers(0, 2, shape, dtype=NUMPY[dtype])
        made.reshape(-1)[rng.integers(made.size)] = info.max // 4
        return made
    return rng.integers(low, high, shape, dtype=NUMPY[dtype], endpoint=True)


def _floats(dtype: str, shape: tuple[int, ...], dist: str, rng: Generator) -> Values:
    """Doubles; no distribution is centered on 0, so that a mean of nothing is not an answer."""
    most = _MOST.get(dtype, 1e4)
    if dist == "uniform":
        return rng.random(shape) * 2.0 - 0.875
    if dist == "positive":
        return rng.random(shape) + 0.25
    if dist == "small_ints":
        return rng.integers(0, 9, shape).astype("f8")
    normal = rng.standard_normal(shape)
    if dist == "big":
        return normal * most + most / 2
    if dist == "tiny":
        return (normal + 0.125) * _LEAST.get(dtype, 1e-4)
    if dist == "spike":
        normal *= most * 1e-6
        normal.reshape(-1)[rng.integers(normal.size)] = most
        return normal
    if dist == "special":
        return _special(dtype, normal, rng)
    return normal + 0.125


def _special(dtype: str, made: Values, rng: Generator) -> Values:
    """NaN, both infinities, both zeros and denormal numbers in some places.

    Complex numbers get no infinity: what a product of them with one is differs between correct
    programs.
    """
    import numpy as np

    small = _DENORMAL[dtype]
    odd = [np.nan, 0.0, -0.0, small, -small] + [np.inf, -np.inf] * (dtype[0] != "c")
    flat = made.reshape(-1)
    places = rng.integers(flat.size, size=max(1, flat.size // 16))
    flat[places] = rng.choice(odd, places.size)
    return made
