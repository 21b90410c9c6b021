"""Arithmetic without ``eval``: what is read are numbers, operators and a few functions, and nothing
grows large.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable
from typing import TypeAlias

from rlenv_plugin_agent.errors import ToolError
from rlenv_plugin_agent.tools.tool import tool

Number: TypeAlias = int | float
LONGEST = 1_000  # characters of an expression
BITS = 10_000  # of an integer
OPERATORS: dict[type, Callable[..., Number]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}  # fmt: skip
FUNCTIONS: dict[str, Callable[..., Number]] = {
    name: getattr(math, name)
    for name in (
        "sqrt",
        "exp",
        "log",
        "log2",
        "log10",
        "sin",
        "cos",
        "tan",
        "asin",
        "acos",
        "atan",
        "floor",
        "ceil",
        "gcd",
    )
}
# Of an integer, Python would compute 10 ** -digits.
FUNCTIONS |= {
    "abs": abs,
    "round": lambda x, digits=None: round(x, digits and max(digits, -BITS)),
    "min": min,
    "max": max,
}
NAMES = {"pi": math.pi, "e": math.e}


@tool(category="computation", deterministic=True)
def calculator(expression: str) -> str:
    """Compute a number.

    Args:
        expression: with + - * / // % ** ( ), pi, e, and functions such as sqrt, log, sin, floor,
            round, min, max.
    """
    if len(expression) > LONGEST:
        raise ToolError(f"an expression has {LONGEST:,} characters at most")
    try:
        return str(_value(ast.parse(expression.strip(), mode="eval").body))
    except (
        SyntaxError,
        ValueError,
        TypeError,
        ArithmeticError,
        RecursionError,
        MemoryError,
    ) as error:
        raise ToolError(f"this has no value: {error}"[:300]) from None


def _value(node: ast.expr) -> Number:
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return _check_size(number)
        case ast.UnaryOp(op=op, operand=operand) if type(op) in OPERATORS:
            return OPERATORS[type(op)](_value(operand))
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            return _power(_value(left), _value(right))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
            return _check_size(OPERATORS[type(op)](_value(left), _value(right)))
        case ast.Name(id=name) if name in NAMES:
            return NAMES[name]
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in FUNCTIONS:
            return _check_size(FUNCTIONS[name](*map(_value, args)))
    raise ValueError(f"{ast.unparse(node)[:80]!r} is not arithmetic")


def _power(base: Number, exponent: Number) -> Number:
    if (
        isinstance(base, int)
        and isinstance(exponent, int)
        and abs(exponent) * base.bit_length() > BITS
    ):
        raise ValueError("the power is too large")
    return _check_size(base**exponent)


def _check_size(number: object) -> Number:
    """Return a real number that is not too large."""
    if isinstance(number, int) and number.bit_length() <= BITS:
        return number
    if isinstance(number, float) and math.isfinite(number):
        return number
    raise ValueError("a result is not a real number, or too large")
