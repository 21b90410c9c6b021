"""What a test's text needs: which names it takes from the solution, and what of it is to be called.

The text is its author's; the solution is in another sandbox.  What cannot cross over is rejected
here, with the reason.
"""

from __future__ import annotations

import ast
import builtins
import symtable
from collections.abc import Iterator
from functools import lru_cache

from attrs import frozen

from .pinning import Lines, lines_that_pin

__all__ = ["Plan", "Unproxied", "plan"]

_BUILTINS = frozenset(dir(builtins)) | {"__name__", "__file__", "candidate"}
_LIBRARY = frozenset(
    [
        *("cmath", "collections", "copy", "datetime", "decimal", "fractions", "functools"),
        *("itertools", "json", "math", "operator", "random", "re", "statistics", "string", "sys"),
    ]
)
_NO_PROXY = {
    "unittest": "it is run by no test runner; write plain asserts",
    "mock": "what it patches is in another sandbox",
    "inspect": "the solution's source is in another sandbox",
    "importlib": "the solution's module is in another sandbox",
    "solution": (
        "the solution's module is in another sandbox; use the names of the solution as they are"
    ),
}


class Unproxied(ValueError):
    """A test that cannot be run with the solution in another sandbox; the message says why."""


@frozen
class Plan:
    """How one text is run.

    Args:
        setup: source that runs before it.
        text: the test.
        names: what the solution supplies, the entry point among it.
        errors: exceptions of the solution that the text catches.
        classes: names of the solution whose calls make objects.
        calls: functions of the text to call: "check" gets the entry point, others nothing.
        asserts: first and last line of each assertion.
        pins: first and last line of each call that is made for what it leaves in its arguments.
    """

    setup: str
    text: str
    names: tuple[str, ...]
    errors: tuple[str, ...]
    classes: tuple[str, ...]
    calls: tuple[str, ...]
    asserts: Lines
    pins: Lines


@lru_cache(512)
def plan(text: str, setup: str, prompt: str, entry_point: str) -> Plan:
    """Read a test's text.

    A name that the setup does not bind may be the prompt's, if that is Python.

    Raises:
        Unproxied: it cannot be run, or asserts nothing.
    """
    tree = _parsed(text, "the test")
    _refuse(tree)
    calls = tuple(_calls(tree))
    if not calls and not any(_asserts(node) for node in _outside_functions(tree)):
        raise Unproxied("it asserts nothing: write asserts, def check(candidate) or def test_...()")
    free = _free(text) - _BUILTINS
    setup = setup or _prelude(prompt, free - {entry_point})
    bound = _bound(setup) if setup else set()
    modules = _modules(tree, free - bound - {entry_point})
    setup += "".join(f"\nimport {name}" for name in sorted(modules))
    bound |= modules
    errors = tuple(sorted(_caught(tree) & (free - bound)))
    names = tuple(sorted((free - bound - set(errors)) | {entry_point}))
    classes = tuple(name for name in names if name[:1].isupper())
    asserts = tuple(
        (node.lineno, node.end_lineno or node.lineno)
        for node in ast.walk(tree)
        if isinstance(node, ast.Assert)
    )
    pins = lines_that_pin(text, frozenset({*names, entry_point, "candidate"}))
    return Plan(
        setup=setup,
        text=text,
        names=names,
        errors=errors,
        classes=classes,
        calls=calls,
        asserts=asserts,
        pins=pins,
    )


def _parsed(text: str, what: str) -> ast.Module:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError) as err:
        where = f" in line {err.lineno}" if isinstance(err, SyntaxError) else ""
        raise Unproxied(f"{what} is no Python{where}: {err}") from None


def _refuse(tree: ast.Module) -> None:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            modules = [node.module or "."]
        else:
            continue
        for module in modules:
            reason = _NO_PROXY.get(module.partition(".")[0])
            if reason is not None:
                raise Unproxied(f"line {node.lineno} imports {module}: {reason}")


def _calls(tree: ast.Module) -> Iterator[str]:
    """The text's functions that are to be called, where it does not call them itself."""
    called = {
        node.func.id
        for node in _outside_functions(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    for node in tree.body:
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) or node.name in called:
            continue
        if node.name != "check" and not node.name.startswith("test"):
            continue
        wanted = 1 if node.name == "check" else 0
        required = len(node.args.args) + len(node.args.posonlyargs) - len(node.args.defaults)
        if isinstance(node, ast.AsyncFunctionDef) or required != wanted:
            how = "one parameter" if wanted else "no parameters"
            raise Unproxied(f"line {node.lineno}: {node.name} is a plain function of {how}")
        yield node.name


def _outside_functions(tree: ast.AST) -> Iterator[ast.AST]:
    for node in ast.iter_child_nodes(tree):
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)):
            yield node
            yield from _outside_functions(node)


def _asserts(node: ast.AST) -> bool:
    if isinstance(node, (ast.Assert, ast.Raise)):
        return True
    if not isinstance(node, ast.Call):
        return False
    function = node.func
    name = function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")
    return name in ("raises", "check") or name.startswith(("assert", "test"))


def _modules(tree: ast.Module, names: set[str]) -> set[str]:
    """Those of the library that a test uses without importing them: a solution's own ``math``
    decides nothing.
    """
    owners = {
        n.value.id
        for n in ast.walk(tree)
        if isinstance(n, ast.Attribute) and isinstance(n.value, ast.Name)
    }
    return names & owners & _LIBRARY


def _caught(tree: ast.Module) -> set[str]:
    """Names that are where an exception's type is expected."""
    kinds: list[ast.expr] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ExceptHandler) and node.type is not None:
            kinds.append(node.type)
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "raises":
            kinds += node.args[:1]
    return {leaf.id for kind in kinds for leaf in ast.walk(kind) if isinstance(leaf, ast.Name)}


def _free(text: str) -> set[str]:
    """The global names that a text uses and does not bind."""
    top = _table(text)
    used: set[str] = set()
    waiting = [top]
    while waiting:
        table = waiting.pop()
        waiting += table.get_children()
        for symbol in table.get_symbols():
            if symbol.is_referenced() and (table is top or symbol.is_global()):
                used.add(symbol.get_name())
    return used - {s.get_name() for s in top.get_symbols() if _binds(s)}


def _binds(symbol: symtable.Symbol) -> bool:
    return symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace()


def _bound(text: str) -> set[str]:
    _parsed(text, "the setup")
    return {symbol.get_name() for symbol in _table(text).get_symbols() if _binds(symbol)}


def _table(text: str) -> symtable.SymbolTable:
    try:
        return symtable.symtable(text, "test.py", "exec")
    except SyntaxError as err:  # what only compiling finds, a `nonlocal` outside of functions
        raise Unproxied(f"no Python in line {err.lineno}: {err}") from None


def _prelude(prompt: str, wanted: set[str]) -> str:
    """The prompt, where it is Python and binds a name that the test wants."""
    if not wanted:
        return ""
    try:
        bound = _bound(prompt)
    except Unproxied:
        return ""
    return prompt if bound & wanted else ""
