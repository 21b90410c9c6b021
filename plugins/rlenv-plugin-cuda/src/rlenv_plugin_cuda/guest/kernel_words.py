"""What kernels, device functions, constants and launch plans of numba may say, in tables."""

from __future__ import annotations

# ruff: noqa: TID252 - a sandbox has these packages under no other name
import ast

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

if TYPE_CHECKING or not __package__:  # in a sandbox there is no package
    from planning.dialect import COMPARISONS, COMPOUND, OPERATORS, Dialect, is_number
    from planning.names import Names
else:
    from ..planning.dialect import (
        COMPARISONS,
        COMPOUND,
        OPERATORS,
        Dialect,
        is_number,
    )
    from ..planning.names import Names

__all__ = [
    "BARRIERS", "BUILTINS", "CALLS", "CONSTANT", "DECLARE", "DIALECTS", "DTYPES", "FACTS",
    "INDICES", "JIT", "KNOWN", "MATH", "MODULES", "NUMBERS", "WARP", "Answer", "Function",
]  # fmt: skip

MATH = frozenset([
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "ceil", "copysign", "cos", "cosh",
    "degrees", "erf", "erfc", "exp", "expm1", "fabs", "floor", "fmod", "gamma", "hypot", "isfinite",
    "isinf", "isnan", "ldexp", "lgamma", "log", "log10", "log1p", "log2", "pow", "radians",
    "remainder", "sin", "sinh", "sqrt", "tan", "tanh", "trunc", "pi", "e", "tau", "inf", "nan",
])  # fmt: skip
NUMBERS = frozenset({"e", "inf", "nan", "pi"})
DTYPES = {
    "float16": "f2", "float32": "f4", "float64": "f8", "int8": "i1", "int16": "i2", "int32": "i4",
    "int64": "i8", "uint8": "u1", "uint16": "u2", "uint32": "u4", "uint64": "u8", "bool_": "b1",
    "boolean": "b1", "complex64": "c8", "complex128": "c16", "intp": "i8", "uintp": "u8",
}  # fmt: skip
BUILTINS = frozenset(
    {"abs", "bool", "complex", "float", "int", "len", "max", "min", "pow", "range", "round"}
)
INDICES = {
    f"{what}.{axis}": f"{short}{axis}"
    for what, short in (("threadIdx", "t"), ("blockIdx", "b"), ("blockDim", "n"), ("gridDim", "g"))
    for axis in "xyz"
}
# What a kernel calls of cuda: the name after it → the method of the thread that answers.
CALLS = {
    "grid": "grid",
    "gridsize": "gridsize",
    "fma": "fma",
    "popc": "popc",
    "clz": "clz",
    "ffs": "ffs",
    "brev": "brev",
    "selp": "selp",
    "cbrt": "cbrt",
    "threadfence": "fence",
    "threadfence_block": "fence",
    "threadfence_system": "fence",
    "shared.array": "shared",
    "local.array": "local",
    "rsqrt": "rsqrt",
    **{
        f"atomic.{name}": f"atomic_{name}"
        for name in (
            "add",
            "sub",
            "max",
            "min",
            "nanmax",
            "nanmin",
            "exch",
            "cas",
            "compare_and_swap",
            "inc",
            "dec",
            "and_",
            "or_",
            "xor",
        )
    },
}
BARRIERS = {
    "syncthreads": "",
    "syncthreads_count": "count",
    "syncthreads_and": "and",
    "syncthreads_or": "or",
}
WARP = {
    "syncwarp", "shfl_sync", "shfl_up_sync", "shfl_down_sync", "shfl_xor_sync", "all_sync",
    "any_sync", "ballot_sync", "eq_sync", "activemask",
}  # fmt: skip
FACTS = frozenset({"laneid", "warpsize"})
ARRAY = frozenset({"shape", "size", "ndim"})
HOST = frozenset({"device_array", "device_array_like", "synchronize"})
DECLARE = frozenset({"cuda.shared.array", "cuda.local.array"})
JIT = frozenset({
    "device", "fastmath", "inline", "max_registers", "opt", "lineinfo", "debug", "cache",
    "boundscheck",
})  # fmt: skip
MODULES = {
    "math": "math", "numpy": "numpy", "numba": "numba", "numba.types": "numba",
    "numba.cuda": "cuda",
}  # fmt: skip
# numba compiles these under a name of their own, also without the module.
BARE = frozenset({"grid", "gridsize", "jit"}) | HOST | frozenset(BARRIERS) | (WARP - {"syncwarp"})


