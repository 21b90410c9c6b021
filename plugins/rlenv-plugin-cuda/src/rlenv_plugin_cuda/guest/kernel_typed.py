"""Kernels and device functions for the types of one launch: every operation rounds to its type, as
a device does.

Python computes in 64 bits.  A sum, product, quotient or square root of numbers of at most 24 bits
that is rounded to 53 bits first and then to its type is rounded correctly, so one rounding behind
each operation is exact. Functions of ``math`` are those of the C library in double precision,
rounded once to their type: they are nearly always the nearest number, where a GPU's may be off by a
few units in the last place. With ``contract``, ``a * b + c`` of one expression is rounded once, as
GPU compilers do by default.
"""

from __future__ import annotations

import ast
import copy
from functools import partial

import kernel_kinds as kinds
from kernel_constants import Folded, constant, kind_of
from kernel_kinds import BITS, FLOAT, Kind
from kernel_numbers import HELPERS
from kernel_rewrite import FILE, Rewriter, waiting
from kernel_typing import Typing
from kernel_words import Answer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import CodeType
    from typing import Any

__all__ = ["Code"]

_MASK = (1 << 64) - 1
_WHOLE = {
    ast.FloorDiv: "_floordiv", ast.Mod: "_mod", ast.Pow: "_pow", ast.LShift: "_shl",
    ast.RShift: "_shr",
}  # fmt: skip
_RING = (ast.Add, ast.Sub, ast.Mult, ast.BitAnd, ast.BitOr, ast.BitXor)
_FUSED = ("f2", "bf16", "f4", "f8")


class Code:
    """An answer: its constants, and its kernels for each combination of types that is
    launched.
    """

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.waits = waiting(answer)
        self.kinds: dict[str, Kind] = {}
        body: list[ast.stmt] = []
        for name, node in answer.constants.items():
            self.kinds[name] = kind = constant(answer, node, self.kinds)
            value = Rewriter(answer, self.waits).visit(copy.deepcopy(node))
            if kind.code in ("f2", "f4"):
                value = _call(f"_to_{kind.code}", value)
            body.append(ast.Assign([ast.Name(name, ast.Store())], value))
        self.base = _compiled(body)
        _compiled([copy.deepcopy(answer.functions["run"].node)])  # where Python accepts it at all
        self.values = {name: (kind, self.space()[name]) for name, kind in self.kinds.items()}
        self.made: dict[tuple[Any, ...], tuple[str, Kind, CodeType]] = {}
        self.fusible = False  # whether a sum of a product was seen

    def space(self) -> dict[str, Any]:
        """A fresh namespace, in which the constants are."""
        space: dict[str, Any] = {"__builtins__": {}, **HELPERS}
        exec(self.base, space)  # noqa: S102 - only what the rules let through
        return space

    def kernels(
        self, space: dict[str, object], *, contract: bool
    ) -> Callable[[str, Sequence[Any]], Any]:
        """(name, arguments) -> the code of a kernel for arguments of these types, in a namespace.

        Raises:
            Broken: numba would find no types.
        """

        def kernel(name: str, given: Sequence[object]) -> Any:
            symbol, _ = self.special(name, tuple(map(kind_of, given)), contract=contract)
            for made, _, code in self.made.values():
                if made not in space:
                    exec(code, space)  # noqa: S102 - as above
            return space[symbol]

        return kernel

    def special(self, name: str, given: tuple[Kind, ...], *, contract: bool) -> tuple[str, Kind]:
        """(symbol, type of its value) of a function for arguments of these types."""
        key = (name, given, contract)
        if key not in self.made:
            function = self.answer.functions[name]
            node = Folded().visit(copy.deepcopy(function.node))
            scope = dict(zip(function.parameters, given))
            callee = partial(self.special, contract=contract)
            kind = Typing(self.answer, self.values, callee).function(node, scope)
            symbol = f"_{len(self.made)}_{name}"
            rewriter = _Typed(self.answer, self.waits, node, "_c")
            rewriter.contract = contract
            self.made[key] = (symbol, kind, _compiled([rewriter.definition(symbol)]))
            self.fusible = self.fusible or rewriter.fusible
        return self.made[key][:2]


