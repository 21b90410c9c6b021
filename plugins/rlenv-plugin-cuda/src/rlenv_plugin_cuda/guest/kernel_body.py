"""The body of one function of numba, held against the tables of its role."""

from __future__ import annotations

# ruff: noqa: TID252 - a sandbox has these packages under no other name
import ast

TYPE_CHECKING = False
if TYPE_CHECKING or not __package__:  # in a sandbox there is no package
    from kernel_words import DECLARE, DIALECTS, Answer, Function
    from planning.checking import Checker
    from planning.values import Refused
else:
    from ..planning.checking import Checker
    from ..planning.values import Refused
    from .kernel_words import DECLARE, DIALECTS, Answer, Function

__all__ = ["check_function"]


def check_function(answer: Answer, function: Function) -> None:
    """Hold a function against the rules.

    Raises:
        Refused: the first thing that is not allowed.
    """
    _Body(answer, function).block(function.node.body)


class _Body(Checker):  # type: ignore[misc] # a neighbor in the sandbox
    def __init__(self, answer: Answer, function: Function) -> None:
        called = {
            name: len(each.parameters)
            for name, each in answer.functions.items()
            if each.role == "device" and function.role != "plan"
        }
        super().__init__(DIALECTS[function.role], answer, function.node, called)
        self.literals = _literals(function.node)

    def arguments(self, node: ast.Call, full: str, depth: int) -> None:
        """Check the arguments of a call; an array is made of a shape, and of a type.

        A shape in a kernel is made of constants, the type in a plan may be that of an array.
        """
        if full in DECLARE:
            self._declared(node, full)
        for place, part in enumerate([*node.args, *(keyword.value for keyword in node.keywords)]):
            is_type = full == "cuda.device_array" and (place > 0 or not node.args)
            if is_type and isinstance(part, ast.Attribute) and part.attr == "dtype":
                self._type_of(part, depth)
            else:
                self.expression(part, depth + 1)

    def _type_of(self, node: ast.Attribute, depth: int) -> None:
        if not isinstance(node.value, ast.Name) or self.names.dotted(node):
            raise Refused(node.lineno, "`.dtype` is that of an array, by its name")
        self.expression(node.value, depth + 1)

    def _declared(self, node: ast.Call, full: str) -> None:
        _Literal(self.literals).visit(node)
        given: dict[str | None, ast.expr] = {k.arg: k.value for k in node.keywords}
        given.update(zip(("shape", "dtype"), node.args))
        if set(given) != {"shape", "dtype"}:
            raise Refused(node.lineno, f"{full} takes a shape and a dtype")
        for part in ast.walk(given["shape"]):
            if isinstance(part, ast.Name) and part.id not in self.names.constants:
                said = f"the shape of {full} is made of constants, and `{part.id}` is none"
                raise Refused(node.lineno, said)


def _literals(function: ast.FunctionDef) -> dict[str, ast.Constant]:
    """What is given an integer once and for all: shapes of arrays may be made of it, as of a
    constant.
    """
    stored = [
        n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    ]
    return {
        node.targets[0].id: node.value
        for node in function.body
        if isinstance(node, ast.Assign)
        and len(node.targets) == 1
        and isinstance(node.targets[0], ast.Name)
        and stored.count(node.targets[0].id) == 1
        and isinstance(node.value, ast.Constant)
        and type(node.value.value) is int
    }


class _Literal(ast.NodeTransformer):
    """Puts numbers in the place of the names that stand for them."""

    def __init__(self, literals: dict[str, ast.Constant]) -> None:
        self.literals = literals

    def visit_Name(self, node: ast.Name) -> ast.expr:
        found = self.literals.get(node.id)
        return node if found is None else ast.copy_location(ast.Constant(found.value), node)
