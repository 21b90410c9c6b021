"""A Python program: that there is one, and which nodes of the grammar it may use."""

from __future__ import annotations

import ast
from typing import Any, ClassVar

from attrs import field, frozen
from rlenv import ConfigError
from rlenv.authoring import Safe, suggest

from rlenv_plugin_constraints.constraint import Finding
from rlenv_plugin_constraints.programs import parsed, refused
from rlenv_plugin_constraints.text import Text

__all__ = ["Python"]

_NODES = {
    name: kind
    for name, kind in vars(ast).items()
    if isinstance(kind, type) and issubclass(kind, ast.AST)
}
# What every program has, whatever is allowed.
_ALWAYS = (
    "Module",
    "Load",
    "Store",
    "Del",
    "arguments",
    "arg",
    "alias",
    "keyword",
    "Name",
    "Constant",
    "Expr",
)


def _nodes(_: Any, __: Any, value: tuple[str, ...]) -> None:
    for name in value:
        if name not in _NODES:
            raise ConfigError(f"there is no node {name!r} in Python's ast; {suggest(name, _NODES)}")


@frozen
class Python:
    """The response holds a Python program that parses, made of these nodes of Python's ``ast``.

    Args:
        allow_nodes: the only ones ("For", "Call", "ListComp", "stmt" for all statements); () allows
            all.
        forbid_nodes: those that may not be in it.
        max_nodes: how many nodes it has at most.
    """

    kind: ClassVar[str] = "python"
    is_answer: ClassVar[bool] = True
    allow_nodes: Safe[tuple[str, ...]] = field(default=(), validator=_nodes)
    forbid_nodes: Safe[tuple[str, ...]] = field(default=(), validator=_nodes)
    max_nodes: int | None = None

    def __attrs_post_init__(self) -> None:
        if both := sorted(set(self.allow_nodes) & set(self.forbid_nodes)):
            raise ConfigError(f"{both[0]!r} is both allowed and forbidden")

    def check(self, text: Text) -> Finding:
        wanted = {"allow_nodes": list(self.allow_nodes), "forbid_nodes": list(self.forbid_nodes)}
        source = parsed(text)
        if source.tree is None:
            return refused(source, wanted)
        allowed = tuple(_NODES[name] for name in (*self.allow_nodes, *_ALWAYS))
        forbidden = tuple(_NODES[name] for name in self.forbid_nodes)
        refused_kinds = {
            kind
            for kind in set(map(type, source.nodes))
            if issubclass(kind, forbidden) or (self.allow_nodes and not issubclass(kind, allowed))
        }
        odd = (
            [node for node in source.nodes if type(node) in refused_kinds] if refused_kinds else []
        )
        lines = [line for node in odd if (line := getattr(node, "lineno", None)) is not None]
        names = sorted({type(node).__name__ for node in odd})
        note = f"with {', '.join(names)}" if names else ""
        if self.max_nodes is not None and len(source.nodes) > self.max_nodes:
            note = note or f"{len(source.nodes)} nodes"
        measured = {"nodes": len(source.nodes), "refused": names}
        return Finding(not note, measured, wanted, source.spans(lines), note)
