"""Measures of how a Python source is written, by its syntax tree.

It runs inside the sandbox, where the source is data.

    [n, text] -> ["ok", n, deeds, length, line, nesting, complexity, names, dead, dynamic, defined]

``names``, ``dead`` and ``dynamic`` are lists of [what, line].  What each means is in
``stages/style.py``.
"""

from __future__ import annotations

import ast
import re

from rlenv_names import answer, names_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

NODES = 12  # of a syntax tree that weigh as much as a statement
LETTERS = 40  # of texts that do


def _kinds(names: str) -> tuple[Any, ...]:
    """Kinds of nodes, as far as this Python has them."""
    return tuple(getattr(ast, name) for name in names.split() if hasattr(ast, name))


_FUNCTIONS = _kinds("FunctionDef AsyncFunctionDef")
_DOCUMENTED = _kinds("Module ClassDef FunctionDef AsyncFunctionDef")
_LOOPS = _kinds("For AsyncFor While")
_WITHIN = _kinds("ClassDef If With AsyncWith Try TryStar Match IfExp Lambda")
_BLOCKS = _FUNCTIONS + _LOOPS + _WITHIN + _kinds("ListComp SetComp DictComp GeneratorExp")
_DECISIONS = _LOOPS + _kinds("If IfExp ExceptHandler Assert match_case")
_ENDS = _kinds("Return Raise Break Continue")
_NOTHING = _DOCUMENTED + _kinds("Import ImportFrom Pass Global Nonlocal")
_CODE = _LOOPS + _kinds("FunctionDef AsyncFunctionDef ClassDef Import ImportFrom If Lambda")
_ACTS = _kinds("Call Await Yield YieldFrom NamedExpr")
_MODULES = (  # ways to run what is not in the tree
    *("builtins", "code", "codeop", "ctypes", "doctest", "importlib", "marshal", "multiprocessing"),
    *("pickle", "pty", "runpy", "subprocess", "timeit", "trace", "pdb", "cProfile", "profile"),
)
_NAMES = (
    *("exec", "eval", "compile", "__import__", "globals", "__builtins__", "sys.modules"),
    *(
        "os.system",
        "os.popen",
        "os.execv",
        "os.execvp",
        "types.FunctionType",
        "types.CodeType",
        ".__code__",
    ),
    *(".__globals__", ".__builtins__", ".__subclasses__"),
)
_is_lower = re.compile(r"_*[a-z\d][a-z\d_]*|_+").fullmatch
_is_class = re.compile(r"_*[A-Z][A-Za-z\d]*").fullmatch
_is_variable = re.compile(r"_*([a-z\d][a-z\d_]*|[A-Z\d][A-Z\d_]*|[A-Z][A-Za-z\d]*)|_+").fullmatch
_CONFUSED = frozenset("lOI")


def style_of(text: str) -> list[Any]:
    """The measures, as above."""
    tree = ast.parse(text)
    nodes = list(ast.walk(tree))
    documents = {id(node.body[0]) for node in nodes if _is_documented(node)}
    functions = [node for node in nodes if isinstance(node, _FUNCTIONS)]
    units = [list(_own(unit, documents)) for unit in (tree, *functions)]
    found = (
        _misnamed(nodes),
        (*_unreachable(nodes), *_left(nodes, documents), *_unused(tree, nodes, functions)),
        _dynamic(text, nodes),
    )
    return [
        sum(map(_does, nodes)),
        max(map(_length, units)),
        max(map(len, text.splitlines()), default=0),
        max(_depths(tree)),
        max(1 + sum(map(_decisions, unit)) for unit in units),
        *([list(item) for item in sorted(set(items))] for items in found),
        sorted(_defined(tree, documents)),
    ]


def _is_documented(node: Any) -> bool:
    return isinstance(node, _DOCUMENTED) and ast.get_docstring(node) is not None


def _does(node: Any) -> bool:
    """Whether it is a statement that does anything."""
    if isinstance(node, ast.Return):
        return not (node.value is None or _is_constant(node.value, (None, ...)))
    if isinstance(node, ast.Expr):
        return _acts(node)
    if isinstance(node, ast.Raise):
        return "NotImplementedError" not in ast.dump(node)
    return isinstance(node, ast.stmt) and not isinstance(node, _NOTHING)


def _acts(node: ast.AST) -> bool:
    return any(isinstance(part, _ACTS) for part in ast.walk(node))


def _own(unit: ast.AST, documents: set[int]) -> Iterator[ast.AST]:
    """The nodes of a function, or of the module, without those of the functions and docstrings in
    it.
    """
    todo = list(ast.iter_child_nodes(unit))
    while todo:
        node = todo.pop()
        if id(node) not in documents:
            yield node
            if not isinstance(node, _FUNCTIONS):
                todo += ast.iter_child_nodes(node)


