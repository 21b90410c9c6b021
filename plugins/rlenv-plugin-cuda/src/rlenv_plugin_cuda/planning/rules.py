"""What a launch plan may say: shapes, arithmetic of integers, arrays of its own, and launches.

Nothing in it reaches an element, a module or an attribute that has no place in these tables.
"""

from __future__ import annotations

import ast

from .checking import Checker
from .dialect import Dialect
from .names import Names
from .tables import CONSTANT, PLAN
from .values import Refused

__all__ = ["check_constant", "check_plan"]


def check_plan(node: ast.FunctionDef, names: Names, dialect: Dialect = PLAN) -> None:
    """Hold ``run`` against the rules.

    Raises:
        Refused: the first thing that is not allowed.
    """
    args = node.args
    if args.vararg or args.kwarg or args.kwonlyargs or args.posonlyargs or args.defaults:
        raise Refused(node.lineno, "`run` takes plain parameters, without stars and defaults")
    for note in (*(argument.annotation for argument in args.args), node.returns):
        if note is not None and not isinstance(note, (ast.Name, ast.Attribute, ast.Constant)):
            raise Refused(node.lineno, "`run` is annotated with names of types, or not at all")
    Checker(dialect, names, node).block(node.body)


def check_constant(node: ast.expr, names: Names) -> None:
    """Hold a constant at the top against the rules: numbers, types, and their arithmetic."""
    Checker(CONSTANT, names).expression(node, 0)
