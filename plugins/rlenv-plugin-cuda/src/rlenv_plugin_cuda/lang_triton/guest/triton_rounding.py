"""Where Triton's interpreter keeps more bits than a device: sums of 16-bit floats, and numbers that
only Python holds.

``tl.sum`` and ``tl.cumsum`` of float16 and bfloat16 round every partial sum, as compiled code does;
numpy adds float16 in float32.  A Python number that a loop or a branch changes is a tensor of 32
bits (64 where it does not fit) from then on, as the compiler makes it; it is a Python float of 64
bits only as long as it is known when the kernel is compiled.  With ``contract``, a product that is
added or subtracted is not rounded before, as the compiler has it by default.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from importlib import import_module
from types import ModuleType
from typing import Any, TypeAlias

Value: TypeAlias = Any  # of Triton's classes, or numpy's: Triton has no types
Function: TypeAlias = Callable[..., Value]
np: ModuleType = import_module("numpy")

__all__ = ["Rounding", "behind", "whole_sums"]

_ABSENT = "__absent"


class Rounding:
    """What a machine of this interpreter rounds.

    Args:
        tl: Triton's language.
        handle: its class of data with a type.
        wide, narrow: from bfloat16's bits to float32, and back.
    """

    def __init__(
        self,
        tl: ModuleType,
        handle: Function,
        wide: Function,
        narrow: Function,
    ) -> None:
        self.tl = tl
        self.handle = handle
        self.wide = wide
        self.narrow = narrow
        self.contract = False
        self.fusible = False  # whether a product was added to something, since this was last set

    def summed(self, method: Function) -> Function:
        """``ReduceOps.sum`` as a tree of rounded sums."""

        def summed(of: Value, given: Value) -> Value:
            if given.dtype.scalar not in (self.tl.float16, self.tl.bfloat16):
                return method(of, given)
            data = given.handle.data
            axis = of.axis
            rows = data.reshape(-1) if axis is None else np.moveaxis(data, axis, 0)
            while len(rows) > 1:
                half = len(rows) // 2
                rows = self._op(np.add, given.dtype, rows[:half], rows[half:])
            made = rows[0]
            if of.keep_dims:
                made = made.reshape([1] * data.ndim) if axis is None else np.expand_dims(made, axis)
            return of.to_tensor(made, given.dtype)

        return summed

    def scanned(self, method: Function, op: Value) -> Function:
        """``ScanOps.cumsum`` and ``cumprod``; numpy's own round each step, and know no bfloat16."""

        def scanned(of: Value, given: Value) -> Value:
            if given.dtype.scalar != self.tl.bfloat16:
                return method(of, given)
            made = np.moveaxis(given.handle.data, of.axis, 0).copy()
            for place in range(1, len(made)):
                made[place] = self._op(op, given.dtype, made[place - 1], made[place])
            return [of.to_tensor(np.moveaxis(made, 0, of.axis), given.dtype)]

        return scanned

    def _op(self, op: Value, kind: Value, left: Value, right: Value) -> Value:
        if kind.scalar == self.tl.float16:
            return op(left, right)
        return self.narrow(op(self.wide(left), self.wide(right)))

    def multiplied(self, method: Function) -> Function:
        """``create_fmul``, whose result remembers its factors."""

        def multiplied(of: Value, left: Value, right: Value) -> Value:
            made = method(of, left, right)
            made.factors = (left, right)
            return made

        return multiplied

    def added(self, method: Function, sign: int) -> Function:
        """``create_fadd`` and ``create_fsub`` (``sign`` -1), which may fuse what was multiplied."""

        def added(of: Value, left: Value, right: Value) -> Value:
            for product, other in ((left, right), (right, left)):
                factors = getattr(product, "factors", None)
                if factors is None or left.dtype.scalar == self.tl.float64:
                    continue
                self.fusible = True
                if self.contract:
                    a, b, c = map(self._exact, (*factors, other))
                    made = a * b + sign * c if product is left else c + sign * (a * b)
                    return self._rounded(made, left.dtype.scalar)
            return method(of, left, right)

        return added

    def _exact(self, of: Value) -> Value:
        data = self.wide(of.data) if of.dtype.scalar == self.tl.bfloat16 else of.data
        return data.astype(np.longdouble)

    def _rounded(self, values: Value, kind: Value) -> Value:
        if kind == self.tl.bfloat16:
            return self.handle(self.narrow(values.astype(np.float32)), kind)
        return self.handle(
            values.astype(np.float16 if kind == self.tl.float16 else np.float32), kind
        )


def whole_sums(rounding: Rounding, interpreter: ModuleType, builder: Value) -> None:
    """Put all of this into Triton's interpreter."""
    reduce = interpreter.ReduceOps
    scan = interpreter.ScanOps
    for kind, name, made in (
        (reduce, "sum", rounding.summed(reduce.sum)),
        (scan, "cumsum", rounding.scanned(scan.cumsum, np.add)),
        (scan, "cumprod", rounding.scanned(scan.cumprod, np.multiply)),
        (builder, "create_fmul", rounding.multiplied(builder.create_fmul)),
        (builder, "create_fadd", rounding.added(builder.create_fadd, 1)),
        (builder, "create_fsub", rounding.added(builder.create_fsub, -1)),
    ):
        setattr(kind, name, made)


def behind(names: Iterable[str], test: str = "") -> list[ast.stmt]:
    """Statements that make tensors of the Python numbers in these variables, where ``test`` is not
    known either.
    """
    made: list[ast.stmt] = []
    for name in sorted(names):
        given: list[ast.expr] = [ast.Name(each, ast.Load()) for each in (name, test) if each]
        value = ast.Call(ast.Name("__carried", ast.Load()), given, [])
        keep: list[ast.stmt] = [ast.Assign([ast.Name(name, ast.Store())], value)]
        unset = ast.ExceptHandler(ast.Name(_ABSENT, ast.Load()), None, [ast.Pass()])
        made.append(ast.Try(keep, [unset], [], []))
    return made
