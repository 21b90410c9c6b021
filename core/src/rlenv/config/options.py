"""What a class can be built with: its options with types and defaults, read from the class itself."""

from __future__ import annotations

import inspect
import sys
from types import SimpleNamespace
from typing import Any, Literal, get_type_hints

from attrs import NOTHING, fields, frozen


@frozen
class Option:
    """One option of a class.

    Args:
        name: the keyword.
        kind: its type, ``Any`` where the class does not tell one.
        owner: the class.
        given: its default as declared: a value, an attrs Factory, or the mark of ``inspect`` or attrs that there is none.
        attribute: the attrs attribute, where it is one.
    """

    name: str
    kind: Any
    owner: Any
    given: Any
    attribute: Any = None

    @property
    def required(self) -> bool:
        return self.given is inspect.Parameter.empty or self.given is NOTHING


def options_of(cls: Any) -> tuple[tuple[Option, ...], bool]:
    """The options of a class, in order, and whether it takes others as well (``**kwargs``)."""
    try:
        parameters = list(inspect.signature(cls).parameters.values())
    except (TypeError, ValueError):
        return (), True
    own = getattr(cls, "__dict__", {})
    generated = "__attrs_attrs__" in own and not hasattr(cls, "__attrs_init__")
    attributes = {a.alias: a for a in fields(cls)} if generated else {}
    hints = _hints(cls if attributes else own.get("__init__", cls))
    found = []
    for p in parameters:
        a = attributes.get(p.name)
        kind = Any if a and a.converter else hints.get(a.name if a else p.name, Any)
        if choices := getattr(a and a.validator, "options", ()):  # of attrs.validators.in_
            kind = Literal[tuple(choices)]
        if p.kind in (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY):
            found.append(Option(p.name, kind, cls, a.default if a else p.default, a))
    return tuple(found), any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters)


def _hints(thing: Any) -> dict[str, Any]:
    """Resolved annotations; Any for those that only a type checker can resolve."""
    found: dict[str, Any] = {}
    for owner in reversed(getattr(thing, "__mro__", (thing,))):
        scope = vars(sys.modules.get(owner.__module__, sys))
        for name, annotation in getattr(owner, "__annotations__", {}).items():
            try:
                found |= get_type_hints(SimpleNamespace(__annotations__={name: annotation}), scope)
            except Exception:  # noqa: BLE001 - an annotation may name anything
                found[name] = Any
    return found
