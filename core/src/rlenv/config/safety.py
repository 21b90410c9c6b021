"""Which options a stranger's env.toml may set: what ``code=False`` rejects.

Numbers, true and false, dates, enums and literals reach nothing outside, unless their field is
marked.  A text may be a host, a file, a variable or a module, so it needs the mark ``Safe``; so
does a value of any type. A ``File`` has to be inside the folder of the env.toml.  What the caller
sets with ``set_options`` is not judged.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from itertools import chain, repeat
from pathlib import Path
from types import UnionType
from typing import Any, Literal, TypeAlias, Union, get_args, get_origin

from attrs import Factory, frozen, has

from .files import File
from .marks import split_mark
from .problems import Problems, at, show

_HARMLESS = (bool, int, float, complex, type(None), date, time, timedelta, Decimal, Fraction)
_LISTS = (list, tuple, set, frozenset, Sequence, Iterable, Collection, AbstractSet)
_TABLES = (dict, Mapping)
_UNIONS = (Union, UnionType)
_MOST = 100_000  # entries of a folder that are looked at for links
_OUTSIDE = "a host, a file, a variable, a module or weaker isolation"
_UNMARKED = "unmarked"
_Found: TypeAlias = tuple[str, object, str]
_FACTORY: Any = Factory  # a class, which attrs types as a function
_OPTION = re.compile(r"(^|\.)stage\[\d+\]\.options\.")


@frozen
class Written:
    """One option as an env.toml has it.

    Args:
        value: what is written there.
        kind: the type of the option.
        safe: its mark; None where it has none.
        default: what it is where nothing sets it; to write just that is harmless.
        owner: the class or function that takes it, for messages.
        is_built: whether tables in it are built field by field, so that each field is judged; not
            where a converter takes them as they are.
    """

    value: object
    kind: object
    safe: bool | tuple[object, ...] | None = None
    default: object = object
    owner: object = None
    is_built: bool = True


def check_option(option: Written, path: str, problems: Problems) -> bool:
    """Whether the option may be set.

    Where a stranger may not set it, that is noted, with its path.
    """
    if problems.code or problems.origin(path) or _is_default(option):
        return True
    before = len(problems.found)
    if isinstance(option.safe, tuple):
        if option.value not in option.safe:
            allowed = " or ".join(map(show, option.safe))
            _reject(option.value, f"only {allowed} may be set", path, problems)
    elif option.safe is False:
        _reject(option.value, f"this can reach outside, as {_OUTSIDE} does", path, problems)
    else:
        for where, value, why in _reaching(option, path, problems):
            _reject(value, why, where, problems)
    return len(problems.found) == before


def _reject(value: object, why: str, path: str, problems: Problems) -> None:
    remedy = "remove it, or load the file without code=False once you trust it"
    if _OPTION.search(path):
        remedy = "remove it, or set it yourself with set_options"
    if path == "tasks.path" and isinstance(value, str):
        setting = json.dumps({"tasks.path": value})
        remedy = (
            f"look where it leads; to read that file, set the path yourself, set_options={setting}"
        )
        remedy += ", or load the file without code=False once you trust it"
    problems.add(path, f"code=False rejects {show(value)}: {why}; {remedy}")


def _unmarked(option: Written, path: str) -> str:
    """Advice for the author too, since only the author knows what the option does."""
    name = path.rpartition(".")[2]
    owner = option.owner
    who = f"{getattr(owner, '__module__', '')}.{getattr(owner, '__qualname__', '')}"
    return (
        f"it may name {_OUTSIDE}; if it never does, the author of {who} declares {name}: Safe[...],"
        " of rlenv.authoring"
    )


def _is_default(option: Written) -> bool:
    default: Any = option.default
    if isinstance(default, _FACTORY) and not default.takes_self:
        default = default.factory()
    value = tuple(option.value) if isinstance(option.value, list) else option.value
    default = tuple(default) if isinstance(default, list) else default
    return type(value) is type(default) and bool(value == default)


def _reaching(option: Written, path: str, problems: Problems) -> Iterator[tuple[str, object, str]]:
    """What in the value may reach outside: path, value, reason.  What is not marked is told once an
    option.
    """
    walk = _Walk(problems, is_built=option.is_built)
    found = list(walk.through(option.value, option.kind, path, is_safe=bool(option.safe)))
    yield from ((where, value, why) for where, value, why in found if why != _UNMARKED)
    if any(why == _UNMARKED for _, _, why in found):
        yield path, option.value, _unmarked(option, path)


@frozen
class _Walk:
    """Finds what in a value may reach outside, by its type."""

    problems: Problems
    is_built: bool

    def through(self, value: object, kind: object, path: str, *, is_safe: bool) -> Iterator[_Found]:
        """Path, value and reason of each."""
        kind, mark = split_mark(getattr(kind, "__supertype__", kind))
        is_safe = is_safe or bool(mark and mark.safe is True)
        for inner, inner_kind, where in _parts(value, kind, path):
            yield from self.through(inner, inner_kind, where, is_safe=is_safe)
        if _has_parts(value, kind):
            return
        if kind is File and isinstance(value, str):
            why = leads_out(value, self.problems)
        else:
            why = "" if is_safe else self._why(value, kind)
        if why:
            yield path, value, why

    def _why(self, value: object, kind: Any) -> str:
        """Why a value without parts may not be set; "" where it may."""
        origin = get_origin(kind) or kind
        if origin is Callable:
            return "it names code"
        if origin is Literal:
            return _weaker(value, get_args(kind))
        if isinstance(kind, type) and issubclass(kind, Enum):
            return _weaker(value, tuple(item.value for item in kind))
        if _is_record(kind):
            return "" if self.is_built else _UNMARKED
        return "" if kind is None or kind in _HARMLESS else _UNMARKED


def _has_parts(value: object, kind: object) -> bool:
    origin = get_origin(kind) or kind
    if origin in _TABLES:
        return isinstance(value, Mapping) and bool(value)
    return origin in _UNIONS or (origin in _LISTS and isinstance(value, (list, tuple)))


def _parts(value: Any, kind: object, path: str) -> Iterator[tuple[object, object, str]]:
    """What a value consists of: each part, its type and its path; of a union, the value as each
    arm.
    """
    origin = get_origin(kind) or kind
    args = get_args(kind)
    if not _has_parts(value, kind):
        return
    if origin in _UNIONS:
        yield from ((value, arm, path) for arm in args if _may_be(value, arm))
    elif origin in _TABLES:
        of_key, of_item = args or (Any, Any)
        for key, item in value.items():
            yield key, of_key, at(path, str(key))
            yield item, of_item, at(path, str(key))
    else:
        for i, (item, inner) in enumerate(zip(value, _kinds(kind, len(value)), strict=False)):
            yield item, inner, f"{path}[{i}]"


def _weaker(value: object, choices: Sequence[object]) -> str:
    """Why this choice may not be made: it is a tier of isolation below the jail; "" for any
    other.
    """
    from rlenv.sandbox import TIERS

    weak = TIERS[: TIERS.index("jail")]
    is_tier = len({*choices} & {*TIERS}) > 1
    return (
        f"only isolation of the tier {TIERS[len(weak)]} or above may be set"
        if is_tier and value in weak
        else ""
    )


def _kinds(kind: object, count: int) -> Iterable[object]:
    args = get_args(kind) or (Any,)
    if get_origin(kind) is tuple and Ellipsis not in args:
        return args
    return repeat(args[0], count)


def _is_record(kind: object) -> bool:
    return isinstance(kind, type) and (has(kind) or hasattr(kind, "__dataclass_fields__"))


def _may_be(value: object, arm: object) -> bool:
    """Whether an arm of a union may be what the value is read as; a function never is, since it is
    code.
    """
    arm, _ = split_mark(getattr(arm, "__supertype__", arm))
    origin = get_origin(arm) or arm
    if origin is Callable:
        return False
    if origin is Literal:
        return value in get_args(arm)
    if origin in _TABLES or _is_record(arm):
        return isinstance(value, Mapping)
    if origin in _LISTS:
        return isinstance(value, (list, tuple))
    if origin in (bool, int, float, type(None)):
        return isinstance(value, (bool, int, float, type(None)))
    return origin not in (str, File) or isinstance(value, str)


def leads_out(text: str, problems: Problems) -> str:
    """Why this path may not be named by a stranger; "" where it is inside the folder of the
    env.toml.
    """
    if "${" in text:
        return "a path of a stranger may not use the variables of your environment"
    if "\0" in text:
        return "no file can have this name"
    path = File(text, problems.base).path
    root = os.path.realpath(problems.root)
    inside = "name a file in the folder of the env.toml"
    if os.path.isabs(text) or ".." in Path(text).parts:
        return f'the path may lead anywhere; {inside}, without ".."'
    if not _is_below(path, root):
        return f"it leads out of the folder of the env.toml; {inside}"
    for count, entry in enumerate(chain([str(path)], _entries(path))):
        named = "it" if count == 0 else f"{os.path.relpath(entry, path)} in it"
        if not _is_below(entry, root):
            return f"{named} leads out of the folder of the env.toml; {inside}"
        if _is_special(entry):
            return f"{named} is not a regular file, so reading it may never end"
        if count > _MOST:
            return f"it has more than {_MOST:,} entries, so it cannot be looked through for links"
    return ""


def _is_below(path: str | os.PathLike[str], root: str) -> bool:
    real = Path(os.path.realpath(path))
    return real.is_relative_to(root)


def _is_special(path: str) -> bool:
    """Whether this is a pipe, a socket or a device."""
    return os.path.exists(path) and not (os.path.isfile(path) or os.path.isdir(path))


def _entries(folder: Path) -> Iterator[str]:
    """All that is below a folder; links are not followed."""
    for parent, folders, files in os.walk(folder):
        yield from (os.path.join(parent, name) for name in (*folders, *files))
