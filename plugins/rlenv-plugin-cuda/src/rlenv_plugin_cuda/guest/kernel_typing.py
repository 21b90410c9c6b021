"""Types of the expressions of one function, for one combination of argument types, as numba infers
them.

Variables are typed by flow, as numba's single-assignment form does: each definition has the type of
its value, and where definitions meet (after an ``if``, at the head and the end of a loop) the
variable has the type that holds them all.  Expressions get their type as the attribute ``numeric``.
Statements after which an integer becomes a float, since definitions meet there, get ``casts``:
names of variables.
"""

from __future__ import annotations

import ast
import operator

import kernel_kinds as kinds
from kernel_constants import literal
from kernel_kinds import BOOL, FLOAT, INDEX, INT, NONE, NOTHING, Kind
from kernel_memory import Broken
from kernel_words import BARRIERS, CALLS, DTYPES, FACTS, INDICES, NUMBERS, WARP, Answer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Scope = dict[str, Kind]

__all__ = ["Typing"]

_COMPARE = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le,
    ast.Gt: operator.gt, ast.GtE: operator.ge,
}  # fmt: skip
_BITS32 = Kind("i4", 32)


class _Loop:
    """The states in which a loop is left, and in which it goes on."""

    def __init__(self) -> None:
        self.breaks: list[tuple[ast.stmt, Scope]] = []
        self.continues: list[tuple[ast.stmt, Scope]] = []


