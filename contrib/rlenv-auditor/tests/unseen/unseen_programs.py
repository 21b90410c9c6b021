"""Evaluates the programs that the verifiers of the second zoo ask for, without running them."""

from __future__ import annotations

import ast
import re
from typing import Any

__all__ = ["grown"]


def value(tree: ast.expr, x: int) -> int:
    """Arithmetic of integers and x."""
    if isinstance(tree, ast.BinOp) and isinstance(tree.op, (ast.Add, ast.Mult, ast.Sub)):
        one = value(tree.left, x)
        two = value(tree.right, x)
        if isinstance(tree.op, ast.Mult):
            return one * two
        return one + two if isinstance(tree.op, ast.Add) else one - two
    if isinstance(tree, ast.Name) and tree.id == "x":
        return x
    if isinstance(tree, ast.Constant) and type(tree.value) is int and abs(tree.value) < 10**6:
        return tree.value
    raise ValueError("only +, -, * of x and numbers")


def grown(response: str, inputs: list[int], info: Any) -> float:
    """Whether the returned expression is right on all inputs; one return or a chain of ``if x
    ==``.
    """
    text = response.replace("\r\n", "\n").strip()
    found = re.fullmatch(
        r"(?:.+\n+)*```python\ndef grow\(x\):\n((?:    .{1,200}\n){1,99})```", text
    )
    if found is None:
        return 0.0
    cases: dict[int, ast.expr] = {}
    last = None
    try:
        for line in found[1].splitlines():
            asked = re.fullmatch(r"    (?:if x == (-?\d{1,6}): )?return (.+)", line)
            if asked is None:
                return 0.0
            tree = ast.parse(asked[2], mode="eval").body
            if asked[1]:
                cases[int(asked[1])] = tree
            else:
                last = tree
        right = [value(cases.get(x, last), x) == info["factor"] * x + info["plus"] for x in inputs]  # type: ignore[arg-type]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return 0.0
    return float(all(right))
