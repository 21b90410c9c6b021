"""What can be told of a task's own sources without running them.  Never used on a response."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable

__all__ = ["bound_names", "called_in", "parsed"]


def parsed(text: str) -> ast.Module:
    """The tree of a source of the task.

    Raises:
        ValueError: with the line, where it is no Python.
    """
    try:
        return ast.parse(text)
    except SyntaxError as error:
        raise ValueError(f"line {error.lineno}: {error.msg}") from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise ValueError(str(error) or type(error).__name__) from None


def bound_names(tree: ast.Module) -> dict[str, ast.stmt]:
    """The names that a module binds at its top level, also within if, try, with and loops."""
    found: dict[str, ast.stmt] = {}
    todo: list[ast.stmt] = list(reversed(tree.body))
    while todo:
        node = todo.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found[node.name] = node
            continue
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                found[(alias.asname or alias.name).partition(".")[0]] = node
            continue
        for name in ast.walk(node):
            if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store):
                found[name.id] = node
        todo.extend(child for child in ast.iter_child_nodes(node) if isinstance(child, ast.stmt))
    return found


def called_in(tests: Iterable[str]) -> list[str]:
    """The functions that every one of these tests calls, builtins and their own names left out."""
    common: list[str] | None = None
    for test in tests:
        try:
            tree = parsed(test)
        except ValueError:
            return []
        own = bound_names(tree)
        names = [
            node.func.id
            for node in ast.walk(tree)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        ]
        fresh = [n for n in dict.fromkeys(names) if n not in own and not hasattr(builtins, n)]
        common = fresh if common is None else [n for n in common if n in fresh]
    return common or []
