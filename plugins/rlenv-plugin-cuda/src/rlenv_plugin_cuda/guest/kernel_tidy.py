"""What people write around kernels and means nothing to them: taken off before a program is held
against the rules.

A block for ``__main__``, ``__all__``, texts, annotations, the message of an assertion and what
``run`` returns are dropped; a private name loses its underscore; a helper of one expression, as
``cdiv``, is written out where ``run`` calls it.
"""

from __future__ import annotations

import ast
import copy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

__all__ = ["Untidy", "tidied", "trimmed"]

NODES = 4000  # of all helpers that are written out
_TYPES = (
    ast.Name, ast.Attribute, ast.Constant, ast.Subscript, ast.Tuple, ast.List, ast.Slice, ast.BinOp,
    ast.BitOr, ast.UnaryOp, ast.USub, ast.expr_context,
)  # fmt: skip


class Untidy(Exception):
    """It cannot be taken off.  ``line`` counts from 1 within the program."""

    def __init__(self, line: int, said: str) -> None:
        self.line = line
        self.said = said
        super().__init__(f"line {line}: {said}")


def tidied(tree: ast.Module) -> ast.Module:
    """The same program; its tree is changed in place.

    Raises:
        Untidy: an annotation that could do something, or a helper without end.
    """
    tree.body = [node for node in tree.body if not _main(node)]
    _Plain(_private(tree)).visit(tree)
    return trimmed(tree)


def trimmed(tree: ast.Module) -> ast.Module:
    """The same program, with its names and annotations as they are; its tree is changed in place.

    Raises:
        Untidy: a helper without end.
    """
    tree.body = [node for node in tree.body if not (_main(node) or _exports(node) or _text(node))]
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    helpers = {node.name: node for node in functions if _helper(node)}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == "run" and not node.decorator_list:
            _Plan(helpers).visit(node)
    tree.body = [node for node in tree.body if not _helper(node)]
    return ast.fix_missing_locations(tree)


def _main(node: ast.stmt) -> bool:
    """``if __name__ == "__main__":``, which is false wherever answers run."""
    test = node.test if isinstance(node, ast.If) and not node.orelse else None
    return (
        isinstance(test, ast.Compare)
        and isinstance(test.left, ast.Name)
        and test.left.id == "__name__"
        and [type(op) for op in test.ops] == [ast.Eq]
        and isinstance(test.comparators[0], ast.Constant)
        and test.comparators[0].value == "__main__"
    )


def _exports(node: ast.stmt) -> bool:
    """``__all__ = ["run"]``."""
    return (
        isinstance(node, ast.Assign)
        and [t.id for t in node.targets if isinstance(t, ast.Name)] == ["__all__"]
        and isinstance(node.value, (ast.List, ast.Tuple))
        and all(isinstance(each, ast.Constant) for each in node.value.elts)
    )


def _helper(node: ast.stmt) -> Any:
    """Whether this is a plain function of one expression."""
    if not isinstance(node, ast.FunctionDef) or node.decorator_list or node.name == "run":
        return False
    body = node.body[1:] if _text(node.body[0]) else node.body
    args = node.args
    more = args.vararg or args.kwarg or args.kwonlyargs or args.posonlyargs or args.defaults
    return len(body) == 1 and isinstance(body[0], ast.Return) and body[0].value and not more


