"""Python programs of responses, parsed and never run."""

from __future__ import annotations

import ast
import os
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from attrs import field, frozen
from rlenv.text import Block

from rlenv_plugin_constraints.blocks import line_spans, program
from rlenv_plugin_constraints.constraint import Finding, Span
from rlenv_plugin_constraints.text import Text
from rlenv_plugin_constraints.unmet import unmet

__all__ = ["LABELS", "Source", "children", "dotted", "parsed", "quiet", "refused"]

LABELS = ("python", "py", "python3", "py3", "cpython")
SIZE = 100_000  # characters; the parser takes about a second per million
DEPTH = (
    150  # of the tree: far from where the parser itself gives up, so that stacks make no difference
)
_filters = threading.Lock()  # of warnings, which are one for the process
os.register_at_fork(after_in_child=_filters._at_fork_reinit)  # type: ignore[attr-defined]


@frozen(eq=False)
class Source:
    """A program: its tree, or why there is none.

    ``kept`` is what is found in it once for all constraints.
    """

    raw: str
    block: Block
    tree: ast.Module | None = None
    reason: str = ""
    line: int | None = None
    nodes: tuple[ast.AST, ...] = field(default=(), repr=False)
    kept: dict[str, Any] = field(factory=dict, repr=False)

    def spans(self, lines: Iterator[int] | list[int] | tuple[int, ...]) -> list[Span]:
        """Where these lines of the program, from 1, are in the response."""
        known = line_spans(self.raw, self.block)
        return [known[line - 1] for line in list(lines)[:20] if 0 < line <= len(known)]


def parsed(text: Text) -> Source:
    """The program of a response: its last Python block, else its last block, else all of it.
    Total.
    """
    kept: Source | None = getattr(text, "_program", None)
    if kept is None:
        kept = _parsed(text.raw)
        text._program = kept  # type: ignore[attr-defined]
    return kept


def _parsed(raw: str) -> Source:
    block = program(raw, LABELS)
    source = block.text.removeprefix("\ufeff")
    if not source.strip():
        return Source(raw, block, reason="there is no program")
    if len(source) > SIZE:
        reason = f"undecided: a program of more than {SIZE:,} characters"
        return Source(raw, block, reason=reason)
    if "\0" in source:
        return Source(raw, block, reason="a NUL in the program")
    try:
        tree = _tree(source)
    except SyntaxError as err:
        return Source(raw, block, reason=f"no Python: {err.msg[:80]}", line=err.lineno)
    except (RecursionError, MemoryError):
        return Source(raw, block, reason="undecided: nested too deep")
    except ValueError:  # lone surrogates, integers of more digits than Python reads
        return Source(raw, block, reason="no Python: a sign or number that it does not read")
    nodes = _walk(tree)
    if nodes is None:
        reason = f"undecided: nested more than {DEPTH} deep"
        return Source(raw, block, reason=reason)
    if all(isinstance(node, (ast.Expr, ast.Pass)) and _is_inert(node) for node in tree.body):
        return Source(raw, block, reason="there is no program")
    return Source(raw, block, tree, nodes=nodes)


def _is_inert(node: ast.AST) -> bool:
    """A bare name, text or number, as a word of prose is."""
    return not isinstance(node, ast.Expr) or isinstance(node.value, (ast.Name, ast.Constant))


@contextmanager
def quiet() -> Iterator[None]:
    """No warning is shown meanwhile."""
    with _filters, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _tree(source: str) -> ast.Module:
    with quiet():
        return ast.parse(source)


def _walk(tree: ast.Module) -> tuple[ast.AST, ...] | None:
    """Every node, breadth first; None where the tree is too deep."""
    found: list[ast.AST] = []
    level: list[ast.AST] = [tree]
    for _ in range(DEPTH):
        found += level
        level = children(level)
        if not level:
            return tuple(found)
    return None


class _Fields(dict[type, tuple[str, ...]]):
    """The fields of a class of nodes that may hold nodes."""

    def __missing__(self, kind: type) -> tuple[str, ...]:
        own: tuple[str, ...] = getattr(kind, "_fields", ())
        bare = _NAMES - {"name"} if kind.__name__ == "TypeAlias" else _NAMES
        found = () if kind is ast.Constant else tuple(name for name in own if name not in bare)
        self[kind] = found
        return found


_NAMES = frozenset(
    (
        "id",
        "attr",
        "arg",
        "name",
        "kind",
        "module",
        "level",
        "asname",
        "type_comment",
        "conversion",
        "simple",
        "is_async",
        "rest",
        "kwd_attrs",
    )
)
_fields = _Fields()


def children(nodes: Sequence[ast.AST]) -> list[ast.AST]:
    """What ``ast.iter_child_nodes`` gives of each node, four times as fast."""
    found: list[Any] = []
    for node in nodes:
        held = node.__dict__
        for name in _fields[type(node)]:
            value = held.get(name)
            if value is None:
                continue
            if type(value) is list:
                found += value
            else:
                found.append(value)
    return [item for item in found if isinstance(item, ast.AST)]


def refused(source: Source, wanted: object) -> Finding:
    """The finding where there is no tree."""
    spans = source.spans([source.line]) if source.line else ()
    return unmet(None, wanted, spans, source.reason)


def dotted(node: ast.AST) -> str:
    """``a.b.c`` of a chain of names, "" of anything else."""
    if type(node) is ast.Name:
        return node.id
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    return ".".join([node.id, *reversed(parts)])
