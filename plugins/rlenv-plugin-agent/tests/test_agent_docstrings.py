"""The docstrings of the plugin: how each begins, and that ``Args:`` is the signature."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import rlenv_plugin_agent

SOURCES = Path(rlenv_plugin_agent.__file__).parent
ENTRY = re.compile(r"^    (\*{0,2}\w+): ", re.MULTILINE)
Function = ast.FunctionDef | ast.AsyncFunctionDef


def trees() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(SOURCES.rglob("*.py")):
        yield str(path.relative_to(SOURCES)), ast.parse(path.read_text("utf-8"))


def public_functions(tree: ast.Module) -> Iterator[tuple[Function, int]]:
    """Each public function, and how many of its first parameters a caller does not write."""
    for node in tree.body:
        if isinstance(node, Function):
            yield node, 0
        elif isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from ((each, 1) for each in node.body if isinstance(each, Function))


def parameters(function: Function, implicit: int) -> list[str]:
    given = function.args
    names = [each.arg for each in given.posonlyargs + given.args][implicit:]
    names += [each.arg for each in given.kwonlyargs]
    names += [f"*{given.vararg.arg}"] if given.vararg else []
    return names + ([f"**{given.kwarg.arg}"] if given.kwarg else [])


def written_out(names: list[str], function: Function, tree: ast.Module) -> list[str]:
    """The names, with the keys of a TypedDict of this file in the place of ``**`` of it."""
    hint = ast.unparse(function.args.kwarg.annotation) if function.args.kwarg else ""  # type: ignore[arg-type] # each is annotated
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and hint == f"Unpack[{node.name}]":
            keys = [
                ast.unparse(each.target) for each in node.body if isinstance(each, ast.AnnAssign)
            ]
            return [each for each in names if not each.startswith("**")] + keys
    return names


def documented(text: str) -> list[str]:
    """The names in the section ``Args:``, in order."""
    _, found, rest = text.partition("Args:\n")
    return ENTRY.findall(re.split(r"^\w", rest, maxsplit=1, flags=re.MULTILINE)[0]) if found else []


def test_a_docstring_says_what_a_thing_does_or_is() -> None:
    wrong = [
        f"{name}: {text[:60]}"
        for name, tree in trees()
        for node in ast.walk(tree)
        if isinstance(node, Function | ast.ClassDef | ast.Module)
        and (text := ast.get_docstring(node) or "")
        and name != "waiting.py"
        and re.match(r"(What|Whether|Who|Why|How|Which|Raises:|Args:)\b", text)
    ]

    assert wrong == []


def test_every_public_function_of_several_parameters_documents_them() -> None:
    wrong = []
    for name, tree in trees():
        for function, implicit in public_functions(tree):
            text = ast.get_docstring(function)
            if function.name.startswith("_") or text is None:
                continue
            names = parameters(function, implicit)
            told = documented(text)
            if {*told} not in ({*names}, {*written_out(names, function, tree)}) and (
                told or len(names) > 1
            ):
                wrong.append(f"{name}:{function.lineno} {function.name}: {names} not {told}")

    assert wrong == []
