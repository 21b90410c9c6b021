"""The JSON Schema of a function's parameters, from its annotations and its Google docstring."""

from __future__ import annotations

import inspect
import re
import types
from collections.abc import Callable, Mapping, Sequence
from typing import (
    Annotated,
    Literal,
    NotRequired,
    Required,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from rlenv import ConfigError

from .context import ToolContext

Schema = dict[str, object]
PLAIN: dict[object, str] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    type(None): "null",
}
LISTS = (list, Sequence)
TABLES = (dict, Mapping)
UNIONS = (Union, types.UnionType)
MARKS = (Required, NotRequired)
NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
SECTION = re.compile(r"^(Args|Arguments|Parameters):\s*$", re.MULTILINE)
ENTRY = re.compile(r"^ {1,8}(\w+)(?: \([^)]*\))?: *(.*(?:\n {5,}\S.*)*)", re.MULTILINE)


def parameters(function: Callable[..., object]) -> Schema:
    """Return a JSON Schema of an object with the function's parameters; no others are allowed.

    Raises:
        ConfigError: for a parameter without an annotation, or with one that JSON has no type for.
    """
    hints = hints_of(function)
    told = parameter_docs(function)
    found = dict[str, object]()
    required = list[str]()
    for parameter in inspect.signature(function).parameters.values():
        name = parameter.name
        if hints.get(name) is ToolContext:
            continue
        if parameter.kind not in NAMED:
            raise ConfigError(f"{parameter}: a tool takes named parameters; give each a name")
        if name not in hints:
            raise ConfigError(f"{name}: no annotation; write {name}: str, or what it is")
        found[name] = _schema(hints[name], name) | _notes(told.get(name), parameter.default)
        if parameter.default is parameter.empty:
            required.append(name)
    return _object(found, required)


def _notes(description: str | None, default: object) -> Schema:
    made: Schema = {} if description is None else {"description": description}
    shown = default is None or isinstance(default, (str, int, float, bool, list, dict))
    return made | {"default": default} if shown else made


def _object(properties: Schema, required: list[str]) -> Schema:
    made: Schema = {"type": "object", "properties": properties, "required": required}
    return made | {"additionalProperties": False}


def hints_of(function: Callable[..., object]) -> dict[str, object]:
    """Return the annotations of a function, or of the ``__call__`` of an object.

    Raises:
        ConfigError: where one names what is not there.
    """
    plain = inspect.isroutine(function)
    try:
        return get_type_hints(function if plain else type(function).__call__, include_extras=True)
    except Exception as error:
        remedy = "import what they name, not only for type checkers"
        raise ConfigError(f"the annotations cannot be resolved: {error}; {remedy}") from error


def context_of(function: Callable[..., object]) -> str:
    """Return the name of the parameter that is given the ``ToolContext``, or ""."""
    return next((name for name, hint in hints_of(function).items() if hint is ToolContext), "")


def summary(function: Callable[..., object]) -> str:
    """Return what the docstring says before its sections."""
    text = inspect.getdoc(function) or ""
    return re.split(r"^\w+:\s*$", text, maxsplit=1, flags=re.MULTILINE)[0].strip()


def parameter_docs(thing: object) -> dict[str, str]:
    """Return what the section ``Args:`` of the docstring says of each parameter."""
    parts = SECTION.split(inspect.getdoc(thing) or "", maxsplit=1)
    section = re.split(r"^\S", parts[-1], maxsplit=1, flags=re.MULTILINE)[0] if parts[1:] else ""
    return {name: " ".join(text.split()) for name, text in ENTRY.findall(section)}


def _schema(hint: object, name: str) -> Schema:
    origin = get_origin(hint) or hint
    args = get_args(hint)
    if hint in PLAIN:
        return {"type": PLAIN[hint]}
    if hint is object:
        return {}
    if origin is Annotated:
        return _schema(args[0], name) | _notes(
            next((each for each in args[1:] if isinstance(each, str)), None),
            inspect.Parameter.empty,
        )
    if origin in MARKS:
        return _schema(args[0], name)
    if origin is Literal:
        return {"enum": [*args]}
    if origin in UNIONS:
        return {"anyOf": [_schema(arm, name) for arm in args]}
    if origin in LISTS and args:
        return {"type": "array", "items": _schema(args[0], name)}
    if is_typeddict(hint):
        return _typed_dict(hint, name)
    if origin in TABLES and (not args or args[0] is str):
        inner: Schema = {"additionalProperties": _schema(args[1], name)} if args else {}
        return {"type": "object"} | inner
    wanted = (
        "str, int, float, bool, None, Literal, list[...], dict[str, ...], TypedDict and unions of"
        " these"
    )
    raise ConfigError(f"{name}: {hint} is not a type of JSON; a tool takes {wanted}")


def _typed_dict(kind: object, name: str) -> Schema:
    told = parameter_docs(kind)
    hints = get_type_hints(kind, include_extras=True)
    notes = {key: _notes(told.get(key), inspect.Parameter.empty) for key in hints}
    found = {key: _schema(hint, f"{name}.{key}") | notes[key] for key, hint in hints.items()}
    total = Required if getattr(kind, "__total__", True) else NotRequired
    # `__required_keys__` misreads deferred annotations.
    kinds = {key: get_origin(hint) for key, hint in hints.items()}
    needed = [key for key, each in kinds.items() if (each if each in MARKS else total) is Required]
    return _object(dict(found), needed)
