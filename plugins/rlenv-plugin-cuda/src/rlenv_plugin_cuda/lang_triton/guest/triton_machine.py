"""Triton's interpreter on checked memory: its builder with our loads, stores and atomics, and
bfloat16 in full.

The interpreter of Triton 3.4 to 3.9 computes with numpy and reads real memory; here it reads a
``Space``.  It keeps bfloat16 as 16 bits and computes with these as with integers, so such operands
are widened first.
"""

from __future__ import annotations

# ruff: noqa: TID252 - of the package only what the judge sends lies beside it
import os
import sys
import types
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module

from ...planning.values import Trouble
from ..memory import Space
from .triton_rounding import Function, Rounding, Value, whole_sums

np: types.ModuleType = import_module("numpy")

os.environ["TRITON_INTERPRET"] = "1"

# in a sandbox that has it; whether it interprets is asked when it is imported
triton: types.ModuleType = import_module("triton")
tl: types.ModuleType = import_module("triton.language")
interpreter: Value = import_module("triton.runtime.interpreter")

__all__ = ["FILE", "Machine", "machine"]

FILE = "<answer>"  # of kernels, in tracebacks

_builder = interpreter.interpreter_builder
_Handle = interpreter.TensorHandle
_np_dtype = interpreter._get_np_dtype


class Machine:
    """The one interpreter of this process."""

    def __init__(self) -> None:
        self.space: Space | None = None
        self.tl = tl
        self.triton = triton
        self.rounding = Rounding(tl, _Handle, to_f4, to_bf16)
        _install(self)

    def memory(self) -> Space:
        """Of the case that runs.

        Raises:
            Trouble: none runs.
        """
        if self.space is None:
            raise Trouble("error", "memory is there in launches only")
        return self.space

    def grid(self, sizes: tuple[int, int, int]) -> None:
        """The grid of the launch that begins."""
        _builder.set_grid_dim(*sizes)

    def at(self, x: int, y: int, z: int) -> None:
        """The program that begins."""
        _builder.set_grid_idx(x, y, z)

    def pointer(self, base: int, code: str) -> Value:
        """A pointer to the elements of a buffer."""
        kind = tl.pointer_type(dtype_of(code))
        return tl.tensor(_Handle(np.array([base], np.uint64), kind), kind)

    def carried(self, value: object, test: object = None) -> Value:
        """A Python number as the compiler keeps it where it is not known.

        ``test`` is what decides, if anything does.
        """
        known = test is not None and not isinstance(test, tl.core.tensor)
        if known or value.__class__ not in (int, float):
            return value
        if (
            value.__class__ is float
            and interpreter.interpreter_semantic.to_tensor_type(value) == tl.float64
        ):
            return tl.tensor(_Handle(np.array([value], np.float64), tl.float64), tl.float64)
        return self.number(value)

    def number(self, value: float) -> Value:
        """A number as a launch passes it."""
        if isinstance(value, float):
            return tl.tensor(_Handle(np.array([value], np.float32), tl.float32), tl.float32)
        return interpreter._implicit_cvt(value)


_CODES = {
    "f2": "float16", "bf16": "bfloat16", "f4": "float32", "f8": "float64", "i1": "int8",
    "i2": "int16", "i4": "int32", "i8": "int64", "u1": "uint8", "u2": "uint16", "u4": "uint32",
    "u8": "uint64", "b1": "int1",
}  # fmt: skip
_made: list[Machine] = []


def dtype_of(code: str) -> Value:
    """Triton's type of this code."""
    return getattr(tl, _CODES[code])


def machine() -> Machine:
    """The interpreter, patched once."""
    if not _made:
        _made.append(Machine())
    return _made[0]


def _install(made: Machine) -> None:
    fake = types.FunctionType((lambda: None).__code__, {"tl": tl, "core": tl.core})
    scope = interpreter._patch_lang(fake)
    interpreter._patch_lang = lambda _: scope  # once is enough: nothing is ever put back here
    _builder.options = replace(_builder.options, sanitize_overflow=False)
    setattr(tl.core.tensor, "__bool__", _truth)  # noqa: B010 - mypy sees no class
    kind = type(_builder)
    for name, method in _memory(made).items():
        setattr(kind, name, method)
    for name in ("binary_op", "unary_op", "ternary_op"):
        setattr(kind, name, _widened(getattr(kind, name)))
    for name in ("create_idiv", "create_dot", "create_fma", "create_fabs", "create_rsqrt"):
        setattr(kind, name, _widened(getattr(kind, name)))
    whole_sums(made.rounding, interpreter, kind)
    setattr(kind, "cast_impl", _cast(kind.cast_impl))  # noqa: B010
    setattr(kind, "create_fp_to_fp", _cast(kind.create_fp_to_fp))  # noqa: B010


def _truth(tensor: Value) -> bool:
    data = tensor.handle.data
    if data.size != 1:
        if sys._getframe(1).f_code.co_filename == FILE:
            raise Trouble(
                "type", "a tensor of several elements has no truth; tl.where and & take them"
            )
        return True  # Triton's own code asks so whether there is a tensor at all
    return bool(data.reshape(-1)[0])


