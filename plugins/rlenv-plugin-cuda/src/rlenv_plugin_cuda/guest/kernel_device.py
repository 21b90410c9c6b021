"""What kernels call of ``cuda``, as numba compiles it for a CPU: checked indices, atomics, lanes
and bits.
"""

from __future__ import annotations

# ruff: noqa: ARG001, ARG005, PLR0917 - numba passes by position, and types by the same names
import math
from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeAlias, TypeVar

    Code = TypeVar("Code", bound=Callable[..., object])
    Threads: TypeAlias = tuple[int, ...]  # where a thread is, and how large its block and grid are
    Value: TypeAlias = Any  # a number or an array; where an overload is chosen, numba's type of it

__all__ = ["NAMES", "TYPES"]

TYPES = {
    "f2": "float16", "f4": "float32", "f8": "float64", "i1": "int8", "i2": "int16", "i4": "int32",
    "i8": "int64", "u1": "uint8", "u2": "uint16", "u4": "uint32", "u8": "uint64", "b1": "bool_",
    "c8": "complex64", "c16": "complex128",
}  # fmt: skip
WARP = 32
import_module("kernel_packages")  # makes numba importable
np: Value = import_module("numpy")
types: Value = import_module("numba.types")
_extending: Value = import_module("numba.extending")


def register_jitable(code: Code) -> Code:
    """The same; kernels may call it."""
    made: Code = _extending.register_jitable(code)
    return made


def overload(function: Callable[..., object], **options: bool) -> Callable[[Code], Code]:
    """Marks what says, for the types of its arguments, how ``function`` is done."""
    mark: Callable[[Code], Code] = _extending.overload(function, **options)
    return mark


def _at(array: Value, index: Value, line: int) -> Value:
    raise NotImplementedError


def _inside(i: Value, extent: Value, line: int) -> Value:
    raise NotImplementedError


@overload(_inside, strict=False)
def _inside_typed(i: Value, extent: Value, line: int) -> Value:
    if not isinstance(i, (types.Integer, types.Boolean)):
        return None

    def checked(i: Value, extent: Value, line: int) -> Value:
        place = np.int64(i)
        if place < 0 or place >= extent:
            raise IndexError(place, extent, line)
        return place

    return checked


@overload(_at, strict=False)
def _at_typed(array: Value, index: Value, line: int) -> Value:
    """The place of an element, or an IndexError of (index, extent, line).

    Other ranks have no place at all.
    """
    if not isinstance(array, types.Array):
        return None
    single = isinstance(index, (types.Integer, types.Boolean))
    rank = 1 if single else 0
    if isinstance(index, types.BaseTuple):
        rank = len(index)
    if not 0 < rank <= array.ndim:  # with fewer it is a row
        return None
    if single:
        return lambda array, index, line: _inside(index, array.shape[0], line)
    if rank == 1:
        return lambda array, index, line: _inside(index[0], array.shape[0], line)
    if rank == 2:
        return lambda array, index, line: (
            _inside(index[0], array.shape[0], line),
            _inside(index[1], array.shape[1], line),
        )
    if rank == 3:
        return lambda array, index, line: (
            _inside(index[0], array.shape[0], line),
            _inside(index[1], array.shape[1], line),
            _inside(index[2], array.shape[2], line),
        )
    return None


def _atomic(how: Callable[[Value, Value], Value]) -> Callable[..., Value]:
    step = register_jitable(how)

    @register_jitable
    def change(array: Value, index: Value, value: Value, line: int) -> Value:
        place = _at(array, index, line)
        old = array[place]
        array[place] = step(old, value)
        return old

    return change


@register_jitable
def _cas(array: Value, index: Value, old: Value, value: Value, line: int) -> Value:
    place = _at(array, index, line)
    was = array[place]
    if was == old:
        array[place] = value
    return was


@register_jitable
def _compare_and_swap(array: Value, old: Value, value: Value, line: int) -> Value:
    return _cas(array, 0, old, value, line)


def _grid(t: Threads, ndim: Value) -> Value:
    raise NotImplementedError


