"""Assertions about one call on plain values, read: what is called, and what must hold of the
answer.

Most tests are lines of ``assert candidate(LITERALS) == LITERAL``.  Such an assertion is a call and
a predicate over its decoded value, and means here what it means in Python.  A text with anything
else in it is left to ``asserts``.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

from attrs import frozen

from rlenv_plugin_code.codec import Unencodable

from .function import call_text

__all__ = ["Check", "checks_of"]

Got: TypeAlias = Callable[[Any], Any]
MOST = 10_000  # assertions of one text


@frozen
class Check:
    """One assertion: a call (see ``call_text``) and what must hold of its value."""

    call: bytes
    holds: Got


class _Other(Exception):
    """More than a predicate over one call."""


@lru_cache(512)
def checks_of(text: str, entry_point: str) -> tuple[Check, ...] | None:
    """The assertions of a test's text in order; None where it is more than such assertions."""
    try:
        made = tuple(_checks(ast.parse(text), entry_point))
    except (
        _Other,
        Unencodable,
        SyntaxError,
        ValueError,
        ArithmeticError,
        TypeError,
        RecursionError,
    ):
        return None
    return made if 0 < len(made) <= MOST else None


def _checks(tree: ast.Module, entry_point: str) -> Iterator[Check]:
    body = tree.body
    names = {entry_point, "candidate"}
    found = [node for node in body if isinstance(node, ast.FunctionDef)]
    if found:
        body = _body_of_check(found, body)
    for node in body:
        if isinstance(node, ast.Assert):
            check = _check(node.test, names, entry_point)
            if check is not None:
                yield check
        elif not _idle(node):
            raise _Other


def _body_of_check(found: Sequence[ast.FunctionDef], body: Sequence[ast.stmt]) -> list[ast.stmt]:
    """The statements of the one function, ``def check(candidate)``."""
    check = found[0]
    plain = ast.dump(ast.parse("def check(candidate): pass").body[0].args)  # type: ignore[attr-defined]
    simple = check.name == "check" and ast.dump(check.args) == plain and not check.decorator_list
    others = [node for node in body if node is not check]
    if len(found) > 1 or not simple or not all(map(_idle, others)):
        raise _Other
    return check.body


def _idle(node: ast.stmt) -> bool:
    """Whether a statement does nothing that an assertion could see."""
    if isinstance(node, ast.Assign):
        target = node.targets[0]
        return isinstance(target, ast.Name) and target.id == "METADATA" and _is_literal(node.value)
    return isinstance(node, ast.Pass) or (isinstance(node, ast.Expr) and _is_literal(node.value))


def _is_literal(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, RecursionError):
        return False
    return True


def _check(test: ast.expr, names: set[str], entry_point: str) -> Check | None:
    reader = _Reader(names, entry_point)
    holds = reader.read(test)
    if reader.call is not None:
        return Check(reader.call, holds)
    if not holds(None):
        raise _Other  # it always fails: let the test itself say so
    return None


_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}
_BOUNDED = (ast.Add, ast.Sub)  # what they make of an answer is no larger than it
_UNARY: dict[type[ast.unaryop], Got] = {
    ast.Not: operator.not_,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}
_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda item, items: item in items,
    ast.NotIn: lambda item, items: item not in items,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
}
_CALLED: dict[str, Callable[..., Any]] = {"abs": abs, "round": round, "len": len}
_POWER = 64


class _Reader:
    """Reads one assertion; ``call`` is the one call in it."""

    def __init__(self, names: set[str], entry_point: str) -> None:
        self.call: bytes | None = None
        self._names = names
        self._entry_point = entry_point

    def read(self, node: ast.expr) -> Got:
        """The value of a node, given the value of the call.

        Raises:
            _Other: it is none that is known here.
        """
        reader = getattr(self, f"_{type(node).__name__.lower()}", None)
        if reader is None:
            raise _Other
        made: Got = reader(node)
        return made

    def _all(self, nodes: Sequence[ast.expr]) -> list[Got]:
        return [self.read(node) for node in nodes]

    def _fixed(self, node: ast.expr) -> Any:
        """The value of a node without the call."""
        before = self.call
        value = self.read(node)
        if self.call is not before:
            raise _Other
        return value(None)

    def _constant(self, node: ast.Constant) -> Got:
        value = node.value
        if value is Ellipsis:
            raise _Other
        return lambda _: value

    def _list(self, node: ast.List) -> Got:
        parts = self._all(node.elts)
        return lambda got: [part(got) for part in parts]

    def _tuple(self, node: ast.Tuple) -> Got:
        parts = self._all(node.elts)
        return lambda got: tuple([part(got) for part in parts])

    def _set(self, node: ast.Set) -> Got:
        parts = self._all(node.elts)
        return lambda got: {part(got) for part in parts}

    def _dict(self, node: ast.Dict) -> Got:
        keys = self._all([_present(key) for key in node.keys])
        values = self._all(node.values)
        return lambda got: {k(got): v(got) for k, v in zip(keys, values, strict=True)}

    def _unaryop(self, node: ast.UnaryOp) -> Got:
        deed = _UNARY.get(type(node.op))
        if deed is None:
            raise _Other
        part = self.read(node.operand)
        return lambda got: deed(part(got))

    def _binop(self, node: ast.BinOp) -> Got:
        deed = _BINARY.get(type(node.op))
        if deed is None:
            raise _Other
        if isinstance(node.op, _BOUNDED):
            left, right = self._all([node.left, node.right])
            return lambda got: deed(left(got), right(got))
        one = self._fixed(node.left)
        other = self._fixed(node.right)
        if isinstance(node.op, ast.Pow) and not (type(other) is int and abs(other) <= _POWER):
            raise _Other
        value = deed(one, other)
        return lambda _: value

    def _boolop(self, node: ast.BoolOp) -> Got:
        parts = self._all(node.values)
        every = isinstance(node.op, ast.And)

        def decide(got: Any) -> Any:
            value: Any = every
            for part in parts:
                value = part(got)
                if bool(value) is not every:
                    return value
            return value

        return decide

    def _compare(self, node: ast.Compare) -> Got:
        first, *others = self._all([node.left, *node.comparators])
        for deed, right in zip(node.ops, node.comparators, strict=True):
            if isinstance(deed, (ast.Is, ast.IsNot)) and not _single(right):
                raise _Other
        deeds = [_COMPARE[type(deed)] for deed in node.ops]

        def decide(got: Any) -> bool:
            left = first(got)
            for deed, other in zip(deeds, others, strict=True):
                right = other(got)
                if not deed(left, right):
                    return False
                left = right
            return True

        return decide

    def _call(self, node: ast.Call) -> Got:
        if not isinstance(node.func, ast.Name):
            raise _Other
        name = node.func.id
        if name in self._names:
            return self._candidate(node)
        deed = _CALLED.get(name)
        if deed is None or node.keywords or name in self._names:
            raise _Other
        parts = self._all(node.args)
        return lambda got: deed(*[part(got) for part in parts])

    def _candidate(self, node: ast.Call) -> Got:
        if self.call is not None:
            raise _Other
        kwargs = {_present(word.arg): self._fixed(word.value) for word in node.keywords}
        args = [self._fixed(arg) for arg in node.args]
        self.call = call_text(self._entry_point, args, kwargs)
        return lambda got: got


def _present(part: Any) -> Any:
    if part is None:  # ** in a call or a dict
        raise _Other
    return part


def _single(node: ast.expr) -> bool:
    """Whether a node is None, True or False, of which there is one each."""
    return isinstance(node, ast.Constant) and (node.value is None or type(node.value) is bool)
