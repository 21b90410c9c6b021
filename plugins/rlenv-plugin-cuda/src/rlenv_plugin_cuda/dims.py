"""Dimensions of arrays: numbers, names, and arithmetic of both such as "m*n" or "(n+255)//256"."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import lru_cache

__all__ = ["BadDim", "Dim", "extent", "names_in"]

Dim = int | str
_ALLOWED = (
    ast.Expression, ast.Name, ast.Load, ast.BinOp, ast.Add, ast.Sub, ast.Mult, ast.FloorDiv,
    ast.Constant,
)  # fmt: skip


class BadDim(ValueError):
    """A dimension that is not arithmetic of names and integers."""


@lru_cache(1024)
def _parsed(dim: str) -> ast.expr:
    if len(dim) > 200:
        raise BadDim(f"{dim[:30]!r}.. is longer than 200 characters")
    try:
        tree = ast.parse(dim.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise BadDim(f"{dim!r} is not arithmetic of names") from None
    for node in ast.walk(tree):
        odd = isinstance(node, ast.Constant) and type(node.value) is not int
        if odd or not isinstance(node, _ALLOWED):
            raise BadDim(f"{dim!r} has more than names, integers and + - * //")
    return tree.body


def names_in(dim: Dim) -> frozenset[str]:
    """The names of sizes in a dimension.

    Raises:
        BadDim: it is not arithmetic of names and integers.
    """
    if isinstance(dim, int):
        return frozenset()
    nodes = ast.walk(_parsed(dim))
    return frozenset(node.id for node in nodes if isinstance(node, ast.Name))


def extent(dim: Dim, sizes: Mapping[str, int]) -> int:
    """How many elements there are along a dimension.

    Raises:
        BadDim: as ``names_in``, or it divides by zero.
        KeyError: a name without a size.
    """
    if isinstance(dim, int):
        return dim
    try:
        return _value(_parsed(dim), sizes)
    except ZeroDivisionError:
        raise BadDim(f"{dim!r} divides by zero") from None


def _value(node: ast.expr, sizes: Mapping[str, int]) -> int:
    if isinstance(node, ast.Constant):
        assert isinstance(node.value, int)
        return node.value
    if isinstance(node, ast.Name):
        return sizes[node.id]
    assert isinstance(node, ast.BinOp)
    left = _value(node.left, sizes)
    right = _value(node.right, sizes)
    if isinstance(node.op, ast.Add):
        return left + right
    if isinstance(node.op, ast.Sub):
        return left - right
    return left * right if isinstance(node.op, ast.Mult) else left // right
