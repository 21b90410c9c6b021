"""What a Triton kernel may say, in tables."""

from __future__ import annotations

import ast

from rlenv_plugin_cuda.planning.dialect import COMPARISONS, COMPOUND, OPERATORS, Dialect
from rlenv_plugin_cuda.planning.values import DTYPES

__all__ = ["CALLS", "JIT", "KERNEL", "LAUNCH", "LIBDEVICE", "LIBDEVICE_MODULES", "MODULES", "WORDS"]

_MATH = frozenset([
    "exp", "exp2", "log", "log2", "sqrt", "sqrt_rn", "rsqrt", "sin", "cos", "erf", "floor", "ceil",
    "abs", "fma", "fdiv", "div_rn", "umulhi",
])  # fmt: skip
_CALLS = _MATH | frozenset([
    "program_id", "num_programs", "arange", "zeros", "zeros_like", "full", "cast", "broadcast",
    "broadcast_to", "cat", "join", "split", "interleave", "expand_dims", "permute", "reshape",
    "ravel", "view", "trans", "dot", "load", "store", "where", "sum", "max", "min", "argmax",
    "argmin", "xor_sum", "reduce", "associative_scan", "cumsum", "cumprod", "sort", "flip",
    "histogram", "gather", "sigmoid", "softmax", "cdiv", "maximum", "minimum", "clamp", "swizzle2d",
    "multiple_of", "max_contiguous", "max_constancy", "assume", "static_assert", "debug_barrier",
    "constexpr", "atomic_add", "atomic_and", "atomic_cas", "atomic_max", "atomic_min", "atomic_or",
    "atomic_xchg", "atomic_xor", "rand", "randn", "randint", "squeeze", "unsqueeze",
])  # fmt: skip
CALLS = frozenset(
    {
        *(f"triton.language.{name}" for name in _CALLS),
        *(f"triton.language.math.{name}" for name in _MATH),
    }
)
# Of the device library, what numpy computes: name -> how many arguments.
LIBDEVICE = {
    **dict.fromkeys(
        [
            "tanh",
            "sinh",
            "cosh",
            "tan",
            "asin",
            "acos",
            "atan",
            "asinh",
            "acosh",
            "atanh",
            "exp",
            "expm1",
            "exp2",
            "log",
            "log1p",
            "log2",
            "log10",
        ],
        1,
    ),
    **dict.fromkeys(
        [
            "sqrt",
            "rsqrt",
            "cbrt",
            "sin",
            "cos",
            "erf",
            "fabs",
            "floor",
            "ceil",
            "trunc",
            "rint",
            "abs",
            "isnan",
            "isinf",
        ],
        1,
    ),
    **dict.fromkeys(["pow", "fmod", "atan2", "hypot", "copysign", "fmin", "fmax", "div_rn"], 2),
}
TYPES = frozenset(
    f"triton.language.{name}"
    for name in DTYPES
    if name not in ("half", "double", "float", "long", "bool")
)
WORDS = TYPES | {"triton.language.constexpr"}
METHODS = frozenset([
    "to", "cast", "sum", "max", "min", "argmax", "argmin", "reshape", "view", "trans", "permute",
    "broadcast_to", "expand_dims", "ravel", "sigmoid", "exp", "log", "sqrt", "abs", "cumsum",
    "xor_sum",
])  # fmt: skip
ATTRIBUTES = frozenset({"dtype", "element_ty", "shape", "T"})
BUILTINS = frozenset({"float", "len", "max", "min"})
LOOPS = frozenset({"range", "triton.language.range", "triton.language.static_range"})
JIT = frozenset({"do_not_specialize", "do_not_specialize_on_alignment", "noinline", "debug"})
LAUNCH = frozenset({"num_warps", "num_stages", "num_ctas", "maxnreg"})
LIBDEVICE_MODULES = frozenset(
    {
        "triton.language.extra.libdevice",
        "triton.language.extra.cuda.libdevice",
        "triton.language.libdevice",
        "triton.language.math",
    }
)
MODULES = frozenset(
    {"torch", "triton", "triton.language", "triton.language.math", "math"}
    | (LIBDEVICE_MODULES - {"triton.language.math"})
)


def _literal(value: object) -> bool:
    """None, and numbers of 64 bits."""
    if isinstance(value, int):
        return abs(value) < 1 << 64
    return value is None or isinstance(value, float)


KERNEL = Dialect(
    place="a Triton kernel",
    statements=frozenset(
        [
            ast.Assign,
            ast.AnnAssign,
            ast.AugAssign,
            ast.If,
            ast.While,
            ast.For,
            ast.Return,
            ast.Expr,
            ast.Pass,
        ]
    ),
    expressions=COMPOUND
    | {ast.Constant, ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.List},
    operators=OPERATORS | COMPARISONS,
    literal=_literal,
    values=WORDS,
    calls=CALLS | {f"{module}.{name}" for module in LIBDEVICE_MODULES for name in LIBDEVICE},
    builtins=BUILTINS,
    facts=ATTRIBUTES,
    methods=METHODS,
    loops=LOOPS,
    known=f"of a tensor a kernel knows {', '.join(sorted(ATTRIBUTES))}",
    elements="tl.store writes elements",
    annotations=WORDS,
    small=frozenset({ast.Pow}),
    chained=True,
    slices=True,
    returns=True,
)
