"""Core is built in floors: each room imports those below it, and the lowest four import no other
package than attrs.
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

from modules import Graph, import_graph
from trees import parsed

# What flows, what counts as the answer, how stages compose, and the one algorithm.
PURE = ("model", "text", "compose", "engine")
# Each imports itself and those before it; "" is `rlenv` itself, whose names are public.
FLOORS = (
    *PURE, "steps", "hooks", "plugins", "sandbox", "identity", "config", "workers", "runtime",
    "environment", "authoring", "", "__main__",
)  # fmt: skip


def room(module: str) -> str:
    return module.partition(".")[2].partition(".")[0]


def graph_of_core(house: Path) -> Graph:
    graph = import_graph(house / "core" / "src")
    return {name: found for name, found in graph.items() if name.partition(".")[0] == "rlenv"}


def test_every_room_of_core_has_its_floor(house: Path) -> None:
    assert {room(name) for name in graph_of_core(house)} <= set(FLOORS)


def test_rooms_of_core_import_only_those_below_them(house: Path) -> None:
    """Imports inside functions and under TYPE_CHECKING included."""
    wrong = [
        f"{name} imports {target}"
        for name, found in graph_of_core(house).items()
        for target in found
        if FLOORS.index(room(target)) > FLOORS.index(room(name))
    ]

    assert wrong == []


def test_modules_that_core_imports_by_name_are_below_too(house: Path) -> None:
    """Some are imported by a call with a string, where an import statement is too slow."""
    wrong = [
        f"{path.relative_to(house)}:{node.lineno} imports {target}"
        for path in (house / "core" / "src" / "rlenv").rglob("*.py")
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("module", "import_module")
        for argument in node.args[:1]
        if isinstance(argument, ast.Constant)
        for target in [str(argument.value)]
        if FLOORS.index(room(target)) > FLOORS.index(_room_of_file(house, path))
    ]

    assert wrong == []


def test_the_heart_of_core_needs_attrs_and_the_standard_library_alone(house: Path) -> None:
    allowed = {"attrs", "rlenv", *sys.stdlib_module_names}
    wrong = [
        f"{path.relative_to(house)} imports {name}"
        for path in (house / "core" / "src" / "rlenv").rglob("*.py")
        if _room_of_file(house, path) in PURE
        for node in ast.walk(parsed(path))
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for name in _packages(node)
        if name not in allowed
    ]

    assert wrong == []


def _room_of_file(house: Path, path: Path) -> str:
    first = path.relative_to(house / "core" / "src" / "rlenv").parts[0]
    return first.removesuffix(".py").replace("__init__", "")


def _packages(node: ast.Import | ast.ImportFrom) -> set[str]:
    if isinstance(node, ast.Import):
        return {alias.name.partition(".")[0] for alias in node.names}
    return set() if node.level else {(node.module or "").partition(".")[0]}
