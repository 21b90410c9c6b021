"""Reads the options of classes, and fits plain values, as TOML and JSON have them, to their types;
strict.

A string is not a number, true is not 1, and every misfit is noted with its path.  Types beyond
those of TOML (enums, paths, dates, typed dicts) are left to cattrs, which is imported only then.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from enum import Enum
from itertools import repeat
from math import isfinite
from types import SimpleNamespace, UnionType
from typing import Any, Literal, TypeGuard, TypeVar, Union, get_args, get_origin, get_type_hints

from attrs import NOTHING, fields, frozen, has

from rlenv.model.errors import ConfigError, masked
from rlenv.model.messages import nearest, suggest

from .files import File
from .marks import KEY, split_mark
from .problems import BAD, Problems, Table, at, show
from .tables import StageTables

T = TypeVar("T")
_LISTS: dict[object, Callable[[Iterable[object]], object]] = {
    list: list, Sequence: tuple, Iterable: tuple, Collection: tuple, tuple: tuple, set: set,
    frozenset: frozenset, AbstractSet: frozenset,
}  # fmt: skip
_TABLES = (dict, Mapping)
_UNIONS = (Union, UnionType)
_WORDS: dict[object, str] = {
    str: "a string", int: "an integer", float: "a number", bool: "true or false",
    type(None): "nothing", None: "nothing", File: "the path of a file",
    StageTables: "a list of tables", Any: "a value", object: "a value",
    Callable: "a function, as package.module:name or ./file.py:name",
}  # fmt: skip


def fit(value: object, kind: object, path: str, problems: Problems) -> object:
    """``value`` as ``kind``, or BAD after noting why not."""
    kind, _ = split_mark(getattr(kind, "__supertype__", kind))  # of a NewType
    origin = get_origin(kind) or kind
    if origin in (Any, object) or isinstance(kind, TypeVar):
        return value
    if origin in _UNIONS:
        return _union(value, kind, path, problems)
    if _is_record(kind):
        return build(kind, value, path, problems)
    try:
        if origin in _LISTS or origin in _TABLES:
            return _items(value, kind, path, problems)
        return _leaf(value, kind, problems)
    except ConfigError as error:
        problems.error(path, error)
        return BAD
    except Exception:  # noqa: BLE001 - a type may raise anything for a value that does not fit
        return _misfit(value, kind, path, problems)


def _union(value: object, kind: object, path: str, problems: Problems) -> object:
    deepest: list[tuple[str, str]] = []
    for arm in get_args(kind):
        trial = Problems(base=problems.base, code=problems.code)
        trial.origins = problems.origins
        fitted = fit(value, arm, path, trial)
        if not trial.found:
            return fitted
        is_reference = (get_origin(arm) or arm) is Callable and ":" in str(value)
        if is_reference or all(where != path for where, _ in trial.found):
            deepest = deepest or trial.found  # the container is right, something in it is not
    problems.found += deepest
    return BAD if deepest else _misfit(value, kind, path, problems)


def _items(value: Any, kind: object, path: str, problems: Problems) -> object:
    """A table or list with each of its values fitted; raises where it is neither, or cannot be what
    it should.
    """
    origin = get_origin(kind) or kind
    args = get_args(kind) or (Any, Any)
    if origin in _TABLES:
        rows = [(at(path, str(key)), item, args[1]) for key, item in value.items()]
    elif isinstance(value, (list, tuple)):
        kinds = args if _is_fixed(kind) else repeat(args[0], len(value))
        rows = [(f"{path}[{i}]", *row) for i, row in enumerate(zip(value, kinds, strict=True))]
    else:
        raise TypeError
    items = [fit(item, inner, where, problems) for where, item, inner in rows]
    if any(item is BAD for item in items):
        return BAD
    return _LISTS[origin](items) if origin in _LISTS else dict(zip(value, items, strict=True))


def _leaf(value: Any, kind: Any, problems: Problems) -> object:
    """A value of its own; raises where it does not fit."""
    if get_origin(kind) is Literal:
        return next(v for v in get_args(kind) if v == value and type(v) is type(value))
    if (get_origin(kind) or kind) is Callable and type(value) is str:
        if callable(found := problems.refer(value)):
            return found
        raise TypeError
    if kind is File and type(value) is str:
        return File(value, problems.base)
    if kind is StageTables and _are_tables(value):
        return StageTables(value, problems.base, code=problems.code)
    if kind is float and type(value) is int:
        value = float(value)
    if kind not in _WORDS:
        import cattrs

        return cattrs.structure(value, kind)
    wanted: Any = type(None) if kind is None else kind
    if type(value) is not wanted or (wanted is float and not isfinite(value)):
        raise TypeError
    return value


def _are_tables(value: object) -> bool:
    return isinstance(value, (list, tuple)) and all(isinstance(it, Mapping) for it in value)


def _misfit(value: object, kind: object, path: str, problems: Problems) -> object:
    named = map(str, get_args(kind)) if get_origin(kind) is Literal else ()
    hint = f'; did you mean "{near}"?' if (near := nearest(str(value), named)) else ""
    wanted = describe(kind)
    if wanted == "a list of tables" and isinstance(value, Mapping) and value:
        hint = "; in TOML such a list is written [[in double brackets]]"
    problems.add(path, f"expected {wanted}, got {show(value)}{hint}")
    return BAD


def build(
    cls: Callable[..., T], value: object, path: str, problems: Problems, **given: object
) -> T:
    """An object of ``cls`` made of a table.

    Where something is wrong, every mistake is noted and this is a mark.

    Args:
        cls: an attrs class, a dataclass, or any class whose constructor has annotated parameters.
        value: the table; its keys are the names of parameters.
        path: where the table is, for messages.
        problems: what takes the mistakes; ``problems.check()`` raises them.
        given: options from elsewhere, which the table cannot set; None for one that could not be
            had.
    """
    if not isinstance(value, Mapping):
        _misfit(value, cls, path, problems)
        return BAD
    options, open_ended = options_of(cls)
    known = {option.name: option for option in options if option.name not in given}
    unknown = [key for key in value if key not in known and (key in given or not open_ended)]
    fitted = {**{key: value[key] for key in value if key not in unknown}, **given}
    before = len(problems.found)
    others = [key for key in value if key not in known and key not in unknown]
    for key in others if not problems.code else ():
        check_written(Option(str(key), Any, cls, NOTHING), value[key], at(path, str(key)), problems)
    for option in known.values():
        where = at(path, option.name)
        if option.name in value:
            fitted[option.name] = _checked(option, value[option.name], where, problems)
        elif option.required:
            problems.add(where, f"required, and missing; expected {describe(option.kind)}")
    for key in unknown:
        hint = suggest(str(key), known, what="valid keys are") or "it takes none"
        if "options" in known and not hint.startswith("did"):
            hint += "; options of the stage itself go into options = { ... }"
        problems.add(at(path, str(key)), f"unknown key; {hint}")
    if len(problems.found) > before + len(unknown) or None in given.values():
        return BAD
    made = construct(cls, fitted, path, problems)
    return BAD if unknown else made  # built all the same, for what else it rejects


def _checked(option: Option, written: object, path: str, problems: Problems) -> object:
    """One option's value; its attrs validator runs by itself, so that one refusal does not hide
    another.
    """
    if not check_written(option, written, path, problems):
        return BAD
    value = fit(written, option.kind, path, problems)
    attribute = option.attribute
    if value is BAD or attribute is None or attribute.validator is None:
        return value
    try:
        converted = attribute.converter(value) if attribute.converter else value
        with suppress(AttributeError, NameError):  # it looks at others: the constructor decides
            attribute.validator(object.__new__(option.owner), attribute, converted)
    except Exception as error:  # noqa: BLE001 - whatever a validator raises is a refusal
        _rejected(error, path, written, problems)
    return value


def check_options(source: object, written: Table, path: str, problems: Problems) -> None:
    """Note what a stranger may not give to a function that takes options, such as a source of
    tasks.
    """
    known = {option.name: option for option in options_of(source)[0]}
    for key, value in written.items() if not problems.code else ():
        option = known.get(key) or Option(key, Any, source, NOTHING)
        check_written(option, value, at(path, key), problems)


def check_written(option: Option, written: object, path: str, problems: Problems) -> bool:
    """Whether the option may be set; what a stranger may not set is noted."""
    if problems.code:
        return True
    from .safety import Written, check_option

    is_converted = option.attribute is not None and option.attribute.converter is not None
    told = Written(
        value=written,
        kind=option.declared,
        safe=option.safe,
        default=option.given,
        owner=option.owner,
        is_built=not is_converted,
    )
    return check_option(told, path, problems)


def construct(
    cls: Callable[..., T], options: dict[str, object], path: str, problems: Problems
) -> T:
    """``cls(**options)``, or BAD after noting what the constructor rejects."""
    try:
        return cls(**options)
    except ConfigError as error:
        problems.error(path, error)
    except Exception as error:  # noqa: BLE001 - whatever a constructor raises is a refusal
        quoted = next((name for name in options if f"'{name}'" in str(error)), None)
        where, value = (path, BAD) if quoted is None else (at(path, quoted), options[quoted])
        _rejected(error, where, value, problems)
    return BAD


def _rejected(error: Exception, path: str, value: object, problems: Problems) -> None:
    reason = error.args[0] if error.args and isinstance(error.args[0], str) else str(error)
    reason = " ".join(masked(reason).split()) or type(error).__name__
    problems.add(path, reason if value is BAD else f"{show(value)} is rejected: {reason}")


def _is_fixed(kind: object) -> bool:
    """Whether this is a tuple of so many items."""
    return get_origin(kind) is tuple and Ellipsis not in get_args(kind)


def _is_record(kind: object) -> TypeGuard[type]:
    return isinstance(kind, type) and (has(kind) or hasattr(kind, "__dataclass_fields__"))


def describe(kind: object) -> str:
    """A type in plain words: "a list of strings", "one of "a", "b"", "an integer"."""
    kind, _ = split_mark(kind)
    origin = get_origin(kind) or kind
    args = get_args(kind)
    if isinstance(kind, type) and issubclass(kind, Enum):
        origin = Literal
        args = tuple(item.value for item in kind)
    if origin is Literal:
        return f"one of {', '.join(map(show, args))}"
    if origin in _UNIONS:
        return " or ".join(describe(arg) for arg in args if arg is not type(None))
    if _is_fixed(kind):
        return f"a list of {len(args)}"
    if origin in _LISTS:
        item = describe(args[0]) if args else "a value"
        return "a list of " + re.sub(r"^an? ([a-z]+)$", r"\1s", item)
    if origin in _TABLES or _is_record(kind):
        return "a table"
    return _WORDS.get(origin, getattr(kind, "__name__", str(kind)))


@frozen
class Option:
    """One option of a class.

    Args:
        name: the keyword.
        kind: its type, ``Any`` where the class does not tell one.
        owner: the class.
        given: its default as declared: a value, an attrs Factory, or the mark of ``inspect`` or
            attrs that there is none.
        attribute: the attrs attribute, where it is one.
        declared: its type as annotated, also where a converter takes other types.
        safe: its mark, as ``rlenv.config.marks`` has them; None without one.
    """

    name: str
    kind: object
    owner: Any
    given: Any
    attribute: Any = None
    declared: object = Any
    safe: bool | tuple[object, ...] | None = None

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
        declared, mark = split_mark(hints.get(a.name if a else p.name, Any))
        safe = (a.metadata if a else {}).get(KEY, mark and mark.safe)
        if choices := getattr(a and a.validator, "options", ()):  # of attrs.validators.in_
            declared = Literal[tuple(choices)]
        kind = Any if a and a.converter and not choices else declared
        if p.kind in (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY):
            default = a.default if a else p.default
            found.append(
                Option(
                    name=p.name,
                    kind=kind,
                    owner=cls,
                    given=default,
                    attribute=a,
                    declared=declared,
                    safe=safe,
                )
            )
    return tuple(found), any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters)


def _hints(thing: object) -> dict[str, object]:
    """Resolved annotations; Any for those that only a type checker can resolve."""
    found: dict[str, object] = {}
    for owner in reversed(getattr(thing, "__mro__", (thing,))):
        scope = vars(sys.modules.get(owner.__module__, sys))
        for name, annotation in getattr(owner, "__annotations__", {}).items():
            found[name] = Any
            with suppress(Exception):  # an annotation may name anything
                found |= get_type_hints(
                    SimpleNamespace(__annotations__={name: annotation}), scope, include_extras=True
                )
    return found
