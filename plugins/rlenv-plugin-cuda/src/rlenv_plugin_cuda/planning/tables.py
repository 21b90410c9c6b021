"""What launch plans of CUDA C++ and Triton may say."""

from __future__ import annotations

import ast

from .dialect import COMPARISONS, COMPOUND, MEMBERSHIP, OPERATORS, Dialect
from .values import DTYPES

__all__ = ["CONSTANT", "CPP_PLAN", "PLAN"]

BUILTINS = frozenset(
    {"abs", "bool", "float", "int", "len", "max", "min", "range", "round", "tuple"}
)
FACTS = frozenset({"shape", "ndim", "dtype", "device", "size", "is_cuda"})
METHODS = frozenset([
    "numel", "size", "stride", "dim", "element_size", "is_contiguous", "contiguous", "view",
    "reshape", "flatten", "zero_", "fill_",
])  # fmt: skip
ALLOCATE = frozenset(
    ["empty", "zeros", "ones", "full", "empty_like", "zeros_like", "ones_like", "full_like"]
)
MATH = frozenset(["ceil", "floor", "sqrt", "log2", "log", "exp", "prod", "gcd", "pi", "e", "inf"])
FUNCTIONS = frozenset(
    {
        "triton.cdiv",
        "triton.next_power_of_2",
        "triton.language.cdiv",
        "triton.language.constexpr",
        "torch.cuda.synchronize",
        "cuda.synchronize",
        "cuda.device_array",
        "cuda.device_array_like",
        "numpy.dtype",
        "torch.device",
        *(f"torch.{name}" for name in ALLOCATE),
        *(f"math.{name}" for name in MATH),
    }
)
_SIZED = frozenset(name for name in DTYPES if name[-1].isdigit())
TYPES = frozenset(
    {
        *(f"torch.{name}" for name in DTYPES),
        *(f"triton.language.{name}" for name in DTYPES),
        *(f"numpy.{name}" for name in _SIZED),
    }
)
VALUES = frozenset({"math.pi", "math.e", "math.inf"}) | TYPES
_STATEMENTS: frozenset[type[ast.stmt]] = frozenset([
    ast.Assign, ast.AnnAssign, ast.AugAssign, ast.If, ast.For, ast.FunctionDef, ast.Return,
    ast.Assert, ast.Expr, ast.Pass,
])  # fmt: skip
_EXPRESSIONS: frozenset[type[ast.expr]] = COMPOUND | {
    ast.Constant, ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.List,
}  # fmt: skip
_ALLOCATES = frozenset(name for name in FUNCTIONS if name.startswith(("torch.", "cuda.")))


def _literal(value: object) -> bool:
    """Numbers, None, and texts that name a type or an argument."""
    if isinstance(value, str):
        return len(value) <= 80
    return value is None or isinstance(value, (int, float))


PLAN = Dialect(
    place="a plan",
    statements=_STATEMENTS,
    expressions=_EXPRESSIONS | {ast.Lambda},
    operators=OPERATORS | COMPARISONS | MEMBERSHIP,
    literal=_literal,
    values=VALUES,
    calls=FUNCTIONS,
    builtins=BUILTINS,
    facts=FACTS,
    methods=METHODS,
    hint=": what is computed, kernels compute",
    known="of an array a plan knows shape and type, not what it holds",
    elements="elements are for kernels",
    opening=(str,),
    launches=True,
    chained=True,
    opaque=True,
    tuples=True,
    returns=True,
)
CPP_PLAN = PLAN._replace(exact=True, spelled=True)
CONSTANT = PLAN._replace(
    place="a constant",
    expressions=_EXPRESSIONS,
    calls=FUNCTIONS - _ALLOCATES,
    hint=": arrays are made in `run`, not at the top",
    launches=False,
)