@overload(_grid, strict=False, prefer_literal=True)
def _grid_typed(t: Threads, ndim: Value) -> Value:
    rank = getattr(ndim, "literal_value", None)
    if rank is None:
        return lambda t, ndim: t[3] * t[6] + t[0]
    if rank == 1:
        return lambda t, ndim: t[3] * t[6] + t[0]
    if rank == 2:
        return lambda t, ndim: (t[3] * t[6] + t[0], t[4] * t[7] + t[1])
    return lambda t, ndim: (
        t[3] * t[6] + t[0],
        t[4] * t[7] + t[1],
        t[5] * t[8] + t[2],
    )


def _gridsize(t: Threads, ndim: Value) -> Value:
    raise NotImplementedError


@overload(_gridsize, strict=False, prefer_literal=True)
def _gridsize_typed(t: Threads, ndim: Value) -> Value:
    rank = getattr(ndim, "literal_value", None)
    if rank is None or rank == 1:
        return lambda t, ndim: t[9] * t[6]
    if rank == 2:
        return lambda t, ndim: (t[9] * t[6], t[10] * t[7])
    return lambda t, ndim: (t[9] * t[6], t[10] * t[7], t[11] * t[8])


@register_jitable
def _linear(t: Threads) -> int:
    return t[0] + t[6] * (t[1] + t[7] * t[2])


@register_jitable
def _lane(t: Threads) -> int:
    return _linear(t) % WARP


@register_jitable
def _local(shape: Value, dtype: Value) -> Value:
    """An array of one thread, which holds nothing of another's."""
    made = np.empty(shape, dtype)
    made.fill(113)
    return made


@register_jitable
def _put(m: Value, p: int, t: Threads, value: Value) -> Value:
    """Leave a number where other threads find it.

    Floats and integers apart, so that none loses a bit.
    """
    m[0][p, _linear(t)] = value
    m[1][p, _linear(t)] = np.int64(value)


def _kept(m: Value, p: int, place: int, like: Value) -> Value:
    raise NotImplementedError


@overload(_kept, strict=False)
def _kept_typed(m: Value, p: int, place: int, like: Value) -> Value:
    kind = like
    if isinstance(like, types.Float):
        return lambda m, p, place, like: kind(m[0][p, place])
    return lambda m, p, place, like: kind(m[1][p, place])


@register_jitable
def _from(m: Value, p: int, t: Threads, like: Value, lane: int) -> Value:
    first = _linear(t) - _lane(t)
    if lane < 0 or lane >= WARP or first + lane >= t[6] * t[7] * t[8]:
        return like
    return _kept(m, p, first + lane, like)


@register_jitable
def _shfl(m: Value, p: int, t: Threads, mask: int, like: Value, lane: int) -> Value:
    return _from(m, p, t, like, lane % WARP)


@register_jitable
def _shfl_up(m: Value, p: int, t: Threads, mask: int, like: Value, by: int) -> Value:
    return _from(m, p, t, like, _lane(t) - by)


@register_jitable
def _shfl_down(m: Value, p: int, t: Threads, mask: int, like: Value, by: int) -> Value:
    return _from(m, p, t, like, _lane(t) + by)


@register_jitable
def _shfl_xor(m: Value, p: int, t: Threads, mask: int, like: Value, by: int) -> Value:
    return _from(m, p, t, like, _lane(t) ^ by)


@register_jitable
def _ballot(m: Value, p: int, t: Threads, mask: int, like: Value) -> int:
    first = _linear(t) - _lane(t)
    most = t[6] * t[7] * t[8]
    found = 0
    for lane in range(WARP):
        if (mask >> lane) & 1 and first + lane < most and m[0][p, first + lane] != 0:
            found |= 1 << lane
    return found


@register_jitable
def _present(t: Threads, mask: int) -> int:
    left = t[6] * t[7] * t[8] - (_linear(t) - _lane(t))
    return mask & ((1 << min(left, WARP)) - 1)


