"""Types of interpreted numba kernels are those of numba's own tables for the CUDA target."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable
from typing import Any

import pytest
from rlenv_plugin_cuda.guest import kernel_kinds as kinds

CODES = {
    "b1": "boolean", "i1": "int8", "i2": "int16", "i4": "int32", "i8": "int64", "u1": "uint8",
    "u2": "uint16", "u4": "uint32", "u8": "uint64", "f2": "float16", "f4": "float32",
    "f8": "float64", "c8": "complex64", "c16": "complex128",
}  # fmt: skip
OPERATORS: dict[type[ast.operator], Any] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow,
    ast.BitAnd: operator.and_, ast.LShift: operator.lshift, ast.RShift: operator.rshift,
}  # fmt: skip
MATH = [
    "acos", "atan2", "ceil", "copysign", "cos", "erf", "exp", "expm1", "fabs", "floor", "fmod",
    "gamma", "hypot", "isnan", "ldexp", "log", "log1p", "pow", "sin", "sqrt", "tan", "trunc",
]  # fmt: skip
BINARY = {"atan2", "copysign", "fmod", "hypot", "ldexp", "pow"}
UNTYPED = {("b1", "i4")}  # of powers: numba takes True ** int32 for a float32


@pytest.fixture(scope="module")
def numba() -> Callable[..., str]:
    """(function, codes) -> the code of what numba makes for CUDA of arguments of these types.

    "" for nothing.
    """
    types = pytest.importorskip("numba").types
    context = pytest.importorskip("numba.cuda.descriptor").cuda_target.typing_context
    context.refresh()
    names = {getattr(types, name): code for code, name in CODES.items()}

    def made(function: Any, *codes: str) -> str:
        given = tuple(getattr(types, CODES[code]) for code in codes)
        if function is None:
            return names.get(context.unify_types(*given), "")
        try:
            return names.get(context.resolve_function_type(function, given, {}).return_type, "")
        except Exception:
            return ""

    return made


def pairs() -> list[tuple[str, str]]:
    return [(a, b) for a in CODES for b in CODES]


@pytest.mark.parametrize("op", OPERATORS, ids=lambda op: op.__name__)
def test_operations_have_the_types_that_numba_gives_them(op: Any, numba: Any) -> None:
    wrong = {}
    for a, b in pairs():
        want = numba(OPERATORS[op], a, b)
        found = kinds.binary(op, kinds.number(a), kinds.number(b)).code
        if want not in ("", found) and not (op is ast.Pow and (a, b) in UNTYPED):
            wrong[a, b] = (found, want)

    assert wrong == {}


def test_values_that_meet_have_the_type_that_numba_gives_them(numba: Any) -> None:
    found = {
        (a, b): (kinds.unified(kinds.number(a), kinds.number(b)).code, numba(None, a, b))
        for a, b in pairs()
    }

    assert {pair: both for pair, both in found.items() if both[0] != both[1]} == {}


@pytest.mark.parametrize("name", MATH)
def test_functions_of_math_have_the_types_that_numba_gives_them(name: str, numba: Any) -> None:
    given = pairs() if name in BINARY else [(code,) for code in CODES]
    found = {
        codes: (
            kinds.called(name, [kinds.number(code) for code in codes]).code,
            numba(getattr(math, name), *codes),
        )
        for codes in given
    }

    assert {codes: both for codes, both in found.items() if both[1] not in ("", both[0])} == {}