def _text(node: ast.stmt) -> bool:
    value = node.value if isinstance(node, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def _identifiers(tree: ast.Module) -> Iterator[tuple[str, bool]]:
    """Every name of a program, and whether it is given there."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id, isinstance(node.ctx, ast.Store)
        elif isinstance(node, ast.arg):
            yield node.arg, True
        elif isinstance(node, ast.FunctionDef):
            yield node.name, True
        elif isinstance(node, ast.alias):
            yield node.asname or node.name, bool(node.asname)


def _private(tree: ast.Module) -> dict[str, str]:
    """``_name`` → a name without its underscore that nothing else has."""
    found = list(_identifiers(tree))
    taken = {name for name, _ in found}
    renamed = {}
    for name in sorted({name for name, given in found if given}):
        if name.startswith("_") and not name.startswith("__") and len(name) > 1:
            new = name[1:] + "_" if name[1].isalpha() else f"v{name}_"
            while new in taken:
                new += "_"
            taken.add(new)
            renamed[name] = new
    return renamed


class _Plain(ast.NodeTransformer):
    """Takes annotations off, since whoever runs a definition evaluates them, and renames."""

    def __init__(self, renamed: dict[str, str]) -> None:
        self.renamed = renamed

    def visit_Name(self, node: ast.Name) -> ast.Name:
        node.id = self.renamed.get(node.id, node.id)
        return node

    def visit_alias(self, node: ast.alias) -> ast.alias:
        if node.asname:
            node.asname = self.renamed.get(node.asname, node.asname)
        return node

    def visit_arg(self, node: ast.arg) -> ast.arg:
        _annotation(node.annotation)
        node.annotation = None
        node.arg = self.renamed.get(node.arg, node.arg)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        _annotation(node.returns)
        node.returns = None
        node.name = self.renamed.get(node.name, node.name)
        self.generic_visit(node)
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        _annotation(node.annotation)
        if node.value is None or not isinstance(node.target, ast.Name):
            raise Untidy(node.lineno, "a variable is given a value where it is annotated")
        self.generic_visit(node)
        return ast.copy_location(ast.Assign([node.target], node.value), node)


def _annotation(node: ast.expr | None) -> None:
    """Names, texts, and what is in brackets behind a name."""
    for part in ast.walk(node) if node is not None else ():
        if not isinstance(part, _TYPES):
            said = f"{type(part).__name__} in an annotation: expected the name of a type"
            raise Untidy(getattr(part, "lineno", getattr(node, "lineno", 1)), said)


class _Plan(ast.NodeTransformer):
    """``run``: helpers are written out; what it returns reaches nobody."""

    def __init__(self, helpers: dict[str, ast.FunctionDef]) -> None:
        self.helpers = helpers
        self.left = NODES
        self.inside = 0

    def visit_Return(self, node: ast.Return) -> ast.Return:
        names = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
        if all(isinstance(name, ast.Name) for name in names):
            node.value = None
        return node

    def visit_Assert(self, node: ast.Assert) -> ast.Assert:
        node.msg = None
        self.generic_visit(node)
        return node

    def visit_Raise(self, node: ast.Raise) -> ast.stmt:
        made = ast.Assert(ast.Constant(False), None)
        return ast.copy_location(made, node)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        helper = self.helpers.get(node.func.id) if isinstance(node.func, ast.Name) else None
        if helper is None or node.keywords or len(node.args) != len(helper.args.args):
            self.generic_visit(node)
            return node
        given = {arg.arg: self.visit(value) for arg, value in zip(helper.args.args, node.args)}
        last = helper.body[-1]
        assert isinstance(last, ast.Return)
        assert last.value is not None
        sizes = {name: sum(1 for _ in ast.walk(value)) for name, value in given.items()}
        parts = list(ast.walk(last.value))
        words = [part.id for part in parts if isinstance(part, ast.Name)]
        self.left -= len(parts) + sum(sizes.get(word, 0) for word in words)
        self.inside += 1
        if self.left < 0 or self.inside > 20:
            raise Untidy(node.lineno, f"`{helper.name}` has no end, or takes too long to write out")
        made = self.visit(_Written(given).visit(copy.deepcopy(last.value)))
        self.inside -= 1
        for part in ast.walk(made):
            ast.copy_location(part, node)
        return made  # type: ignore[no-any-return]


class _Written(ast.NodeTransformer):
    """An expression with values in the place of its parameters."""

    def __init__(self, given: dict[str, ast.expr]) -> None:
        self.given = given

    def visit_Name(self, node: ast.Name) -> ast.expr:
        found = self.given.get(node.id)
        return node if found is None else copy.deepcopy(found)
