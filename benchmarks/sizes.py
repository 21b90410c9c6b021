"""Sizes of the sources by distribution and room: ``python benchmarks/sizes.py [DISTRIBUTION ...]``.

A room is a folder or a module directly below a distribution's package. Tokens are those of Python's
tokenizer without comments, line ends and indentation, so no layout changes their number. Code lines
hold something else than a comment or a docstring. The numbers are information: no test compares
them with a budget.
"""

from __future__ import annotations

import ast
import sys
import tokenize
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from statistics import median
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
WIDTH = 100
LAYOUT = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
}
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
HEADER = (
    f"{'':34} {'files':>6} {'lines':>7} {'tokens':>8} {'per line':>8}"
    f" {'functions':>9} {'median':>7} {'skips':>6} {'>100':>5}"
)


class Size(NamedTuple):
    """Size of one source file.

    ``code`` lists the lines that hold code, and ``functions`` the lengths of its functions in
    lines. ``skips`` counts the comments that keep the formatter out.
    """

    code: int
    tokens: int
    functions: tuple[int, ...]
    skips: int
    wide: int


def measure(path: Path) -> Size:
    """Measure one source file."""
    with path.open("rb") as file:
        tokens = list(tokenize.tokenize(file.readline))
    tree = ast.parse(path.read_bytes())
    docstrings = set(docstring_lines(tree))
    held = [token for token in tokens if token.type not in LAYOUT]
    code = {
        line
        for token in held
        if not (token.type == tokenize.STRING and token.start[0] in docstrings)
        for line in range(token.start[0], token.end[0] + 1)
    }
    lines = path.read_text("utf-8").splitlines()
    return Size(
        code=len(code),
        tokens=len(held),
        functions=tuple(function_lengths(tree)),
        skips=sum(t.type == tokenize.COMMENT and "fmt: skip" in t.string for t in tokens),
        wide=sum(len(lines[line - 1]) > WIDTH for line in code),
    )


def docstring_lines(tree: ast.Module) -> Iterator[int]:
    """Yield the first line of each docstring."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, *FUNCTIONS)) and ast.get_docstring(node):
            yield node.body[0].lineno


def function_lengths(tree: ast.Module) -> Iterator[int]:
    """Yield the length of each function, in lines."""
    for node in ast.walk(tree):
        if isinstance(node, FUNCTIONS):
            yield (node.end_lineno or node.lineno) - node.lineno + 1


def row(title: str, sizes: Iterable[Size]) -> str:
    """Format the sum of several files as one line of the table."""
    found = list(sizes)
    code = sum(size.code for size in found)
    tokens = sum(size.tokens for size in found)
    functions = [length for size in found for length in size.functions]
    return (
        f"{title:34} {len(found):>6,} {code:>7,} {tokens:>8,} {tokens / max(1, code):>8.1f}"
        f" {len(functions):>9,} {median(functions or [0]):>7.0f}"
        f" {sum(size.skips for size in found):>6} {sum(size.wide for size in found):>5}"
    )


def rooms(package: Path) -> dict[str, list[Size]]:
    """Measure the files of a package, by room."""
    found: dict[str, list[Size]] = defaultdict(list)
    for path in sorted(package.rglob("*.py")):
        inside = path.relative_to(package).parts
        found[inside[0] + ("/" if len(inside) > 1 else "")].append(measure(path))
    return found


def main(names: list[str]) -> int:
    packages = [
        package
        for pattern in ("core/src/*", "plugins/*/src/*", "contrib/*/src/*")
        for package in sorted(ROOT.glob(pattern))
        if (package / "__init__.py").exists()
    ]
    everything: list[Size] = []
    print(HEADER)
    for package in packages:
        found = rooms(package)
        sizes = [size for room in found.values() for size in room]
        everything += sizes
        if not names or any(name in package.name for name in names):
            print(row(package.name, sizes))
            for room, inside in found.items() if names else ():
                print(row(f"  {room}", inside))
    print(row("all", everything))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
