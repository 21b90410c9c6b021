"""No `Any` in the signatures that plugins and users build on, aliases and generated constructors
included.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from inspect import getsource, isclass, isfunction
from types import ModuleType
from typing import Any, get_args, get_type_hints

import pytest
from attrs import frozen

MODULES = (
    "rlenv", "rlenv.authoring", "rlenv.hooks", "rlenv.sandbox", "rlenv.steps", "rlenv.text",
    "rlenv.workers",
    "rlenv_cli.console", "rlenv_cli.scores", "rlenv_cli.tickets", "rlenv_testing",
)  # fmt: skip


def names_of(module: ModuleType) -> dict[str, object]:
    """What a module defines, with what it imports for type checkers alone."""
    names = dict(vars(module))
    for node in ast.parse(getsource(module)).body:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            exec(compile(ast.Module(node.body, []), module.__name__, "exec"), names)
    return names


def public(module: ModuleType) -> list[str]:
    """Its `__all__`, else what it defines itself."""
    own = [
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", "") == module.__name__
    ]
    return list(getattr(module, "__all__", own))


def members(name: str, value: object) -> Iterator[tuple[str, Any]]:
    """A function or class, and the public methods of the class, those of its bases in rlenv
    included.
    """
    if isclass(value) or isfunction(value):
        yield name, value
    for base in value.__mro__ if isclass(value) else ():
        for key, member in vars(base).items():
            inner = (getattr(member, name, None) for name in ("__func__", "fget", "func"))
            plain = next(filter(isfunction, inner), member)
            is_public = not key.startswith("_") or key in ("__init__", "__call__")
            if base.__module__ != "builtins" and is_public and isfunction(plain):
                yield f"{name}.{key}", plain


def has_any(hint: object) -> bool:
    args = get_args(hint)
    return (
        hint is Any
        or any(map(has_any, args))
        or (isinstance(hint, list) and any(map(has_any, hint)))
    )


def in_which(name: str, value: object) -> Iterator[str]:
    """The parameters, attributes and results that are, or hold, `Any`."""
    if has_any(value):
        yield name
    for path, member in members(name, value):
        hints = get_type_hints(member, names_of(sys.modules[member.__module__]))
        yield from [f"{path}: {key}" for key in hints if key[0] != "_" and has_any(hints[key])]


def with_any(module: str) -> Iterator[str]:
    home = import_module(module)
    for name in public(home):
        yield from in_which(name, getattr(home, name))


Rows = list[dict[str, Any]]


@frozen
class Holder:
    rows: Rows
    size: int = 0

    def each(self, most: int, /) -> Callable[[Rows], None]:
        raise NotImplementedError

    @property
    def first(self) -> Any:
        return self.rows[0]

    def _own(self) -> Any:
        return self.rows


def test_the_search_finds_any_wherever_it_is() -> None:
    found = {"Holder: rows", "Holder.__init__: rows", "Holder.each: return", "Holder.first: return"}

    assert set(in_which("Holder", Holder)) == found


@pytest.mark.parametrize("module", MODULES)
def test_no_public_signature_has_any(module: str) -> None:
    assert list(with_any(module)) == []
