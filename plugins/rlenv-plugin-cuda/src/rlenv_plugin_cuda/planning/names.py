"""Programs of answers: their tree, and what names at the top of them mean."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping

from .values import Refused

__all__ = [
    "SOURCE_BYTES", "Names", "as_grid", "check_recursion", "parsed", "plain", "shortened", "what",
]  # fmt: skip

SOURCE_BYTES = 1 << 16
_NAMED = {
    "Try": "try", "With": "with", "ListComp": "a comprehension", "GeneratorExp": "a comprehension",
    "DictComp": "a comprehension", "SetComp": "a comprehension", "JoinedStr": "a formatted text",
    "NamedExpr": "`:=`", "FunctionDef": "a function", "ClassDef": "a class", "Lambda": "a lambda",
    "Import": "an import", "ImportFrom": "an import", "Dict": "a dict", "Set": "a set",
    "Starred": "a star", "Slice": "a slice", "List": "a list", "Yield": "yield", "Await": "await",
    "Raise": "raise", "Delete": "del", "Global": "global", "Nonlocal": "nonlocal", "Match": "match",
    "Constant": "a text", "Break": "break", "Continue": "continue", "Assert": "assert",
    "AsyncFunctionDef": "async", "YieldFrom": "yield", "MatMult": "`@`", "Pow": "`**`",
    "LShift": "`<<`", "In": "`in`", "NotIn": "`not in`", "Is": "`is`", "IsNot": "`is not`",
    "Subscript": "an element", "Attribute": "an attribute",
}  # fmt: skip


class Names:
    """What the names at the top of a program mean.

    Args:
        modules: name → full name ("tl" → "triton.language").
        constants: name → its expression.
        kernels: name → its parameters.
    """

    def __init__(self) -> None:
        self.modules: dict[str, str] = {}
        self.constants: dict[str, ast.expr] = {}
        self.kernels: dict[str, list[str]] = {}

    def taken(self) -> set[str]:
        """Names that no variable of a function may have."""
        return {*self.modules, *self.kernels}

    def dotted(self, node: ast.expr) -> str:
        """The full name of ``tl.float32``, whatever its module is called here.

        "" for what is none.
        """
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id not in self.modules:
            return ""
        return shortened(".".join([self.modules[node.id], *reversed(parts)]))


def shortened(full: str) -> str:
    """A full name where several mean the same."""
    if full.startswith("numba.cuda."):
        return full.replace("numba.", "", 1)
    return full.replace("types.", "", 1) if full.startswith("numba.types.") else full


def what(node: ast.AST) -> str:
    """A kind of node in words."""
    kind = type(node).__name__
    return _NAMED.get(kind, kind)


def as_grid(node: ast.FunctionDef) -> ast.Lambda:
    """A function in a plan as the lambda that it could be.

    Raises:
        Refused: it is more than one return.
    """
    body = node.body[0]
    if (
        len(node.body) != 1
        or not isinstance(body, ast.Return)
        or body.value is None
        or node.decorator_list
    ):
        raise Refused(
            node.lineno, "of functions in `run` there are grids: one parameter, and one return"
        )
    return ast.copy_location(ast.Lambda(node.args, body.value), node)


def plain(name: str, line: int, hidden: str = "__") -> None:
    """Raise Refused for a name that is not for answers.

    Args:
        name: what is used or defined.
        line: of the program.
        hidden: how names begin that nobody may use; "_" alone is a name all the same.
    """
    if hidden == "_":
        if name.startswith("_") and name != "_":
            said = f"`{name}`: names that begin with an underscore are not for answers"
            raise Refused(line, said)
    elif name.startswith("__") or len(name) > 80 or not name.isascii():
        said = f"`{name:.40}`: names begin with no two underscores, and have at most 80 letters"
        raise Refused(line, said)


def parsed(source: str, tidy: Callable[[ast.Module], ast.Module]) -> ast.Module:
    """The tree of a program, without what ``tidy`` takes off.

    Raises:
        Refused: it is too long or too deep, or not Python.
    """
    if len(source.encode("utf-8", "surrogatepass")) > SOURCE_BYTES:
        raise Refused(1, f"the program is longer than {SOURCE_BYTES} bytes")
    try:
        return tidy(ast.parse(source))
    except SyntaxError as err:
        raise Refused(err.lineno or 1, f"no Python: {err.msg}") from None
    except (ValueError, RecursionError, MemoryError) as err:
        said = f"no Python that can be read: {type(err).__name__}"
        raise Refused(1, said) from None


def check_recursion(functions: Mapping[str, ast.FunctionDef]) -> None:
    """Raise Refused where a function calls itself, also by way of others."""
    calls = {
        name: {
            part.id
            for part in ast.walk(node)
            if isinstance(part, ast.Name) and part.id in functions
        }
        for name, node in functions.items()
    }
    done: set[str] = set()
    while ready := {name for name, callees in calls.items() if callees <= done} - done:
        done |= ready
    for name, node in functions.items():
        if name not in done:
            raise Refused(node.lineno, f"`{name}` calls itself, in the end")
