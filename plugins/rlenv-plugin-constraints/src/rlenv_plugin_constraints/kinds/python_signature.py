"""The signature of a function in a Python program."""

from __future__ import annotations

import ast
from typing import Any, ClassVar, TypeAlias

from attrs import field, frozen
from rlenv import ConfigError
from rlenv.authoring import Safe

from rlenv_plugin_constraints.constraint import Finding
from rlenv_plugin_constraints.lazy import lazy
from rlenv_plugin_constraints.programs import Source, parsed, refused
from rlenv_plugin_constraints.text import Text
from rlenv_plugin_constraints.unmet import unmet

__all__ = ["Signature"]

_Function: TypeAlias = "ast.FunctionDef | ast.AsyncFunctionDef"


def _read(signature: str) -> _Function:
    bare = signature.strip().removesuffix("...").rstrip().removesuffix(":")
    try:
        body = ast.parse(f"{bare}: ...").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        body = []
    if len(body) != 1 or not isinstance(body[0], (ast.FunctionDef, ast.AsyncFunctionDef)):
        raise ConfigError(
            f'a signature is written as "def name(a: int, b=1) -> str", not {signature!r:.80}'
        )
    return body[0]


def _sound(_: Any, __: Any, value: str) -> None:
    _read(value)


@frozen(slots=False)
class Signature:
    """The program defines this function.

    Compared are names, order and kinds of its parameters, and its defaults.

    Annotations count where the signature has them, as they are written; those that the program adds
    do no harm.  The last definition counts, as in Python, and none that the program replaces
    afterward.

    Args:
        signature: ``def name(a: int, *, key: str = "x") -> bool``; ``async def`` wants a coroutine
            function.
        within: the class that holds it; "" is the module.
        body: whether the function must do something (more than ``pass``, ``…`` or a docstring).
    """

    kind: ClassVar[str] = "python_signature"
    is_answer: ClassVar[bool] = True
    signature: Safe[str] = field(validator=_sound)
    within: Safe[str] = ""
    body: bool = True

    @lazy
    def _wanted(self) -> _Function:
        return _read(self.signature)

    def check(self, text: Text) -> Finding:
        source = parsed(text)
        if source.tree is None:
            return refused(source, self.signature)
        scope = self._scope(source)
        found = _last(scope, self._wanted.name)
        if found is None:
            defined = [
                n.name for n in scope if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))
            ]
            return unmet(defined[:20], self.signature, note=f"no {self._wanted.name} is defined")
        if not isinstance(found, (ast.FunctionDef, ast.AsyncFunctionDef)):
            note = f"{self._wanted.name} becomes something else"
            return unmet(None, self.signature, source.spans([found.lineno]), note)
        note = _difference(self._wanted, found)
        if not note and self.body and _is_empty(found):
            note = f"{found.name} does nothing"
        return Finding(
            not note, _written(found), self.signature, source.spans([found.lineno]), note
        )

    def _scope(self, source: Source) -> list[ast.stmt]:
        assert source.tree is not None
        if not self.within:
            return source.tree.body
        holders = [
            n for n in source.tree.body if isinstance(n, ast.ClassDef) and n.name == self.within
        ]
        return holders[-1].body if holders else []


def _last(body: list[ast.stmt], name: str) -> ast.stmt | None:
    """The last statement that binds the name, at the top of the scope or in a branch of it."""
    last: ast.stmt | None = None
    for statement in body:
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            last = statement if statement.name == name else last
        elif _binds(statement, name):
            last = statement
    return last


def _binds(statement: ast.stmt, name: str) -> bool:
    stack: list[ast.AST] = [statement]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load):
            return True
        if isinstance(node, ast.alias) and (node.asname or node.name.partition(".")[0]) == name:
            return True
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            if node.name == name:
                return True
            stack += node.decorator_list
        elif not isinstance(node, ast.Lambda):
            stack += ast.iter_child_nodes(node)
    return False


def _parameters(node: _Function) -> list[tuple[str, ast.arg, ast.expr | None]]:
    """(kind, parameter, default) in order."""
    a = node.args
    positional = [*a.posonlyargs, *a.args]
    defaults: list[ast.expr | None] = [None] * (len(positional) - len(a.defaults))
    kinds = ["positional"] * len(a.posonlyargs) + ["plain"] * len(a.args)
    found = list(zip(kinds, positional, [*defaults, *a.defaults], strict=True))
    found += [("*", a.vararg, None)] if a.vararg else []
    found += [("keyword", k, d) for k, d in zip(a.kwonlyargs, a.kw_defaults, strict=True)]
    return found + ([("**", a.kwarg, None)] if a.kwarg else [])


def _difference(wanted: _Function, found: _Function) -> str:
    """The first difference in words, "" where there is none."""
    if type(wanted) is not type(found):
        return (
            f"{found.name} is {'a plain' if isinstance(found, ast.FunctionDef) else 'an async'}"
            " function"
        )
    ours = _parameters(wanted)
    theirs = _parameters(found)
    if [(k, p.arg) for k, p, _ in ours] != [(k, p.arg) for k, p, _ in theirs]:
        return "other parameters"
    for (_, mine, default), (_, other, given) in zip(ours, theirs, strict=True):
        if mine.annotation is not None and not _same(mine.annotation, other.annotation):
            return f"another annotation of {mine.arg}"
        if not _same(default, given):
            return f"another default of {mine.arg}"
    if wanted.returns is not None and not _same(wanted.returns, found.returns):
        return "another annotation of what it returns"
    return ""


def _same(one: ast.expr | None, other: ast.expr | None) -> bool:
    if one is None or other is None:
        return one is other
    return ast.unparse(one) == ast.unparse(other)


def _written(node: _Function) -> str:
    returns = f" -> {ast.unparse(node.returns)}" if node.returns is not None else ""
    before = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    return f"{before} {node.name}({ast.unparse(node.args)}){returns}"[:300]


def _is_empty(node: _Function) -> bool:
    return all(
        isinstance(s, ast.Pass) or (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))
        for s in node.body
    )