class Typing:
    """One function with arguments of these types.

    Args:
        answer: whose function it is.
        constants: the answer's, with their types and values.
        callee: (name, types of arguments) -> (symbol, type of its value) of a device function.
    """

    def __init__(
        self,
        answer: Answer,
        constants: dict[str, tuple[Kind, object]],
        callee: Callable[[str, tuple[Kind, ...]], tuple[str, Kind]],
    ) -> None:
        self.answer = answer
        self.constants = constants
        self.callee = callee
        self.loops: list[_Loop] = []
        self.heads: dict[ast.stmt, Scope] = {}
        self.returned: list[tuple[ast.Return, Kind]] = []

    def function(self, node: ast.FunctionDef, given: Scope) -> Kind:
        """Type a body, in place; the type of what it returns."""
        self.block(node.body, given)
        found = [kind for _, kind in self.returned]
        kind = found[0] if found else NONE
        for other in found[1:]:
            kind = kinds.unified(kind, other)
        for at, _ in self.returned:
            if at.value is not None:
                _mark(at, to=kind)
        return kind

    # -- statements

    def block(self, body: list[ast.stmt], scope: Scope | None) -> Scope | None:
        """The scope behind a block, None where nothing goes on there.

        What is never reached is taken out.
        """
        for place, node in enumerate(body):
            if scope is None:
                del body[place:]
                break
            scope = self.statement(node, scope)
        return scope

    def statement(self, node: ast.stmt, scope: Scope) -> Scope | None:
        if isinstance(node, ast.Assign):
            kind = self.expression(node.value, scope)
            for target in node.targets:
                self.assigned(target, kind, scope)
        elif isinstance(node, ast.AugAssign):
            left = self.expression(node.target, scope)
            made = kinds.binary(type(node.op), left, self.expression(node.value, scope))
            _mark(node, numeric=made)
            if isinstance(node.target, ast.Name):
                scope[node.target.id] = made
        elif isinstance(node, ast.If):
            return self.condition(node, scope)
        elif isinstance(node, (ast.For, ast.While)):
            return self.loop(node, scope)
        elif isinstance(node, ast.Expr):
            self.expression(node.value, scope)
        elif isinstance(node, ast.Return):
            kind = self.expression(node.value, scope) if node.value is not None else NONE
            self.returned = [each for each in self.returned if each[0] is not node]
            self.returned.append((node, kind))
            return None
        elif isinstance(node, (ast.Break, ast.Continue)):
            loop = self.loops[-1]
            (loop.breaks if isinstance(node, ast.Break) else loop.continues).append((node, scope))
            return None
        return scope

    def assigned(self, target: ast.expr, kind: Kind, scope: Scope) -> None:
        if isinstance(target, ast.Name):
            scope[target.id] = kind
        elif isinstance(target, ast.Tuple):
            if len(kind.parts) != len(target.elts):
                raise _wrong(target, "this many names are not given as many values")
            for part, each in zip(target.elts, kind.parts):
                self.assigned(part, each, scope)
        else:
            self.expression(target, scope)

    def condition(self, node: ast.If, scope: Scope) -> Scope | None:
        self.expression(node.test, scope)
        known = self.certain(node.test)
        if known is not None:  # numba compiles the branch that is taken and no other
            nothing: list[ast.stmt] = [ast.Pass()]
            node.body, node.orelse = (node.body, []) if known else (nothing, node.orelse)
        then = self.block(node.body, dict(scope)) if known is not False else None
        other = self.block(node.orelse, dict(scope)) if known is not True else None
        joined: Scope | None = kinds.joined(then, other)
        _mark(node, casts=(kinds.casts(then, joined), kinds.casts(other, joined)))
        return joined

    def certain(self, node: ast.expr) -> bool | None:
        """What a condition of constants is; None where it is not of constants."""
        value = self._value(node)
        return None if value is None else bool(value)

    def _value(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name) and node.id in self.constants:
            kind, value = self.constants[node.id]
            return value if kind.code not in ("tuple", "dtype") else None
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            value = self._value(node.operand)
            return None if value is None else not value
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            left = self._value(node.left)
            right = self._value(node.comparators[0])
            compare = _COMPARE[type(node.ops[0])]
            return None if left is None or right is None else compare(left, right)
        return None

    def loop(self, node: ast.For | ast.While, scope: Scope) -> Scope | None:
        target = INT
        if isinstance(node, ast.For):
            assert isinstance(node.iter, ast.Call)
            given = [self.expression(argument, scope) for argument in node.iter.args]
            narrow = all(kinds.unified(kind, kinds.number("i4")).code == "i4" for kind in given)
            target = Kind("i4" if narrow else "i8", max(kind.bits for kind in given))
            _mark(node.iter, numeric=target)
        head = kinds.joined(scope, self.heads.get(node)) or scope
        for turn in range(16):
            loop = _Loop()
            inside = dict(head)
            if isinstance(node, ast.For):
                assert isinstance(node.target, ast.Name)
                inside[node.target.id] = target
                forever = False
            else:
                self.expression(node.test, inside)
                forever = self.certain(node.test) is True
            self.loops.append(loop)
            end = self.block(node.body, inside)
            self.loops.pop()
            found = kinds.joined(head, end, *(each for _, each in loop.continues)) or head
            if found == head:
                break
            head = kinds.widened(found, head) if turn else found
        self.heads[node] = head
        left = [each for _, each in loop.breaks]
        after: Scope | None = kinds.joined(*left) if forever else kinds.joined(head, *left)
        _mark(
            node, casts=(kinds.casts(scope, head), kinds.casts(end, head), kinds.casts(head, after))
        )
        for at, each in loop.continues:
            _mark(at, casts=kinds.casts(each, head))
        for at, each in loop.breaks:
            _mark(at, casts=kinds.casts(each, after))
        return after

    # -- expressions

    def expression(self, node: ast.expr, scope: Scope) -> Kind:
        """The type of an expression; it and its parts are marked with theirs."""
        visit = getattr(self, f"_{type(node).__name__.lower()}")
        kind: Kind = visit(node, scope)
        _mark(node, numeric=kind)
        return kind

    def _number(self, node: ast.expr, scope: Scope) -> Kind:
        kind = self.expression(node, scope)
        if kind.ndim or kind.code in ("tuple", "none", "dtype", "?"):
            raise _wrong(node, "numba computes with numbers only, and this is none")
        return kind

    def _constant(self, node: ast.Constant, _: Scope) -> Kind:
        if isinstance(node.value, int) and not -(1 << 63) <= node.value < 1 << 64:
            raise _wrong(node, "an integer of more than 64 bits")
        return literal(node.value)

    def _name(self, node: ast.Name, scope: Scope) -> Kind:
        if node.id in scope:
            if scope[node.id] == NOTHING:
                raise _wrong(node, f"`{node.id}` is of two types that numba cannot unify")
            return scope[node.id]
        if node.id in self.constants:
            return self.constants[node.id][0]
        full = self.answer.modules.get(node.id, "")
        if not full:
            raise _wrong(node, f"`{node.id}` is not defined before this line")
        return self._known(full)

    def _known(self, full: str) -> Kind:
        module, _, name = full.partition(".")
        last = name.rpartition(".")[2]
        if module == "math" or name in NUMBERS:
            return FLOAT
        if last in DTYPES:
            return Kind("dtype", 0, 0, (kinds.number(DTYPES[last]),))
        return kinds.number("i4") if name in INDICES or name in FACTS else NONE

    def _attribute(self, node: ast.Attribute, scope: Scope) -> Kind:
        full = self.answer.dotted(node)
        if full:
            return self._known(full)
        of = self.expression(node.value, scope)
        return Kind("tuple", 0, 0, (INDEX,) * of.ndim) if node.attr == "shape" else INDEX

    def _tuple(self, node: ast.Tuple, scope: Scope) -> Kind:
        return Kind("tuple", 0, 0, tuple(self.expression(part, scope) for part in node.elts))

    def _subscript(self, node: ast.Subscript, scope: Scope) -> Kind:
        of = self.expression(node.value, scope)
        index = self.expression(node.slice, scope)
        if of.code == "tuple":
            value = self._value(node.slice)
            same = set(of.parts)
            if value.__class__ is int and -len(of.parts) <= value < len(of.parts):
                return of.parts[value]
            return same.pop() if len(same) == 1 else INDEX
        if not of.ndim:
            raise _wrong(node, "a number has no elements")
        count = len(index.parts) if index.code == "tuple" else 1
        return kinds.array(of.code, max(0, of.ndim - count))

    def _binop(self, node: ast.BinOp, scope: Scope) -> Kind:
        left = self._number(node.left, scope)
        right = self._number(node.right, scope)
        return kinds.binary(type(node.op), left, right)

    def _unaryop(self, node: ast.UnaryOp, scope: Scope) -> Kind:
        return kinds.unary(node.op, self._number(node.operand, scope))

    def _boolop(self, node: ast.BoolOp, scope: Scope) -> Kind:
        return self._one_of(node.values, scope)

    def _compare(self, node: ast.Compare, scope: Scope) -> Kind:
        for part in (node.left, *node.comparators):
            self._number(part, scope)
        return BOOL

    def _ifexp(self, node: ast.IfExp, scope: Scope) -> Kind:
        self.expression(node.test, scope)
        known = self.certain(node.test)
        kind = self._one_of([node.body, node.orelse], scope)
        return (
            kind if known is None else self.expression(node.body if known else node.orelse, scope)
        )

    def _one_of(self, parts: list[ast.expr], scope: Scope) -> Kind:
        found = [self.expression(part, scope) for part in parts]
        kind = found[0]
        for other in found[1:]:
            kind = kinds.unified(kind, other)
        return kind

    def _call(self, node: ast.Call, scope: Scope) -> Kind:
        given = [self.expression(argument, scope) for argument in node.args]
        for keyword in node.keywords:
            self.expression(keyword.value, scope)
        full = self.answer.dotted(node.func)
        module, _, name = full.partition(".")
        last = name.rpartition(".")[2]
        if not full and isinstance(node.func, ast.Name):
            if node.func.id in self.answer.functions:
                symbol, kind = self.callee(node.func.id, tuple(given))
                _mark(node, symbol=symbol)
                return kind
            return self._builtin(node, node.func.id, given)
        if module == "math":
            return kinds.called(name, given)
        if module in ("numba", "numpy") and last in DTYPES:
            return kinds.number(DTYPES[last])
        if name in BARRIERS or name in WARP:
            return given[1] if name.startswith("shfl") else _BITS32
        return self._of_cuda(node, name, given)

    def _builtin(self, node: ast.Call, name: str, given: list[Kind]) -> Kind:
        first = given[0] if given else INT
        if name in ("max", "min"):
            return self._unified(node, given)
        if name == "pow":
            return kinds.binary(ast.Pow, first, given[1])
        if name == "abs":
            return kinds.number({"c8": "f4", "c16": "f8"}.get(first.code, first.code))
        if name == "round" and len(given) > 1:
            return kinds.number(kinds.real(first.code, "f4"))
        if name == "float":
            return FLOAT if first.whole else first
        if name == "int":
            return first if first.whole and first != BOOL else INT
        if name == "complex":
            return kinds.number("c8" if {kind.code for kind in given} == {"f4"} else "c16")
        return {"bool": BOOL, "len": INDEX}.get(name, INT)

    @staticmethod
    def _unified(node: ast.Call, given: list[Kind]) -> Kind:
        kind = given[0] if given else INT
        for other in given[1:]:
            kind = kinds.unified(kind, other)
        if kind == NOTHING:
            raise _wrong(node, "numba has no one type for these")
        return kind

    def _of_cuda(self, node: ast.Call, name: str, given: list[Kind]) -> Kind:
        if name in ("grid", "gridsize"):
            count = self._value(node.args[0]) if node.args else 1
            return INDEX if count == 1 else Kind("tuple", 0, 0, (INDEX,) * (count or 1))
        if name in ("shared.array", "local.array"):
            named = {k.arg: k.value for k in node.keywords}
            shape, dtype = [*node.args, *(named[k] for k in ("shape", "dtype") if k in named)]
            extents, element = (getattr(part, "numeric", NOTHING) for part in (shape, dtype))
            if element.code != "dtype":
                raise _wrong(node, "an array of what is no type")
            return kinds.array(element.parts[0].code, len(extents.parts) or 1)
        if name.startswith("atomic."):
            return kinds.number(given[0].code)
        if name in ("fma", "cbrt", "rsqrt"):
            return kinds.number(kinds.real("f4", *(kind.code for kind in given)))
        if name == "selp":
            return self._unified(node, given[1:])
        return Kind("i8", 64) if name in CALLS else NONE


def _mark(node: ast.AST, **what: object) -> None:
    for name, value in what.items():
        setattr(node, name, value)


def _wrong(node: ast.expr, said: str) -> Broken:
    broken = Broken("type", said)
    broken.line = node.lineno
    return broken