def _length(unit: list[Any]) -> int:
    """Statements; expressions and texts that are long for them count as more."""
    letters = sum(len(node.value) for node in unit if _is_text(node))
    nodes = sum(isinstance(node, ast.expr) for node in unit)
    return max(
        sum(isinstance(node, ast.stmt) for node in unit), nodes // NODES + letters // LETTERS
    )


def _is_constant(node: ast.AST, values: tuple[Any, ...]) -> bool:
    return isinstance(node, ast.Constant) and any(node.value is value for value in values)


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes))


def _depths(tree: ast.AST) -> Iterator[int]:
    """How many blocks each node is in; ``elif`` is not inside of its ``if``."""
    todo = [(tree, 0)]
    while todo:
        node, depth = todo.pop()
        yield depth
        other = node.orelse if isinstance(node, ast.If) and len(node.orelse) == 1 else []
        for child in ast.iter_child_nodes(node):
            same = child in other and isinstance(child, ast.If)
            todo.append((child, depth + (isinstance(node, _BLOCKS) and not same)))


def _decisions(node: ast.AST) -> int:
    if isinstance(node, ast.BoolOp):
        return len(node.values) - 1
    if isinstance(node, ast.comprehension):
        return 1 + len(node.ifs)
    return isinstance(node, _DECISIONS)


def _misnamed(nodes: list[Any]) -> Iterator[tuple[str, int]]:
    """Names that are not written as PEP 8 has them."""
    for node in nodes:
        if isinstance(node, ast.ClassDef):
            name = node.name
            form = _is_class
        elif isinstance(node, (*_FUNCTIONS, ast.arg)):
            name = getattr(node, "name", None) or node.arg
            form = _is_lower
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            name = node.id
            form = _is_variable
        else:
            continue
        if form(name) is None or name in _CONFUSED:
            yield name, node.lineno


def _unreachable(nodes: list[Any]) -> Iterator[tuple[str, int]]:
    for node in nodes:
        for _, block in ast.iter_fields(node):
            parts = block if isinstance(block, list) else []
            for place, part in enumerate(parts[:-1]):
                if isinstance(part, _ENDS):
                    yield "unreachable", parts[place + 1].lineno
        endless = isinstance(node, ast.While) and _is_constant(node.test, (True, 1))
        if isinstance(getattr(node, "test", None), ast.Constant) and not endless:
            yield "a condition that is a constant", node.lineno


def _left(nodes: list[Any], documents: set[int]) -> Iterator[tuple[str, int]]:
    for node in nodes:
        left = isinstance(node, ast.Expr) and not _acts(node)
        if left and id(node) not in documents and not _is_constant(node.value, (...,)):
            yield "an unused value", node.lineno


def _unused(tree: Any, nodes: list[Any], functions: list[Any]) -> Iterator[tuple[str, int]]:
    """Imports, and variables of functions, that nothing reads."""
    read = _read(tree)
    for node in nodes:
        if isinstance(node, (ast.Import, ast.ImportFrom)) and _module(node) != "__future__":
            names = [(item.asname or item.name).partition(".")[0] for item in node.names]
            yield from ((f"unused import {n}", node.lineno) for n in names if n not in (*read, "*"))
    for function in functions:
        known = _read(function)
        for node in ast.walk(function):
            for target in _assigned(node):
                name = getattr(target, "id", "_")
                if name not in known and not name.startswith("_"):
                    known.add(name)
                    yield f"unused variable {name}", target.lineno


def _module(node: Any) -> Any:
    return getattr(node, "module", None)


def _assigned(node: Any) -> Any:
    if isinstance(node, ast.Assign):
        return node.targets
    return [node.target] if isinstance(node, (ast.AnnAssign, ast.AugAssign)) else []


def _read(tree: ast.AST) -> set[str]:
    """Names that are read in there, or belong to another scope; also by a text, as in
    ``__all__``.
    """
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            found.update(node.names)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            found.add(node.id)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.add(node.value)
    return found


def _dynamic(text: str, nodes: list[Any]) -> Iterator[tuple[str, int]]:
    """Ways to run what is not in the tree, and code in a text, which could be run from a file."""
    for node in nodes:
        if _is_text(node) and _is_code(node.value):
            yield "code in a text", node.lineno
    for found, known in zip(names_of(text), (_MODULES, _NAMES)):
        for name, line in found:
            if name in known or name.startswith(tuple([f"{other}." for other in known])):
                yield name, line


def _defined(tree: ast.AST, documents: set[int]) -> set[str]:
    """The names that the module binds; "" where it prints, or calls a method, which may do so."""
    found = {"" for node in ast.walk(tree) if _prints(node)}
    for node in _own(tree, documents):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, ast.alias):
            found.add(node.asname or node.name)
    return found


def _prints(node: Any) -> bool:
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Attribute)
    return isinstance(node, ast.Name) and node.id == "print"


def _is_code(value: Any) -> bool:
    try:
        return any(isinstance(node, _CODE) for node in ast.walk(ast.parse(value)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False


def serve() -> None:
    """Answer one request, ``[n, text]``."""
    answer(style_of)