def _compiled(body: list[ast.stmt]) -> CodeType:
    return compile(ast.fix_missing_locations(ast.Module(body, [])), FILE, "exec")


class _Typed(Rewriter, ast.NodeTransformer):  # type: ignore[misc] # a neighbor in the sandbox
    """The rewriter of a function whose expressions have a type, ``numeric``."""

    contract = False
    fusible = False

    # -- where definitions meet

    def visit_If(self, node: ast.If) -> ast.stmt:
        self.generic_visit(node)
        then, other = node.casts  # type: ignore[attr-defined]
        node.body += _floats(then)
        node.orelse += _floats(other)
        return node

    def visit_For(self, node: ast.For) -> list[ast.stmt]:
        return self._loop(node)

    def visit_While(self, node: ast.While) -> list[ast.stmt]:
        return self._loop(node)

    def _loop(self, node: ast.For | ast.While) -> list[ast.stmt]:
        self.generic_visit(node)
        before, again, behind = node.casts  # type: ignore[union-attr]
        node.body += _floats(again)
        node.orelse = _floats(behind)
        return [*_floats(before), node]

    def visit_Break(self, node: ast.Break) -> list[ast.stmt]:
        return [*_floats(node.casts), node]  # type: ignore[attr-defined]

    def visit_Continue(self, node: ast.Continue) -> list[ast.stmt]:
        return [*_floats(node.casts), node]  # type: ignore[attr-defined]

    def visit_Return(self, node: ast.Return) -> ast.stmt:
        if node.value is not None:
            node.value = self._cast(node.value, node.to)  # type: ignore[attr-defined]
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        kind = _kind(node)
        made = ast.IfExp(
            self.visit(node.test), self._cast(node.body, kind), self._cast(node.orelse, kind)
        )
        return ast.copy_location(made, node)

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        kind = _kind(node)
        node.values = [self._cast(value, kind) for value in node.values]
        return node

    def _cast(self, node: ast.expr, to: Kind) -> ast.expr:
        """An operand, rewritten; an integer that becomes a float is made one."""
        kind = _kind(node)
        made: ast.expr = self.visit(node)
        if kind.whole and not to.whole and to.code[0] in "fbc":
            if isinstance(made, ast.Constant) and isinstance(made.value, int):
                return ast.copy_location(ast.Constant(float(made.value)), node)
            return ast.copy_location(_call("_float", made), node)
        if kind.bits > BITS["i8"] and to.code == "i8":
            return _call("_to_i8", made)
        return made

    # -- arithmetic

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        bare = getattr(node, "bare", False)
        return self.arithmetic(node, node.left, node.op, node.right, bare=bare)

    def arithmetic(
        self, at: ast.AST, left: ast.expr, op: ast.operator, right: ast.expr, *, bare: bool = False
    ) -> ast.expr:
        """An operation on two operands that are not rewritten yet.

        ``bare``: what takes it rounds it.
        """
        a = _kind(left)
        b = _kind(right)
        kind = kinds.binary(type(op), a, b)
        if a.whole and b.whole:
            made = self._integers(left, op, right, kind)
        elif isinstance(op, ast.Pow) and b.whole and kind.code[0] != "c":
            made = _call("_powi", self.visit(left), self.visit(right), _to(kind))
        else:
            made = self._reals(left, op, right, kind, bare=bare)
        return ast.copy_location(made, at)

    def _reals(
        self, left: ast.expr, op: ast.operator, right: ast.expr, kind: Kind, *, bare: bool
    ) -> ast.expr:
        if isinstance(op, (ast.Add, ast.Sub)) and kind.code in _FUSED:
            for factor, other in ((left, right), (right, left)):
                if not _product(factor, kind):
                    continue
                self.fusible = True
                if self.contract:
                    return self._fused(factor, op, other, kind, first=factor is left)
        first = self._cast(left, kind)
        second = self._cast(right, kind)
        if isinstance(op, (ast.FloorDiv, ast.Mod)):
            return _call(
                "_fdiv" if isinstance(op, ast.FloorDiv) else "_fmod", first, second, _to(kind)
            )
        if isinstance(op, (ast.Div, ast.Pow)):
            made: ast.expr = _call("_div" if isinstance(op, ast.Div) else "_pow", first, second)
        else:
            made = ast.BinOp(first, op, second)
        return made if bare else _rounded(made, kind)

    def _fused(
        self, product: ast.expr, op: ast.operator, other: ast.expr, kind: Kind, *, first: bool
    ) -> ast.expr:
        assert isinstance(product, ast.BinOp)
        a, b, c = (self._cast(part, kind) for part in (product.left, product.right, other))
        if isinstance(op, ast.Sub):
            a, c = (a, _minus(c)) if first else (_minus(a), c)
        return _call("_fma", a, b, c, _to(kind))

    def _integers(self, left: ast.expr, op: ast.operator, right: ast.expr, kind: Kind) -> ast.expr:
        a = _kind(left)
        b = _kind(right)
        if isinstance(op, ast.Div):
            return _call("_div", self._cast(left, FLOAT), self._cast(right, FLOAT))
        name = _WHOLE.get(type(op), "")
        if name:
            made: ast.expr = _call(name, self._cast(left, kind), self._cast(right, kind))
            bits = BITS["u8"] if kind.code == "u8" else 0
        else:
            made = ast.BinOp(self.visit(left), op, self.visit(right))
            bits = kinds.grown(type(op), a.bits, b.bits)
            bits += 99 * (kind.code == "u8" and isinstance(op, ast.Sub))
        return _wrapped(made, kind, bits, always=bool(name))

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        of = _kind(node.operand)
        kind = _kind(node)
        operand = self.visit(node.operand)
        op = ast.Not() if kind.code == "b1" else node.op
        made: ast.expr = ast.copy_location(ast.UnaryOp(op, operand), node)
        if not of.whole or kind.code == "b1":
            return made
        if of.code[0] == "u":  # it is negated in its own width, and widened then
            made = ast.BinOp(made, ast.BitAnd(), ast.Constant((1 << BITS[of.code]) - 1))
        elif isinstance(op, ast.USub) and of.bits >= BITS[of.code] and of.code != "b1":
            made = _call(f"_to_{of.code}", made)
        return ast.copy_location(made, node)

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        parts = [_kind(part) for part in (node.left, *node.comparators)]
        large = any(kind.bits > 53 for kind in parts)
        mixed = not all(kind.whole for kind in parts)
        signs = {kind.code[0] for kind in parts if kind.whole}
        apart = any(kind.bits > BITS["i8"] for kind in parts) and len(signs) > 1
        if large and (mixed or apart) and not any(kind.code[0] == "c" for kind in parts):
            node.left = self._cast(node.left, FLOAT)
            node.comparators = [self._cast(part, FLOAT) for part in node.comparators]
            return node
        self.generic_visit(node)
        return node

    # -- stores

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        (target, *more) = node.targets
        kind = _kind(node.value)
        if isinstance(target, ast.Subscript) and not more:
            if kind.code == _kind(target).code:
                node.value.bare = True  # type: ignore[attr-defined]
            elif kind.bits > 53 and _kind(target).code == "f4":
                node.value = _call("_type_float32", self.visit(node.value))
                node.targets = [self.visit(target)]
                return node
        self.generic_visit(node)
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        kind = _kind(node)
        target = node.target
        if isinstance(target, ast.Name):
            left: ast.expr = ast.copy_location(ast.Name(target.id, ast.Load()), target)
            left.numeric = _kind(target)  # type: ignore[attr-defined]
            value = self.arithmetic(node, left, node.op, node.value)
            return ast.copy_location(ast.Assign([target], value), node)
        assert isinstance(target, ast.Subscript)
        element = _kind(target)
        stored = kind.whole or kind.code in (element.code, "f8", "c16")
        product = isinstance(node.op, (ast.Add, ast.Sub)) and _product(node.value, kind)
        self.fusible = self.fusible or (product and kind.code in _FUSED)
        fused = self.contract and product
        if isinstance(node.op, _RING) and stored and not fused:
            value = self._cast(node.value, kind)
            return ast.copy_location(ast.AugAssign(self.visit(target), node.op, value), node)
        # array[index] op= value: `_at` keeps the index from being worked out twice
        flat = self.visit(target)
        keep = ast.NamedExpr(ast.Name("_at", ast.Store()), flat.slice)
        left = _Ready(ast.Subscript(flat.value, keep, ast.Load()), element)
        result = self.arithmetic(node, left, node.op, node.value)
        made = ast.Subscript(flat.value, ast.Name("_at", ast.Load()), ast.Store())
        return ast.copy_location(ast.Assign([made], result), node)

    # -- calls

    def visit_Call(self, node: ast.Call) -> ast.expr:
        kind = _kind(node)
        args = node.args
        full = self.answer.dotted(node.func)
        module, _, name = full.partition(".")
        if not full and isinstance(node.func, ast.Name):
            name = node.func.id
            if name == "pow":
                return self.arithmetic(node, args[0], ast.Pow(), args[1])
            if name in ("max", "min"):
                node.args = [_Ready(self._cast(argument, kind), kind) for argument in args]
            if name in ("abs", "round") and (name == "abs" or not kind.whole):
                return ast.copy_location(_rounded(super().visit_Call(node), kind), node)
        elif full == "cuda.fma":
            return ast.copy_location(
                _call("_fma", *(self._cast(part, kind) for part in args), _to(kind)), node
            )
        elif module == "math" or name in ("cbrt", "rsqrt"):
            return ast.copy_location(_rounded(super().visit_Call(node), kind), node)
        elif name == "selp":
            node.args = [args[0], *(_Ready(self._cast(part, kind), kind) for part in args[1:])]
        elif module in ("numba", "numpy") and args and _kind(args[0]) == kind and not kind.whole:
            return self._cast(args[0], kind)
        made: ast.expr = super().visit_Call(node)
        return made

    def visit__Ready(self, node: _Ready) -> ast.expr:
        return node.made


