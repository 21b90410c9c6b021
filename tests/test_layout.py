"""The formatter lays out all code: only a literal table keeps lines of its own."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest
from trees import parsed

WIDTH = 100
DENSE = 40  # tokens of a line outside of tables
POSITIONAL = 5  # arguments of a call in the sources that need not be named
DISPLAYS = (ast.List, ast.Tuple, ast.Dict, ast.Set)
LAYOUT = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
FSTRING_START = getattr(tokenize, "FSTRING_START", None)
FSTRING_END = getattr(tokenize, "FSTRING_END", None)


def tokens(text: str) -> list[tokenize.TokenInfo]:
    return list(tokenize.generate_tokens(io.StringIO(text).readline))


def whole(found: list[tokenize.TokenInfo]) -> Iterator[tokenize.TokenInfo]:
    """Tokens, of which an f-string is one, as it was before Python 3.12 (PEP 701)."""
    depth = 0
    for token in found:
        if depth == 0:
            yield token
        depth += (token.type == FSTRING_START) - (token.type == FSTRING_END)


def skips(text: str) -> Iterator[int]:
    """Lines with a comment that keeps the formatter out."""
    for token in tokens(text):
        if token.type == tokenize.COMMENT and "fmt: " in token.string:
            yield token.start[0]


def tables(tree: ast.Module) -> dict[int, range]:
    """Lines of each display of several elements on several lines, by its last line."""
    found: dict[int, range] = {}
    for node in ast.walk(tree):
        if isinstance(node, DISPLAYS):
            end = node.end_lineno or node.lineno
            elements = node.keys if isinstance(node, ast.Dict) else node.elts
            if end > node.lineno and len(elements) > 1:
                found[end] = range(min(node.lineno, found.get(end, range(end, end)).start), end + 1)
    return found


def misplaced(tree: ast.Module, text: str) -> list[int]:
    """Lines of the comments that are not behind the closing bracket of a literal table."""
    ends = tables(tree)
    lines = text.splitlines()
    return [
        line
        for line in skips(text)
        if line not in ends or lines[line - 1].partition("#")[0].strip(" )]},")
    ]


def merged(tree: ast.Module) -> Iterator[int]:
    """Lines that assign a tuple of several values to as many names, where no value needs the order.

    A swap, such as ``a, b = b, a``, reads what it assigns, and stays.
    """
    for node in ast.walk(tree):
        if not isinstance(node, ast.Assign) or len(node.targets) != 1:
            continue
        target = node.targets[0]
        value = node.value
        if not (isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)):
            continue
        written = {ast.unparse(element) for element in target.elts}
        read = {ast.unparse(part) for part in ast.walk(value) if isinstance(part, ast.expr)}
        starred = any(isinstance(each, ast.Starred) for each in [*target.elts, *value.elts])
        if not starred and not written & read:
            yield node.lineno


def nested(tree: ast.Module) -> Iterator[int]:
    """Lines of conditional expressions that are a part of another one."""
    for node in ast.walk(tree):
        if isinstance(node, ast.IfExp):
            parts = (node.test, node.body, node.orelse)
            if any(isinstance(part, ast.IfExp) for part in parts):
                yield node.lineno


def unnamed(tree: ast.Module) -> Iterator[int]:
    """Lines of calls with more positional arguments than a reader can match with parameters."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and len(node.args) > POSITIONAL:
            yield node.lineno


def dense(tree: ast.Module, text: str) -> Iterator[int]:
    """Lines outside of tables with more tokens than a reader takes in at once."""
    inside = {line for span in tables(tree).values() for line in span}
    counts: dict[int, int] = {}
    for token in whole(tokens(text)):
        if token.type not in LAYOUT:
            counts[token.start[0]] = counts.get(token.start[0], 0) + 1
    for line, count in counts.items():
        if count > DENSE and line not in inside:
            yield line


def test_only_literal_tables_keep_the_formatter_out(house: Path, files: list[Path]) -> None:
    found = [
        f"{path.relative_to(house)}:{line}"
        for path in files
        if path.suffix == ".py" and "fmt: " in path.read_text("utf-8")
        for line in misplaced(parsed(path), path.read_text("utf-8"))
    ]

    assert found == []


@pytest.mark.parametrize("rule", [merged, nested, unnamed])
def test_a_line_says_one_thing(rule, house: Path, sources) -> None:
    found = [
        f"{path.relative_to(house)}:{line}"
        for paths in sources.values()
        for path in paths
        for line in rule(parsed(path))
    ]

    assert found == []


def test_no_line_outside_of_tables_is_dense(house: Path, sources) -> None:
    found = [
        f"{path.relative_to(house)}:{line}"
        for paths in sources.values()
        for path in paths
        for line in dense(parsed(path), path.read_text("utf-8"))
    ]

    assert found == []


@pytest.mark.parametrize(
    ("code", "rule"),
    [
        ("self.a, self.b = a, b", merged),
        ("x = 1 if a else 2 if b else 3", nested),
        ("f(a, b, c, d, e, g)", unnamed),
    ],
)
def test_each_rule_finds_what_it_is_for(code, rule) -> None:
    assert list(rule(ast.parse(code))) == [1]


def test_a_statement_is_not_a_table() -> None:
    text = "raise E(\n    1, 2\n)  # fmt: skip\nT = [\n    1, 2,\n    3,\n]  # fmt: skip\n"

    assert misplaced(ast.parse(text), text) == [3]
