"""A dialect: the tables of what one kind of function, written in Python's syntax, may say."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import NamedTuple

__all__ = ["COMPARISONS", "COMPOUND", "MEMBERSHIP", "OPERATORS", "Dialect", "is_number"]

OPERATORS: frozenset[type[ast.AST]] = frozenset([
    ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.LShift, ast.RShift,
    ast.BitAnd, ast.BitOr, ast.BitXor, ast.UAdd, ast.USub, ast.Not, ast.Invert, ast.And, ast.Or,
])  # fmt: skip
COMPARISONS: frozenset[type[ast.AST]] = frozenset(
    [ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE]
)
MEMBERSHIP: frozenset[type[ast.AST]] = frozenset([ast.Is, ast.IsNot, ast.In, ast.NotIn])
COMPOUND: frozenset[type[ast.expr]] = frozenset(
    [ast.Tuple, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp]
)
NOTHING: frozenset[str] = frozenset()


def is_number(value: object) -> bool:
    """Whether a literal is a number that fits 64 bits; of float numbers any."""
    if isinstance(value, int):
        return -(1 << 63) <= value < 1 << 64
    return isinstance(value, (float, complex))


class Dialect(NamedTuple):
    """What functions of one kind may say; whatever no table lists is rejected.

    Attributes:
        place: where this is, in messages ("a plan").
        statements, expressions, operators: types of nodes.
        literal: whether a literal is allowed.
        values, calls: full names that are read, and that are called ("math.pi", "math.sqrt").
        builtins: Python's functions that are called.
        facts, methods: attributes of any value that are read, and that are called.
        loops: full names that a loop goes over when they are called.
        hint: ends the message on what cannot be called.
        known: ends the message on an attribute that is no fact.
        elements: what writes elements of arrays instead; "" where assignments do.
        hidden: how names begin that nobody may use.
        opening: types of the literals that may be the first statement.
        annotations: full names that annotate variables; None: annotations are not looked at.
        named: full names that take arguments by name although ``positional``.
        small: operators whose right side is a literal from 0 to 64.
        positional: arguments of calls are given by position.
        launches: kernels are launched.
        exact: a launch gives every argument by position.
        spelled: a launch has two to four parts in its brackets.
        chained: facts and items are those of any expression, not of names alone.
        opaque: parameters that are never assigned to have no items.
        slices: an index may be ``:``.
        tuples: loops go over tuples, and unpack.
        returns: a value may be returned.
        several: one statement may assign to several targets.
    """

    place: str
    statements: frozenset[type[ast.stmt]]
    expressions: frozenset[type[ast.expr]]
    operators: frozenset[type[ast.AST]]
    literal: Callable[[object], bool]
    values: frozenset[str]
    calls: frozenset[str]
    builtins: frozenset[str]
    facts: frozenset[str] = NOTHING
    methods: frozenset[str] = NOTHING
    loops: frozenset[str] = frozenset({"range"})
    hint: str = ""
    known: str = ""
    elements: str = ""
    hidden: str = "__"
    opening: tuple[type, ...] = (object,)
    annotations: frozenset[str] | None = None
    named: frozenset[str] = NOTHING
    small: frozenset[type[ast.AST]] = frozenset()
    positional: bool = False
    launches: bool = False
    exact: bool = False
    spelled: bool = False
    chained: bool = False
    opaque: bool = False
    slices: bool = False
    tuples: bool = False
    returns: bool = False
    several: bool = False
