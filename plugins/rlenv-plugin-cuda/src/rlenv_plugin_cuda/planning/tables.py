"""What launch plans know by name."""

from __future__ import annotations

import ast

from .values import DTYPES

__all__ = [
    "ALLOCATE", "BUILTINS", "FACTS", "FUNCTIONS", "METHODS", "NAMED", "OPERATORS", "VALUES",
]  # fmt: skip

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
OPERATORS = (
    ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.LShift, ast.RShift,
    ast.BitAnd, ast.BitOr, ast.BitXor, ast.UAdd, ast.USub, ast.Not, ast.Invert, ast.And, ast.Or,
    ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Is, ast.IsNot, ast.In, ast.NotIn,
)  # fmt: skip
NAMED = {
    "Try": "try", "With": "with", "ListComp": "a comprehension", "GeneratorExp": "a comprehension",
    "DictComp": "a comprehension", "SetComp": "a comprehension", "JoinedStr": "a formatted text",
    "NamedExpr": "`:=`", "FunctionDef": "a function", "ClassDef": "a class", "Lambda": "a lambda",
    "Import": "an import", "ImportFrom": "an import", "Dict": "a dict", "Set": "a set",
    "Starred": "a star", "Slice": "a slice", "List": "a list", "Yield": "yield", "Await": "await",
    "Raise": "raise", "Delete": "del", "Global": "global", "Nonlocal": "nonlocal", "Match": "match",
    "Constant": "a text", "Break": "break", "Continue": "continue", "Assert": "assert",
    "AsyncFunctionDef": "async",
}  # fmt: skip