def _memory(made: Machine) -> dict[str, Function]:
    def load(_: object, ptrs: Value, mask: Value, other: Value, *rest: Value) -> Value:  # noqa: ARG001
        kind = ptrs.get_element_ty()
        given = None if other is None else other.data
        return _Handle(made.memory().load(ptrs.data, mask.data, given, _np_dtype(kind)), kind)

    def plain_load(_: object, ptrs: Value, *rest: Value) -> Value:  # noqa: ARG001
        kind = ptrs.get_element_ty()
        return _Handle(made.memory().load(ptrs.data, np.True_, None, _np_dtype(kind)), kind)

    def store(_: object, ptrs: Value, value: Value, mask: Value, *rest: Value) -> None:  # noqa: ARG001
        made.memory().store(ptrs.data, value.data, mask.data)

    def plain_store(_: object, ptrs: Value, value: Value, *rest: Value) -> None:  # noqa: ARG001
        made.memory().store(ptrs.data, value.data, np.True_)

    def cas(_: object, ptr: Value, cmp: Value, val: Value, *rest: Value) -> Value:
        shape = ptr.data.shape
        wanted, new = (np.broadcast_to(h.data, shape).reshape(-1) for h in (cmp, val))

        def change(old: object, lanes: object) -> Value:
            return np.where(old == wanted[lanes], new[lanes], old)

        return _atomic(made, ptr, np.True_, words=rest, val=val, change=change)

    def rmw(_: object, op: Value, ptr: Value, val: Value, *rest: Value) -> Value:
        given = np.broadcast_to(val.data, ptr.data.shape).reshape(-1)
        combine = _COMBINE[str(op).rpartition(".")[2].partition(":")[0].strip("<> ")]
        if val.dtype.scalar == tl.bfloat16:
            combine = _narrow(combine)

        def change(old: object, lanes: object) -> Value:
            return combine(old, given[lanes])

        return _atomic(made, ptr, rest[0].data, words=rest[1:], val=val, change=change)

    def barrier(_: object, *rest: object) -> None:  # noqa: ARG001
        made.memory().races.barrier()

    def number(*_: object) -> Value:
        raise Trouble(
            "pointer", "the address of an element is not a number that a kernel may look at"
        )

    return {
        "create_load": plain_load, "create_store": plain_store, "create_masked_load": load,
        "create_masked_store": store, "create_atomic_cas": cas, "create_atomic_rmw": rmw,
        "create_barrier": barrier, "create_int_to_ptr": number, "create_ptr_to_int": number,
    }  # fmt: skip


def _atomic(  # noqa: PLR0917 - of an access: where, whether, how, what
    made: Machine,
    ptr: Value,
    mask: Value,
    words: Value,
    val: Value,
    change: Function,
) -> Value:
    kind = val.dtype.scalar
    ordered = "RELAXED" not in str(words[0]).upper()
    space = made.memory()
    found = space.atomic(ptr.data, mask, _np_dtype(kind), change, ordered=ordered)
    return _Handle(found, kind)


def _signed(call: Function) -> Function:
    def as_signed(old: Value, new: Value) -> Value:
        kind = np.dtype(f"i{old.dtype.itemsize}")
        return call(old.view(kind), new.view(kind)).view(old.dtype)

    return as_signed


def _unsigned(call: Function) -> Function:
    def as_unsigned(old: Value, new: Value) -> Value:
        kind = np.dtype(f"u{old.dtype.itemsize}")
        return call(old.view(kind), new.view(kind)).view(old.dtype)

    return as_unsigned


_COMBINE: dict[str, Function] = {
    "ADD": np.add,
    "FADD": np.add,
    "AND": np.bitwise_and,
    "OR": np.bitwise_or,
    "XOR": np.bitwise_xor,
    "XCHG": lambda _, new: new,
    "MAX": _signed(np.maximum),
    "MIN": _signed(np.minimum),
    "UMAX": _unsigned(np.maximum),
    "UMIN": _unsigned(np.minimum),
}


def _narrow(call: Callable[[object, object], object]) -> Function:
    def narrow(old: object, new: object) -> Value:
        return to_bf16(call(to_f4(old), to_f4(new)))

    return narrow


def to_f4(bits: object) -> Value:
    """float32 of bfloat16's bits."""
    return (
        (np.ascontiguousarray(bits).astype(np.uint32) << 16)
        .view(np.float32)
        .reshape(np.shape(bits))
    )


def to_bf16(values: object) -> Value:
    """bfloat16's bits, rounded to nearest even."""
    floats = np.ascontiguousarray(values, np.float32)
    bits = floats.view(np.uint32).astype(np.uint64)
    rounded = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)
    return np.where(np.isnan(floats), np.uint16(0x7FC0), rounded).reshape(np.shape(values))


def _is_bf16(handle: object) -> bool:
    return isinstance(handle, _Handle) and handle.dtype.scalar == tl.bfloat16


def _widened(method: Function) -> Function:
    """The method on operands of bfloat16 as on float32, its result rounded again."""

    def widened(self: Value, *args: Value) -> Value:
        if not any(_is_bf16(arg) for arg in args):
            return method(self, *args)
        wide = [_Handle(to_f4(a.data), tl.float32) if _is_bf16(a) else a for a in args]
        out = method(self, *wide)
        if out.data.dtype == np.bool_:
            return out
        last = [a for a in args if isinstance(a, _Handle)][-1]
        return _Handle(to_bf16(out.data), tl.bfloat16) if _is_bf16(last) else out

    return widened


def _cast(method: Function) -> Function:
    def cast(self: Value, src: Value, dst: Value, *rest: Value) -> Value:
        target = dst.scalar
        if _is_bf16(src):
            src = _Handle(to_f4(src.data), tl.float32)
            if target == tl.float32:
                return src
        if target == tl.bfloat16:
            return _Handle(to_bf16(src.data.astype(np.float32)), tl.bfloat16)
        return method(self, src, dst, *rest)

    return cast
