"""What the names of a Python program stand for, as far as its text tells."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from attrs import frozen

from rlenv_plugin_constraints.lists import words
from rlenv_plugin_constraints.programs import Source, dotted

__all__ = ["Called", "Imported", "called", "dynamic", "handed_on", "imported", "matches", "starred"]

# What can reach any name without naming it.
_DYNAMIC_CALLS = words("dynamic_calls")
_DYNAMIC_MODULES = words("dynamic_modules")
_DYNAMIC_PATHS = words("dynamic_paths")
_DYNAMIC_ATTRIBUTES = words("dynamic_attributes")
_SAME = {"posix.": "os.", "nt.": "os.", "_io.": "io.", "builtins.": "", "__builtins__.": ""}
_SYS = frozenset(
    ("sys.modules", "sys._getframe", "sys.meta_path", "sys.settrace", "sys._current_frames")
)
_IMPORTS = frozenset((ast.Import, ast.ImportFrom))
_ASSIGN = frozenset((ast.Assign, ast.AnnAssign, ast.NamedExpr, ast.arguments))
_CALLS: frozenset[type] = frozenset((ast.Call,))
_NAMED = frozenset((ast.Name, ast.Attribute))
_USES = _CALLS | _NAMED


@frozen
class Imported:
    """One imported name: ``from a import b as c`` is module "a", path "a.b", bound "c"."""

    module: str
    path: str
    bound: str
    line: int
    relative: bool = False


@frozen
class Called:
    """Something that is called, or handed on to be called: its full path and its line."""

    path: str
    line: int


def imported(source: Source) -> list[Imported]:
    """Every import of the program, wherever it stands."""
    kept: list[Imported] | None = source.kept.get("imported")
    if kept is None:
        kept = source.kept["imported"] = _imported(source)
    return kept


def _imported(source: Source) -> list[Imported]:
    found: list[Imported] = []
    for node in [node for node in source.nodes if type(node) in _IMPORTS]:
        if isinstance(node, ast.Import):
            for alias in node.names:
                bound = alias.asname or alias.name.partition(".")[0]
                path = alias.name if alias.asname else bound
                found.append(Imported(alias.name, path, bound, node.lineno))
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            found += [
                Imported(
                    module, f"{module}.{a.name}", a.asname or a.name, node.lineno, node.level > 0
                )
                for a in node.names
            ]
    return found


def _aliases(source: Source) -> dict[str, set[str]]:
    """Name → the paths that it may stand for: imports and ``name = path`` anywhere, scopes taken
    together.
    """
    kept: dict[str, set[str]] | None = source.kept.get("aliases")
    if kept is None:
        kept = source.kept["aliases"] = _found_aliases(source)
    return kept


def _found_aliases(source: Source) -> dict[str, set[str]]:
    known: dict[str, set[str]] = {}
    for item in imported(source):
        known.setdefault(item.bound, set()).add(item.path)
    nodes = [node for node in source.nodes if type(node) in _ASSIGN]
    assigned = [pair for node in nodes for pair in _assigned(node)]
    for _ in range(4 if assigned else 0):  # a = eval; b = a; c = b; d = c
        for name, path in assigned:
            paths = known.setdefault(name, set())
            if len(paths) < 20:
                paths |= {full for full in _resolved(path, known) if full != name}
    return known


def _assigned(node: ast.AST) -> Iterator[tuple[str, str]]:
    targets: list[ast.expr] = []
    value: ast.expr | None = None
    if isinstance(node, ast.Assign):
        targets = node.targets
        value = node.value
    elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)):
        targets = [node.target]
        value = node.value
    elif isinstance(node, ast.arguments):
        yield from _defaults(node)
    for target in targets:
        yield from _paired(target, value)


def _defaults(node: ast.arguments) -> Iterator[tuple[str, str]]:
    positional = [*node.posonlyargs, *node.args]
    pairs = [
        *zip(reversed(positional), reversed(node.defaults), strict=False),
        *zip(node.kwonlyargs, node.kw_defaults, strict=True),
    ]
    for argument, default in pairs:
        if default is not None and (path := dotted(default)):
            yield argument.arg, path


def _paired(target: ast.AST, value: ast.AST | None) -> Iterator[tuple[str, str]]:
    if isinstance(target, (ast.Tuple, ast.List)) and isinstance(value, (ast.Tuple, ast.List)):
        for one, other in zip(target.elts, value.elts, strict=False):
            yield from _paired(one, other)
    elif value is not None:
        name = target.id if isinstance(target, ast.Name) else ""
        for path in [dotted(value), *_choices(value)]:
            if name and path:
                yield name, path


def _choices(value: ast.AST) -> Iterator[str]:
    """The names that ``a or b`` and ``a if c else b`` may give."""
    if isinstance(value, ast.BoolOp):
        yield from filter(None, map(dotted, value.values))
    elif isinstance(value, ast.IfExp):
        yield from filter(None, (dotted(value.body), dotted(value.orelse)))


def _resolved(path: str, known: dict[str, set[str]]) -> set[str]:
    head, dot, rest = path.partition(".")
    paths = {f"{full}{dot}{rest}" for full in known.get(head, ())} or {path}
    return {_usual(p) for p in paths}


def _usual(path: str) -> str:
    """The name that a person would forbid it by."""
    for other, usual in _SAME.items():
        if path.startswith(other):
            path = usual + path.removeprefix(other)
    return "open" if path == "io.open" else path


def called(source: Source, *, uses: bool = False) -> list[Called]:
    """What the program calls, aliases resolved; a name that may be several things is each of them.

    Args:
        source: a program with a tree.
        uses: count every mention of a name too (``map(eval, …)``, a decorator, a default).
    """
    kept: list[Called] | None = source.kept.get(f"called {uses}")
    if kept is None:
        kept = source.kept[f"called {uses}"] = _called(source, _USES if uses else _CALLS)
    return kept


def _called(source: Source, kinds: frozenset[type]) -> list[Called]:
    known = _aliases(source)
    full: dict[str, list[str]] = {}  # path → what it may be
    found: list[Called] = []
    for node in [node for node in source.nodes if type(node) in kinds]:
        if isinstance(node, ast.Call):
            path = dotted(node.func) or (
                f"*.{node.func.attr}" if isinstance(node.func, ast.Attribute) else "*"
            )
        elif isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load):
            path = dotted(node)
        else:
            continue
        if not path:
            continue
        if path not in full:
            full[path] = sorted(_resolved(path, known))
        found += [Called(name, node.lineno) for name in full[path]]
    return found


def dynamic(source: Source) -> list[Called]:
    """Ways to reach a name without naming it, which no reading of the text can follow."""
    found = [
        Called(item.path, item.line)
        for item in imported(source)
        if item.module.split(".")[0]
        in _DYNAMIC_MODULES - {"sys", "types", "operator", "inspect", "gc", "pickle"}
        or item.path in _SYS
        or item.path
        in ("operator.attrgetter", "operator.methodcaller", "types.FunctionType", "types.CodeType")
    ]
    calls = called(source, uses=True)
    reaching = {path for path in {call.path for call in calls} if _reaches(path)}
    found += [call for call in calls if call.path in reaching] if reaching else []
    for node in [node for node in source.nodes if type(node) in _NAMED]:
        if isinstance(node, ast.Attribute) and node.attr in _DYNAMIC_ATTRIBUTES:
            found.append(Called(f"*.{node.attr}", node.lineno))
        elif isinstance(node, ast.Name) and node.id in ("__builtins__", "__loader__", "__spec__"):
            found.append(Called(node.id, node.lineno))
    return found


def _reaches(path: str) -> bool:
    """Whether what is called can reach any name without naming it."""
    return (
        path in _DYNAMIC_CALLS
        or path in _DYNAMIC_PATHS
        or path.rpartition(".")[2] == "__import__"
        or any(path == name or path.startswith(f"{name}.") for name in _SYS)
    )


def handed_on(source: Source, names: Iterable[str]) -> list[Called]:
    """Modules that hold one of ``names`` and are used as a value, so that any name may stand for
    them.
    """
    holders = {name.rpartition(".")[0] for name in names} - {""}
    if not holders:
        return []
    known = _aliases(source)
    bases = {id(node.value) for node in source.nodes if isinstance(node, ast.Attribute)}
    return [
        Called(node.id, node.lineno)
        for node in source.nodes
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and id(node) not in bases
        if holders & known.get(node.id, set())
    ]


def starred(source: Source, names: Iterable[str]) -> list[Called]:
    """``from module import *`` where the module holds one of ``names``."""
    holders = {_usual(f"{name.rpartition('.')[0]}.") for name in names}
    return [
        Called(item.path, item.line)
        for item in imported(source)
        if item.path.endswith(".*") and _usual(item.path.removesuffix("*")) in holders | {""}
    ]


def matches(path: str, names: Iterable[str]) -> str | None:
    """The one of ``names`` that a path is or lies within.

    "os" holds "os.path.join", ".read" is any method of that name, "os.system" is also
    "shutil.os.system".
    """
    for name in names:
        if path == name or path.startswith(f"{name}."):
            return name
        if "." in name and (path.endswith(name if name[0] == "." else f".{name}")):
            return name
    return None
