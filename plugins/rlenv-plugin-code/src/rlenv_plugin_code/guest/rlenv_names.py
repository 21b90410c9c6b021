"""What a Python source imports and uses, by its syntax tree.

It runs inside the sandbox, where the source is data.

A use is a name that is not bound inside a function, or attributes of one, as it was written in
full: after ``from os import system as s``, ``s`` is ``os.system``; after ``e = eval``, ``e`` is
``eval``.  Names that are put together when the program runs are not found: this is a limit on
honest programs, not a wall.
"""

from __future__ import annotations

import ast

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = ["names_of", "serve"]

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_SCOPES = (*_FUNCTIONS, ast.ClassDef)
_ROUNDS = 3  # aliases of aliases


def names_of(text: str) -> tuple[list[tuple[str, int]], list[tuple[str, int]]]:
    """(imports, uses), each as (dotted name, line)."""
    tree = ast.parse(text)
    names = _Names(tree)
    return sorted(names.imports), sorted(names.uses)


class _Names:
    def __init__(self, tree: ast.Module) -> None:
        self.imports: set[tuple[str, int]] = set()
        self.uses: set[tuple[str, int]] = set()
        self.alias: dict[str, set[str]] = {}  # what a name may stand for
        own = {n.name for n in tree.body if isinstance(n, (*_FUNCTIONS[:2], ast.ClassDef))}
        for node in ast.walk(tree):
            self._import(node)
        for _ in range(_ROUNDS):
            for node in ast.walk(tree):
                self._assign(node)
        self._visit(tree, frozenset(own))

    def _import(self, node: ast.AST) -> None:
        if isinstance(node, ast.Import):
            for item in node.names:
                self.imports.add((item.name, node.lineno))
                bound = item.asname or item.name.partition(".")[0]
                self._stands_for(bound, item.name if item.asname else bound)
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            self.imports.add((module, node.lineno))
            for item in node.names:
                self.imports.add((f"{module}.{item.name}", node.lineno))
                self._stands_for(item.asname or item.name, f"{module}.{item.name}")

    def _stands_for(self, name: str, what: str) -> None:
        known = self.alias.setdefault(name, set())
        if len(known) < 8:
            known.add(what)

    def _assign(self, node: ast.AST) -> None:
        targets: list[ast.expr] = []
        value: ast.expr | None = None
        if isinstance(node, ast.Assign):
            targets = node.targets
            value = node.value
        elif isinstance(node, (ast.AnnAssign, ast.NamedExpr)):
            targets = [node.target]
            value = node.value
        if isinstance(value, (ast.Name, ast.Attribute, ast.Call, ast.Subscript)):
            for target in targets:
                if isinstance(target, ast.Name):
                    for what in self._dotted(value):
                        if what != target.id:
                            self._stands_for(target.id, what)

    def _dotted(self, node: ast.expr) -> list[str]:
        """What an expression may stand for, as dotted names; none when it is something else."""
        tail: list[str] = []
        while isinstance(node, ast.Attribute):
            tail.append(node.attr)
            node = node.value
        rest = "".join(f".{name}" for name in reversed(tail))
        if isinstance(node, ast.Name):
            heads = list(self.alias.get(node.id, ())) or [node.id]
        elif isinstance(node, ast.Call):
            heads = self._called(node)
        elif isinstance(node, ast.Subscript):
            heads = self._item(node)
        else:
            heads = []
        return [_plain(head + rest) for head in heads]

    def _called(self, node: ast.Call) -> list[str]:
        """The module of ``__import__("os")``, the attribute of ``getattr(os, "system")``."""
        text = [a.value if isinstance(a, ast.Constant) else None for a in node.args]
        if not isinstance(node.func, (ast.Name, ast.Attribute)):
            return []
        for function in self._dotted(node.func):
            if function in ("__import__", "importlib.import_module", "importlib.__import__"):
                if text and isinstance(text[0], str):
                    return [text[0]]
            elif function == "getattr" and len(text) > 1 and isinstance(text[1], str):
                return [f"{owner}.{text[1]}" for owner in self._dotted(node.args[0])]
            elif function in ("globals", "vars") and not node.args:
                return ["builtins"]
        return []

    def _item(self, node: ast.Subscript) -> list[str]:
        """``__builtins__["eval"]`` is ``eval``."""
        key = node.slice
        if type(key).__name__ == "Index":  # before 3.9
            key = key.value  # type: ignore[attr-defined]
        if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
            return []
        owners = [f".{name}".replace(".__dict__", "")[1:] for name in self._dotted(node.value)]
        return [f"{name}.{key.value}" if name else key.value for name in owners]

    def _visit(self, tree: ast.AST, local: frozenset[str]) -> None:
        """Collect uses; ``local`` are the names that are bound where they stand."""
        todo: list[tuple[ast.AST, frozenset[str]]] = [(tree, local)]
        while todo:
            node, bound = todo.pop()
            if isinstance(node, _FUNCTIONS):
                bound = bound | _locals(node)
            if isinstance(node, (ast.Name, ast.Attribute, ast.Call, ast.Subscript)):
                self._use(node, bound)
            todo.extend((child, bound) for child in ast.iter_child_nodes(node))

    def _use(
        self, node: ast.Name | ast.Attribute | ast.Call | ast.Subscript, bound: frozenset[str]
    ) -> None:
        root: ast.expr = node
        while isinstance(root, (ast.Attribute, ast.Subscript)):
            root = root.value
        if isinstance(node, ast.Attribute):
            self.uses.add((f".{node.attr}", node.lineno))
        if isinstance(root, ast.Name) and root.id in bound and root.id not in self.alias:
            return
        for name in self._dotted(node):
            self.uses.add((name, node.lineno))
            if isinstance(node, ast.Call):
                self.imports.update(
                    (found, node.lineno) for found in self._called(node) if self._imports(node)
                )

    def _imports(self, node: ast.Call) -> bool:
        assert isinstance(node.func, (ast.Name, ast.Attribute))
        return any(
            name.endswith(("__import__", "import_module")) for name in self._dotted(node.func)
        )


def _plain(name: str) -> str:
    for prefix in ("builtins.", "__builtins__."):
        if name.startswith(prefix):
            return name[len(prefix) :]
    return name


def _locals(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> frozenset[str]:
    """The names that a function binds, those it declares global left out."""
    args = function.args
    found = {a.arg for a in (*args.posonlyargs, *args.args, *args.kwonlyargs)}
    found.update(a.arg for a in (args.vararg, args.kwarg) if a is not None)
    shared: set[str] = set()
    for node in _inside(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, ast.Global):
            shared.update(node.names)
    return frozenset(found - shared)


def _inside(function: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function's own scope."""
    todo = list(ast.iter_child_nodes(function))
    while todo:
        node = todo.pop()
        yield node
        if not isinstance(node, _SCOPES):
            todo.extend(ast.iter_child_nodes(node))


def answer(measure: Callable[[str], Sequence[object]]) -> None:
    """Answer one request, ``[n, text]``, with ``["ok", n, …]`` or ``["err", n, type, line,
    message]``.
    """
    from rlenv_codec import decode, encode
    from rlenv_guest import Link, make_room, what

    make_room()
    link = Link()
    n, text = decode(link.read())
    try:
        frame = encode(["ok", n, *measure(text)])
    except BaseException as err:  # noqa: BLE001 - whatever a parser raises
        frame = encode(["err", n, what(err), getattr(err, "lineno", None) or 0, ""])
    link.write(frame)


def serve() -> None:
    """Answer with the imports and uses."""
    answer(lambda text: [[list(item) for item in items] for items in names_of(text)])