def _of(module: str, *names: Iterable[str]) -> frozenset[str]:
    """Full names of what a module has."""
    return frozenset(f"{module}.{name}" for each in names for name in each)


_MATH = _of("math", MATH)
_TYPES = _of("numba", DTYPES) | _of("numpy", DTYPES)
_FLOATS = _of("math", NUMBERS, ["tau"]) | _of("numpy", NUMBERS)
_THREAD = _of("cuda", CALLS, BARRIERS, WARP)
_PARTS = _of("cuda", ["jit", "threadIdx", "blockIdx", "blockDim", "gridDim"])
_GROUPS = _of("cuda", ["shared", "local", "atomic"])
KNOWN = _MATH | _TYPES | _FLOATS | _THREAD | _PARTS | _GROUPS | {"numba.void"}
KNOWN |= _of("cuda", INDICES, FACTS, HOST)
_STATEMENTS: frozenset[type[ast.stmt]] = frozenset([
    ast.Assign, ast.AugAssign, ast.For, ast.While, ast.If, ast.Return, ast.Expr, ast.Pass,
    ast.Break, ast.Continue,
])  # fmt: skip
_SIMPLE: frozenset[type[ast.expr]] = frozenset({ast.Name, ast.Constant, ast.Attribute, ast.Call})

_KERNEL = Dialect(
    place="a kernel",
    statements=_STATEMENTS,
    expressions=COMPOUND | _SIMPLE | {ast.Subscript},
    operators=OPERATORS | COMPARISONS,
    literal=is_number,
    values=_TYPES | _FLOATS | _of("cuda", INDICES, FACTS),
    calls=_MATH | _TYPES | _THREAD,
    builtins=BUILTINS - {"range"},
    facts=frozenset({"shape", "size", "ndim"}),
    known="of an array only shape, size and ndim are known",
    hidden="_",
    named=DECLARE,
    positional=True,
    several=True,
)
DIALECTS = {
    "kernel": _KERNEL,
    "device": _KERNEL._replace(place="a device function", returns=True),
    "plan": _KERNEL._replace(
        place="a plan",
        statements=_STATEMENTS | {ast.Assert},
        values=_TYPES | _FLOATS,
        calls=_MATH | _TYPES | _of("cuda", HOST),
        elements="elements are written by kernels only",
        named=_of("cuda", HOST),
        launches=True,
        exact=True,
    ),
}
CONSTANT = _KERNEL._replace(
    place="a constant: only numbers, types and their arithmetic",
    expressions=_SIMPLE | {ast.BinOp, ast.UnaryOp, ast.Tuple},
    values=KNOWN,
    calls=_TYPES | (_MATH - _of("math", NUMBERS)),
    builtins=frozenset(),
    facts=frozenset(),
    small=frozenset({ast.Pow, ast.LShift}),
)


class Function:
    """One function of an answer: ``role`` is "kernel", "device" or "plan"."""

    def __init__(self, node: ast.FunctionDef, role: str) -> None:
        self.node = node
        self.role = role
        self.name = node.name
        self.parameters = [argument.arg for argument in node.args.args]


class Answer(Names):  # type: ignore[misc] # a neighbor in the sandbox
    """What was read: functions, constants, and which name means which module or thing of one."""

    def __init__(self) -> None:
        super().__init__()
        self.functions: dict[str, Function] = {}

    def taken(self) -> set[str]:
        """Names that no variable of a function, and nothing else at the top, may have."""
        return {*self.modules, *self.constants, *self.functions, *BUILTINS}
