"""One file is one idea and one function one step, and every signature is annotated."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from statistics import median

from trees import parsed

Sources = Mapping[Path, list[Path]]
Function = ast.FunctionDef | ast.AsyncFunctionDef

FILE_LINES = 400
FUNCTION_LINES = 60
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@cache
def functions(path: Path) -> tuple[Function, ...]:
    return tuple(node for node in ast.walk(parsed(path)) if isinstance(node, FUNCTIONS))


def length(node: Function) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def lines(path: Path) -> int:
    return path.read_text("utf-8").count("\n")


def unannotated(node: Function) -> list[str]:
    spec = node.args
    positional = [*spec.posonlyargs, *spec.args]
    if positional and positional[0].arg in ("self", "cls", "mcs"):
        positional = positional[1:]
    rest = [a for a in (spec.vararg, spec.kwarg) if a is not None]
    missing = [a.arg for a in [*positional, *spec.kwonlyargs, *rest] if a.annotation is None]
    return missing if node.returns is not None else [*missing, "return"]


def test_no_file_outgrows_one_idea(house: Path, files: list[Path]) -> None:
    python = [path for path in files if path.suffix in (".py", ".pyi")]
    long = {str(p.relative_to(house)): lines(p) for p in python if lines(p) > FILE_LINES}

    assert long == {}


def test_half_of_all_source_files_are_short(sources: Sources) -> None:
    sizes = [lines(path) for paths in sources.values() for path in paths]

    assert median(sizes) <= 150


def test_no_function_outgrows_a_screen(house: Path, sources: Sources) -> None:
    long = {
        f"{path.relative_to(house)}:{node.name}": length(node)
        for paths in sources.values()
        for path in paths
        for node in functions(path)
        if length(node) > FUNCTION_LINES
    }

    assert long == {}


def test_most_functions_of_each_distribution_are_a_few_lines(house: Path, sources: Sources) -> None:
    found = {}
    for folder, paths in sources.items():
        sizes = sorted(length(node) for path in paths for node in functions(path))
        found[str(folder.relative_to(house))] = median(sizes), sizes[len(sizes) * 9 // 10]

    assert {name: sizes for name, sizes in found.items() if sizes[0] > 8 or sizes[1] > 25} == {}


def test_every_signature_is_annotated(house: Path, sources: Sources) -> None:
    bare = {
        f"{path.relative_to(house)}:{node.lineno} {node.name}": unannotated(node)
        for paths in sources.values()
        for path in paths
        for node in functions(path)
        if unannotated(node)
    }

    assert bare == {}
