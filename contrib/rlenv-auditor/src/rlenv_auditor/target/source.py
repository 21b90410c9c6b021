"""The string literals of a function and of what it calls in its own module: what a verifier looks
for is written there.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

__all__ = ["words_of"]

# literals, and characters of one
MOST = 120
LONGEST = 200


def words_of(function: Any) -> Sequence[str]:
    """The literals, the function's own first; none where its source is not there."""
    function = inspect.unwrap(function) if callable(function) else function
    named = function if hasattr(function, "__qualname__") else type(function)
    with suppress(OSError, TypeError, SyntaxError, ValueError, RecursionError):
        path = getattr(function, "path", None) or inspect.getsourcefile(named)
        if path is not None:
            with open(path, encoding="utf-8") as file:
                body = ast.parse(file.read()).body
            name = str(named.__qualname__).partition(".")[0]
            return list(dict.fromkeys(_literals(dict(_named(body)), name)))[:MOST]
    return ()


def _named(body: Sequence[ast.stmt]) -> Iterator[tuple[str, ast.stmt]]:
    """(name, statement) of what a module defines."""
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name, node
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from ((one.id, node) for one in targets if isinstance(one, ast.Name))


def _literals(known: dict[str, ast.stmt], first: str) -> Iterator[str]:
    """Of a definition, and of those that it names, each once."""
    waiting = [first]
    done = set[str]()
    while waiting:
        name = waiting.pop(0)
        if name in done or name not in known:
            continue
        done.add(name)
        nodes = list(_walked(known[name]))
        yield from (
            node.value
            for node in nodes
            if isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and 1 < len(node.value) <= LONGEST
        )
        waiting += [node.id for node in nodes if isinstance(node, ast.Name)]


def _walked(statement: ast.stmt) -> Iterator[ast.AST]:
    """Everything in a statement but decorators, annotations and docstrings."""
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop(0)
        yield node
        for name, value in ast.iter_fields(node):
            children = value if isinstance(value, list) else [value]
            if name == "body" and children and _is_text(children[0]):
                children = children[1:]
            if name not in ("decorator_list", "annotation", "returns"):
                waiting += [child for child in children if isinstance(child, ast.AST)]


def _is_text(node: Any) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
