"""McCabe's cyclomatic complexity of every function of a Python program."""

from __future__ import annotations

import ast
from typing import Any, ClassVar, TypeAlias

from attrs import field, frozen

from rlenv_plugin_constraints.constraint import Finding, positive
from rlenv_plugin_constraints.programs import children, parsed, refused
from rlenv_plugin_constraints.text import Text

__all__ = ["Complexity", "complexities"]

_Scope: TypeAlias = tuple[str, int, int]  # name, line, complexity
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_BRANCHING = frozenset(
    (
        ast.If,
        ast.IfExp,
        ast.For,
        ast.AsyncFor,
        ast.While,
        ast.ExceptHandler,
        ast.Assert,
        ast.BoolOp,
        ast.comprehension,
        ast.match_case,
    )
)
_ONE = (ast.If, ast.IfExp, ast.For, ast.AsyncFor, ast.While, ast.ExceptHandler, ast.Assert)


def complexities(tree: ast.Module) -> list[_Scope]:
    """(name, line, complexity) of the module's own code and of every function.

    T. J. McCabe, "A Complexity Measure", IEEE Trans. Software Engineering 2(4), 1976: v =
    predicates + 1, where a compound predicate counts each of its conditions.  Loops, handlers,
    asserts, conditional expressions, the loops and conditions of comprehensions and the cases of
    ``match`` are predicates.  A nested function is counted by itself; the body of a class belongs
    to what encloses it.
    """
    found: list[_Scope] = []
    scopes: list[tuple[str, int, list[ast.AST]]] = [("<module>", 1, [tree])]
    while scopes:
        name, line, level = scopes.pop()
        count = 1
        while level:
            below = children(level)
            level = []
            for child in below:
                if isinstance(child, _FUNCTIONS):
                    scopes.append((getattr(child, "name", "<lambda>"), child.lineno, [child]))
                else:
                    level.append(child)
                    if type(child) in _BRANCHING:
                        count += _predicates(child)
        found.append((name, line, count))
    return sorted(found, key=lambda scope: scope[1:])


def _predicates(node: ast.AST) -> int:
    if isinstance(node, _ONE):
        return 1
    if isinstance(node, ast.BoolOp):
        return len(node.values) - 1
    if isinstance(node, ast.comprehension):
        return 1 + len(node.ifs)
    if isinstance(node, ast.match_case):
        always = isinstance(node.pattern, ast.MatchAs) and node.pattern.pattern is None
        return (not always) + (node.guard is not None)
    return 0


@frozen
class Complexity:
    """No function of the program has more than ``max`` paths (McCabe).

    Nor has its own code outside functions.
    """

    kind: ClassVar[str] = "python_complexity"
    is_answer: ClassVar[bool] = True
    max: int = field(validator=positive)

    def check(self, text: Text) -> Finding:
        wanted: Any = {"max": self.max}
        source = parsed(text)
        if source.tree is None:
            return refused(source, wanted)
        every = complexities(source.tree)
        worst = max(every, key=lambda scope: scope[2])
        over = [scope for scope in every if scope[2] > self.max]
        note = ", ".join(f"{name} has {count}" for name, _, count in over)[:200]
        return Finding(
            not over, worst[2], wanted, source.spans([line for _, line, _ in over]), note
        )
