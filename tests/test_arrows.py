"""Imports point down only, contrib → plugins → core, and each distribution declares what it
imports.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import rlenv
from modules import cycle, import_graph
from needs import closure, distribution_of
from trees import parsed

Distributions = Mapping[Path, Mapping[str, Any]]
Sources = Mapping[Path, list[Path]]


@cache
def imports(path: Path) -> tuple[ast.Import | ast.ImportFrom, ...]:
    """What a file imports, inside functions too; it is walked once for all tests."""
    return tuple(
        node
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Import) or (isinstance(node, ast.ImportFrom) and not node.level)
    )


def packages(node: ast.Import | ast.ImportFrom) -> set[str]:
    """Top-level names of the packages that one statement imports."""
    names = [a.name for a in node.names] if isinstance(node, ast.Import) else [node.module or ""]
    return {name.partition(".")[0] for name in names}


def targets(node: ast.Import | ast.ImportFrom) -> list[str]:
    """Every name that one statement imports, with its module."""
    if isinstance(node, ast.Import):
        return [f"{alias.name}.*" for alias in node.names]
    return [f"{node.module}.{alias.name}" for alias in node.names]


def executed_at_import(tree: ast.Module) -> Iterator[ast.Import | ast.ImportFrom]:
    """Imports that run with the module: not those inside functions or under TYPE_CHECKING."""
    todo: list[ast.AST] = [tree]
    while todo:
        node = todo.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            continue
        if isinstance(node, ast.Import) or (isinstance(node, ast.ImportFrom) and not node.level):
            yield node
        todo.extend(ast.iter_child_nodes(node))


def normal(distribution: str) -> str:
    return re.sub(r"[-_.]+", "-", distribution).lower()


def declared(project: Mapping[str, Any], extras: bool) -> set[str]:
    lines = list(project.get("dependencies", ()))
    if extras:
        lines += [
            line for group in project.get("optional-dependencies", {}).values() for line in group
        ]
    return {normal(re.split(r"[^\w.-]", line, maxsplit=1)[0]) for line in lines}


def beside(path: Path) -> set[str]:
    """Modules that a guest finds beside itself: it runs in a sandbox, without the package around
    it.  The judge sends packages next to the guests' folder along.
    """
    if path.parent.name != "guest":
        return set()
    sent = {other.parent.name for other in path.parent.parent.glob("*/__init__.py")}
    return sent | {other.stem for other in path.parent.glob("*.py")}


def sent_along(paths: list[Path]) -> set[Path]:
    """The packages next to the folder of guests that these import by their bare names."""
    return {
        path.parent.parent / name
        for path in paths
        if path.parent.name == "guest"
        for node in imports(path)
        for name in packages(node)
        if (path.parent.parent / name / "__init__.py").exists()
    }


def test_core_imports_no_other_distribution(house: Path, sources: Sources) -> None:
    wrong = [
        f"{path.relative_to(house)}:{node.lineno}"
        for path in sources[house / "core"]
        for node in imports(path)
        if any(name.startswith(("rlenv_", "_rlenv")) for name in packages(node))
    ]

    assert wrong == []


def test_core_names_no_plugin_s_package_in_a_string(house: Path, sources: Sources) -> None:
    wrong = [
        f"{path.relative_to(house)}:{node.lineno} {node.value!r:.60}"
        for path in sources[house / "core"]
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and re.search(r"\brlenv_(plugin|contrib)_\w", node.value)
    ]

    assert wrong == []


def test_a_plugin_imports_only_core_and_itself_of_this_repository(
    house: Path, sources: Sources
) -> None:
    wrong = [
        f"{path.relative_to(house)}:{node.lineno} imports {name}"
        for folder, paths in sources.items()
        if folder.parent == house / "plugins"
        for path in paths
        for node in imports(path)
        for name in packages(node) - beside(path)
        if name.startswith("rlenv_") and name != folder.name.replace("-", "_")
    ]

    assert wrong == []


def test_core_and_plugins_need_neither_click_nor_rich(
    house: Path, distributions: Distributions, sources: Sources
) -> None:
    """What is printed is made in contrib; see the requirements of what they require too."""
    below = [folder for folder in sources if folder.parent != house / "contrib"]
    needed = {folder.name: closure(distributions[folder]["name"]) for folder in below}

    assert {name: found for name, found in needed.items() if {"click", "rich"} & found.keys()} == {}


# Of contrib, to each other.  rlenv-train and rlenv-serve both require rlenv-cli, so what they share
# is there: score files, and tickets, whose results are written as score files have them.
PUBLIC = {"rlenv_cli.console", "rlenv_cli.scores", "rlenv_cli.tickets", "rlenv_testing"}


def test_inside_contrib_only_public_modules_are_imported(house: Path, sources: Sources) -> None:
    """And rlenv-cli, which is below the others, imports none of them."""
    ours = {folder.name.replace("-", "_") for folder in sources if folder.parent.name == "contrib"}
    wrong = [
        f"{path.relative_to(house)}:{node.lineno} imports {target}"
        for folder, paths in sources.items()
        if folder.parent.name == "contrib"
        for path in paths
        for node in imports(path)
        for target in targets(node)
        for first in [target.partition(".")[0]]
        if first in ours - {folder.name.replace("-", "_")}
        if folder.name == "rlenv-cli" or target.rpartition(".")[0] not in PUBLIC
    ]

    assert wrong == []


def test_no_distribution_has_an_import_cycle(house: Path, sources: Sources) -> None:
    """Imports inside functions and under TYPE_CHECKING included."""
    found = {folder.name: cycle(import_graph(folder / "src")) for folder in sources}

    assert {name: modules for name, modules in found.items() if modules} == {}


OF_CORE = {
    f"rlenv.{name}" for name in ("authoring", "hooks", "sandbox", "steps", "text", "workers")
}


def test_a_plugin_imports_only_the_public_names_of_core(house: Path, sources: Sources) -> None:
    names = {"rlenv", *(f"rlenv.{name}" for name in rlenv.__all__), *OF_CORE}
    wrong = [
        f"{path.relative_to(house)}:{node.lineno} imports {target}"
        for folder, paths in sources.items()
        if folder.parent == house / "plugins"
        for path in paths
        for node in imports(path)
        for target in targets(node)
        if target.partition(".")[0] == "rlenv"
        if target not in names and target.rpartition(".")[0] not in OF_CORE
    ]

    assert wrong == []


def test_each_distribution_imports_only_what_it_declares(
    house: Path, distributions: Distributions, sources: Sources
) -> None:
    owners = packages_distributions()
    wrong = []
    for folder, paths in sources.items():
        own = {child.name.removesuffix(".py") for child in (folder / "src").iterdir()}
        allowed = declared(distributions[folder], extras=True)
        for path in paths:
            for node in imports(path):
                for name in packages(node) - own - beside(path) - set(sys.stdlib_module_names):
                    if (
                        not {normal(owner) for owner in owners.get(name, [distribution_of(name)])}
                        & allowed
                    ):
                        wrong.append(f"{path.relative_to(house)}:{node.lineno} imports {name}")

    assert wrong == []


def test_what_runs_in_a_sandbox_imports_the_standard_library_only(
    house: Path, sources: Sources
) -> None:
    wrong = [
        f"{path.relative_to(house)}:{node.lineno} imports {name}"
        for paths in sources.values()
        for path in paths
        if path.parent.name == "guest" or path.parent in sent_along(paths)
        for node in imports(path)
        for name in packages(node) - beside(path) - set(sys.stdlib_module_names)
    ]

    assert wrong == []


def test_what_an_extra_brings_is_imported_only_when_used(
    house: Path, distributions: Distributions, sources: Sources
) -> None:
    owners = packages_distributions()
    wrong = []
    for folder, paths in sources.items():
        project = distributions[folder]
        optional = declared(project, extras=True) - declared(project, extras=False)
        for path in paths:
            for node in executed_at_import(parsed(path)):
                for name in packages(node):
                    if {normal(owner) for owner in owners.get(name, [])} & optional:
                        wrong.append(f"{path.relative_to(house)}:{node.lineno} imports {name}")

    assert wrong == []
