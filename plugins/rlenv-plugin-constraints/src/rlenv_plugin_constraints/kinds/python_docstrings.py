"""Docstrings of a Python program."""

from __future__ import annotations

import ast
from typing import ClassVar, Literal, TypeAlias

from attrs import field, frozen

from rlenv_plugin_constraints.constraint import Finding, positive
from rlenv_plugin_constraints.programs import parsed, refused
from rlenv_plugin_constraints.text import Text

__all__ = ["Docstrings"]

_Documented: TypeAlias = "ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef"
_OF: dict[str, tuple[type, ...]] = {
    "module": (ast.Module,),
    "class": (ast.ClassDef,),
    "function": (ast.FunctionDef, ast.AsyncFunctionDef),
}


@frozen
class Docstrings:
    """Every function and class of the program has a docstring, and there is one of these.

    A docstring is what Python takes for one: a comment, an f-string and a string behind other
    statements are none.
    Names that begin with an underscore, also ``__init__``, and functions within functions need
    none.

    Args:
        of: what must have one: "module", "class", "function".
        min_words: how many words a docstring has at least.
    """

    kind: ClassVar[str] = "python_docstrings"
    is_answer: ClassVar[bool] = True
    of: tuple[Literal["module", "class", "function"], ...] = ("class", "function")
    min_words: int = field(default=2, validator=positive)

    def check(self, text: Text) -> Finding:
        wanted = {"of": list(self.of), "min_words": self.min_words}
        source = parsed(text)
        if source.tree is None:
            return refused(source, wanted)
        every = [
            node
            for node in _public(source.tree)
            if any(isinstance(node, _OF[kind]) for kind in self.of)
        ]
        bare = [node for node in every if not self._documents(node)]
        names = ", ".join(getattr(node, "name", "the module") for node in bare)
        note = "" if every else "nothing needs a docstring"
        if bare:
            note = f"without a docstring: {names}"[:200]
        spans = source.spans([getattr(node, "lineno", 1) for node in bare])
        return Finding(not note, len(every) - len(bare), wanted, spans, note)

    def _documents(self, node: _Documented) -> bool:
        return len(Text(ast.get_docstring(node) or "").words) >= self.min_words


def _public(node: _Documented) -> list[_Documented]:
    """The node, and the classes and functions of its scope whose names begin with a letter."""
    found: list[_Documented] = [node]
    for child in node.body if isinstance(node, (ast.Module, ast.ClassDef)) else ():
        if (
            isinstance(child, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))
            and child.name[0] != "_"
        ):
            found += _public(child)
    return found
