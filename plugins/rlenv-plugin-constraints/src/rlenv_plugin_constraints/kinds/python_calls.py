"""What a Python program imports and calls, as far as its text tells."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, ClassVar, Literal

from attrs import field, frozen
from rlenv import ConfigError
from rlenv.authoring import Safe

from rlenv_plugin_constraints.constraint import Finding
from rlenv_plugin_constraints.names import (
    Called,
    called,
    dynamic,
    handed_on,
    imported,
    matches,
    starred,
)
from rlenv_plugin_constraints.programs import Source, parsed, refused
from rlenv_plugin_constraints.text import Text

__all__ = ["Calls", "Imports"]

_PATH = re.compile(r"\.?[^\W\d]\w*(?:\.[^\W\d]\w*)*\Z")


def _paths(_: Any, __: Any, value: tuple[str, ...]) -> None:
    for path in value:
        if not _PATH.match(path):
            raise ConfigError(
                f'{path!r} is no dotted name, such as "os.system", "eval" or ".append" for any'
                " method"
            )


def _either(allow: tuple[str, ...], forbid: tuple[str, ...]) -> None:
    if not allow and not forbid:
        raise ConfigError("give allow, forbid or both")
    if both := sorted(set(allow) & set(forbid)):
        raise ConfigError(f"{both[0]!r} is both allowed and forbidden")


def _finding(source: Source, odd: list[Called], wanted: Any) -> Finding:
    names = sorted({call.path for call in odd})
    note = f"with {', '.join(names)[:200]}" if names else ""
    return Finding(not odd, names, wanted, source.spans([call.line for call in odd]), note)


@frozen
class Imports:
    """The program imports only what is allowed, and nothing that is forbidden.

    "os" holds "os.path".

    Only the text is read: what a library imports in turn is not seen.

    Args:
        allow: the only modules; () allows all that is not forbidden.
        forbid: modules, or names in them ("os.system").
        dynamic: "forbid" refuses what can import without an import (``__import__``, ``importlib``,
            ``exec``, ``getattr`` and the like), since no reading of the text can tell what it
            imports.
    """

    kind: ClassVar[str] = "python_imports"
    is_answer: ClassVar[bool] = True
    allow: Safe[tuple[str, ...]] = field(default=(), validator=_paths)
    forbid: Safe[tuple[str, ...]] = field(default=(), validator=_paths)
    dynamic: Literal["forbid", "allow"] = "forbid"

    def __attrs_post_init__(self) -> None:
        _either(self.allow, self.forbid)

    def check(self, text: Text) -> Finding:
        wanted = {"allow": list(self.allow), "forbid": list(self.forbid)}
        source = parsed(text)
        if source.tree is None:
            return refused(source, wanted)
        odd = []
        for item in imported(source):
            full = item.path if item.path.startswith(item.module) else item.module
            outside = self.allow and (item.relative or not matches(full, self.allow))
            if outside or matches(full, self.forbid):
                odd.append(Called(full, item.line))
        within = [name for name in self.forbid if "." in name]
        odd += _matching(called(source, uses=True), within) if within else []
        odd += starred(source, within)
        if self.dynamic == "forbid":
            odd += handed_on(source, within)
            odd += [call for call in dynamic(source) if not matches(call.path, self.allow)]
        return _finding(source, odd, wanted)


@frozen
class Calls:
    """The program calls only what is allowed, and nothing that is forbidden, under whatever name.

    Aliases (``from os import system as s``, ``f = eval``) are followed, and a forbidden name that
    is handed on (``map(eval, …)``) counts as called.  Only the text is read: what a function of a
    library or an object that came from elsewhere calls in turn is not seen.

    Args:
        allow: the only calls: "len", "math.sqrt", ".append" for a method of whatever object; the
            program's own functions and classes are always allowed.  () allows all that is not
            forbidden.
        forbid: what may not be called: "eval", "os.system", "subprocess" for all of it, ".sort".
        dynamic: "forbid" refuses what can call without a name (``eval``, ``getattr``, ``__dict__``
            and the like), since no reading of the text can tell what it calls.
    """

    kind: ClassVar[str] = "python_calls"
    is_answer: ClassVar[bool] = True
    allow: Safe[tuple[str, ...]] = field(default=(), validator=_paths)
    forbid: Safe[tuple[str, ...]] = field(default=(), validator=_paths)
    dynamic: Literal["forbid", "allow"] = "forbid"

    def __attrs_post_init__(self) -> None:
        _either(self.allow, self.forbid)

    def check(self, text: Text) -> Finding:
        wanted = {"allow": list(self.allow), "forbid": list(self.forbid)}
        source = parsed(text)
        if source.tree is None:
            return refused(source, wanted)
        odd = _matching(called(source, uses=True), self.forbid)
        if self.allow:
            own = own_names(source)
            odd += [
                c for c in called(source) if not matches(c.path, self.allow) and c.path not in own
            ]
        odd += starred(source, self.forbid)
        if self.dynamic == "forbid":
            odd += handed_on(source, self.forbid)
            odd += [call for call in dynamic(source) if not matches(call.path, self.allow)]
        return _finding(source, odd, wanted)


def _matching(calls: list[Called], names: Sequence[str]) -> list[Called]:
    """Those that are, or lie within, one of ``names``."""
    among = {path for path in {call.path for call in calls} if matches(path, names)}
    return [call for call in calls if call.path in among] if among else []


def own_names(source: Source) -> set[str]:
    """The functions and classes that the program defines, and its methods as ``self.name``."""
    import ast

    own: set[str] = set()
    for node in source.nodes:
        if isinstance(node, ast.ClassDef):
            own.add(node.name)
            methods = [
                n.name for n in node.body if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))
            ]
            own |= {f"{before}.{name}" for name in methods for before in ("self", "cls", node.name)}
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            own.add(node.name)
    rebound = {
        node.id
        for node in source.nodes
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    return own - rebound
