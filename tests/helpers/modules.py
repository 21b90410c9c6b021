"""The modules of a distribution and what they import of each other, in functions and under
TYPE_CHECKING too.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from trees import parsed

Graph = Mapping[str, frozenset[str]]


def import_graph(source: Path) -> Graph:
    """Dotted module name → the modules under ``source`` that it imports."""
    paths = {_name(path.relative_to(source)): path for path in source.rglob("*.py")}
    return {name: frozenset(_imported(name, path, paths)) for name, path in paths.items()}


def _name(path: Path) -> str:
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")


def _imported(name: str, path: Path, modules: Mapping[str, Path]) -> Iterator[str]:
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    # in a sandbox there is no package
    beside = f"{package}." if path.parent.name == "guest" else ""
    for node in ast.walk(parsed(path)):
        for target in _targets(node, package):
            found = next((m for m in _spellings(target, beside) if m in modules), name)
            if found != name:
                yield found


def _targets(node: ast.AST, package: str) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        parts = package.split(".")
        above = parts[: len(parts) - node.level + 1] if node.level else []
        base = ".".join([*above, *filter(None, [node.module])])
        yield from (f"{base}.{alias.name}" for alias in node.names)


def _spellings(target: str, beside: str) -> Iterator[str]:
    """A module, or a name inside one."""
    for name in (target, target.rpartition(".")[0]):
        yield from (name, beside + name)


def cycle(graph: Graph) -> list[str]:
    """Modules of which each is imported by the one before, the first by the last; [] where there
    are none.
    """
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(reversed(error.args[1]))
    return []