@register_jitable
def _any(m: Value, p: int, t: Threads, mask: int, like: Value) -> bool:
    return _ballot(m, p, t, mask, like) != 0


@register_jitable
def _all(m: Value, p: int, t: Threads, mask: int, like: Value) -> bool:
    return _ballot(m, p, t, mask, like) == _present(t, mask)


@register_jitable
def _count(m: Value, p: int, t: Threads, mask: int, like: Value) -> int:
    found = 0
    for place in range(t[6] * t[7] * t[8]):
        found += m[0][p, place] != 0
    return found


@register_jitable
def _every(m: Value, p: int, t: Threads, mask: int, like: Value) -> bool:
    return _count(m, p, t, mask, like) == t[6] * t[7] * t[8]


@register_jitable
def _some(m: Value, p: int, t: Threads, mask: int, like: Value) -> bool:
    return _count(m, p, t, mask, like) > 0


@register_jitable
def _popc(x: int) -> int:
    found = 0
    left = np.uint64(x)
    while left != 0:
        left &= left - np.uint64(1)
        found += 1
    return found


@register_jitable
def _ffs(x: int) -> int:
    for place in range(64):
        if (x >> place) & 1:
            return place + 1
    return 0


@register_jitable
def _clz(x: int) -> int:
    for place in range(32):
        if (x >> (31 - place)) & 1:
            return place
    return 32


@register_jitable
def _brev(x: int) -> Value:
    made = 0
    for place in range(32):
        made = (made << 1) | ((x >> place) & 1)
    return np.uint32(made)


_STEPS = {
    "add": lambda old, new: old + new,
    "sub": lambda old, new: old - new,
    "max": lambda old, new: old if new != new or old >= new else new,  # noqa: PLR0124 - NaN
    "min": lambda old, new: old if new != new or old <= new else new,  # noqa: PLR0124 - NaN
    "exch": lambda _old, new: new,
    "inc": lambda old, most: 0 if old >= most else old + 1,
    "dec": lambda old, most: most if old == 0 or old > most else old - 1,
    "and_": lambda old, new: old & new,
    "or_": lambda old, new: old | new,
    "xor": lambda old, new: old ^ new,
}
NAMES: dict[str, Value] = {
    "__at": _at,
    "__grid": _grid,
    "__gridsize": _gridsize,
    "__lane": _lane,
    "__put": _put,
    "__math": math,
    "__shfl_sync": _shfl,
    "__shfl_up_sync": _shfl_up,
    "__shfl_down_sync": _shfl_down,
    "__shfl_xor_sync": _shfl_xor,
    "__ballot_sync": _ballot,
    "__any_sync": _any,
    "__all_sync": _all,
    "__syncthreads_count": _count,
    "__syncthreads_and": _every,
    "__syncthreads_or": _some,
    "__selp": register_jitable(lambda c, a, b: a if c else b),
    "__popc": _popc,
    "__ffs": _ffs,
    "__clz": _clz,
    "__brev": _brev,
    "__rsqrt": register_jitable(lambda x: 1 / math.sqrt(x)),
    "__cbrt": register_jitable(lambda x: math.copysign(abs(x) ** (1 / 3), x)),
    "__atomic_cas": _cas,
    "__atomic_compare_and_swap": _compare_and_swap,
    **{f"__atomic_{name}": _atomic(how) for name, how in _STEPS.items()},
}
NAMES["__atomic_nanmax"] = NAMES["__atomic_max"]
NAMES["__atomic_nanmin"] = NAMES["__atomic_min"]
NAMES["__local"] = _local
for _short, _long in TYPES.items():
    NAMES[f"__type_{_short}"] = getattr(types, _long, None) or types.boolean
    NAMES[f"__numpy_{_short}"] = getattr(np, _long)
JIT: Value = import_module("numba").njit(error_model="numpy")
# LLVM rounds `a * b + c` once with this flag, where the processor has an instruction for it.
FUSING_JIT: Value = import_module("numba").njit(error_model="numpy", fastmath={"contract"})
NAMES["__fma"] = FUSING_JIT(lambda a, b, c: a * b + c)