class _Ready(ast.expr):
    """An operand that is rewritten already, with its type."""

    def __init__(self, made: ast.expr, kind: Kind) -> None:
        super().__init__()
        self.made = made
        self.numeric = kind


def _call(name: str, *arguments: ast.expr) -> ast.expr:
    return ast.Call(ast.Name(name, ast.Load()), list(arguments), [])


def _kind(node: ast.AST) -> Kind:
    return node.numeric  # type: ignore[attr-defined]


def _product(node: ast.expr, kind: Kind) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult) and _kind(node) == kind


def _minus(node: ast.expr) -> ast.expr:
    return ast.UnaryOp(ast.USub(), node)


def _to(kind: Kind) -> ast.expr:
    return ast.Name(f"_to_{kind.code}", ast.Load())


def _rounded(made: ast.expr, kind: Kind) -> ast.expr:
    if kind.code in ("f8", "c16") or (kind.whole and kind.code[0] != "i"):
        return made
    return ast.Call(_to(kind), [made], [])


def _wrapped(made: ast.expr, kind: Kind, bits: int, *, always: bool = False) -> ast.expr:
    """An integer of so many bits as its type keeps it.

    What ``always`` is of 64 signed bits already.
    """
    if kind.code == "u8":
        return ast.BinOp(made, ast.BitAnd(), ast.Constant(_MASK)) if bits > 63 else made
    return _call("_to_i8", made) if bits > BITS["i8"] and not always else made


def _floats(names: list[str]) -> list[ast.stmt]:
    return [
        ast.Assign([ast.Name(name, ast.Store())], _call("_float", ast.Name(name, ast.Load())))
        for name in names
    ]
