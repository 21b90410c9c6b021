"""What an object holds, as one text: equal in every process for equal values, else different."""

from __future__ import annotations

import functools
import hashlib
import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from copyreg import dispatch_table
from enum import Enum
from types import (
    BuiltinFunctionType,
    CodeType,
    FunctionType,
    MappingProxyType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
)
from typing import Any, TypeAlias

from rlenv.model.errors import ConfigError

from .code_parts import (
    annotations_of,
    derived_attributes,
    dynamic_members,
    imports_in,
    is_by_value,
    is_dynamic,
    is_own,
    names_in,
    own_members,
)

ATOMS = frozenset({type(None), bool, int, float, complex, str, bytes, type(...)})
LOCKS = (type(threading.Lock()), type(threading.RLock()))  # which hold nothing, and no setting
LONG = 1 << 12  # bits of an integer that is written in decimal digits
# Flags of code that change what it does: *args, **kwargs, kinds of generators and coroutines.
FLAGS = 0x04 | 0x08 | 0x20 | 0x80 | 0x100 | 0x200
REMEDY = (
    "hold plain values instead, or give its class a method __rlenv_state__() that returns what its "
    "verdicts depend on, such as a name and a version"
)
Parts: TypeAlias = Iterable[tuple[str, object]]


class State:
    """Describes objects, and notes the packages that their classes and functions come from.

    An object counts by what pickle would take of it: the attributes of its ``__dict__``, private
    ones included, the ``__slots__`` of all its classes, and what ``__reduce__`` gives for others.
    A class or object that has a method ``__rlenv_state__`` counts by what that returns.  Left out
    are cached properties, since they follow from the rest, and attrs fields with the metadata
    ``{"state": False}``.

    A function counts by its code, its defaults and the variables that it closes over.  What workers
    get by value (classes and functions of ``__main__`` or of another function, lambdas) counts by
    the code of its methods and by the globals that it reads; a global that cannot be described
    counts by its class.

    Equal structures have equal texts also where they hold themselves: what is inside itself counts
    by how far out it is, and what holds a part of such a circle a second time counts by the order
    in which it was first seen.

    Attributes:
        packages: the top-level packages, less those of the standard library.
    """

    def __init__(self) -> None:
        self.packages: set[str] = set()
        self._texts: dict[int, str] = {}  # by identity
        # The order in which those were seen that hold something around them.
        self._numbers: dict[int, int] = {}
        self._kept: list[object] = []  # so that no identity is used twice
        self._open: list[int] = []  # what is being described, from the outside in
        self._seen = 0  # values that were described
        # The place in ``_open`` that the value being described refers to.
        self._outermost = sys.maxsize

    def of(self, value: object, path: str, omit: frozenset[str] = frozenset()) -> str:
        """Describe a value.

        Args:
            value: anything.
            path: how messages call it.
            omit: attributes of the value itself that are left out.

        Returns:
            A short text; a hash where the value has parts.

        Raises:
            ConfigError: a part cannot be described; the message names it and says what to do.
        """
        if type(value) in ATOMS:
            return _atom(value)
        key = id(value)
        if key in self._open:
            place = self._open.index(key)
            self._outermost = min(self._outermost, place)
            return f"^{len(self._open) - place}"
        if omit or key not in self._texts:
            return self._described_first(value, path, omit)
        if key in self._numbers:
            # Its text has places that are counted from where it was first seen.
            return _digest("again", [self._texts[key], str(self._numbers[key])])
        return self._texts[key]

    def _described_first(self, value: object, path: str, omit: frozenset[str]) -> str:
        key = id(value)
        number = self._seen
        outer = self._outermost
        self._seen += 1
        self._outermost = sys.maxsize
        self._kept.append(value)
        self._open.append(key)
        try:
            text = self._described(value, path, omit)
        finally:
            self._open.pop()
            is_part_of_circle = self._outermost < len(self._open)
            self._outermost = min(outer, self._outermost) if is_part_of_circle else outer
        if not omit:
            self._texts[key] = text
            if is_part_of_circle:
                self._numbers[key] = number
        return text

    def _alone(self, value: object, path: str) -> str:
        """Describe an item of a set as if it were the first one, since a set has no order."""
        if type(value) in ATOMS:
            return _atom(value)
        texts = self._texts
        numbers = self._numbers
        seen = self._seen
        self._texts = {}
        self._numbers = {}
        try:
            return self.of(value, path)
        finally:
            self._texts = texts
            self._numbers = numbers
            self._seen = seen

    def _described(self, value: Any, path: str, omit: frozenset[str]) -> str:
        kind = type(value)
        if kind in (list, tuple):
            return self._items(kind.__name__, value, path)
        if kind in (dict, MappingProxyType):
            return self._table("dict", value.items(), path)
        if kind in LOCKS:
            return _digest("lock", [_name_of(kind)])
        if kind in (set, frozenset):
            return _digest(kind.__name__, sorted(self._alone(item, path) for item in value))
        for known, describe in _KINDS.items():
            if issubclass(kind, known):  # not isinstance: list[int] says that it is a type
                return describe(self, value, path)
        if hasattr(kind, "__rlenv_state__"):
            own: object = value.__rlenv_state__()
            return self._parts("state", [("", kind), ("", own)], path)
        return self._reduced(value, path, omit)

    def _items(self, tag: str, values: Iterable[object], path: str) -> str:
        values = list(values)
        if ATOMS.issuperset(map(type, values)):
            with suppress(ValueError):  # an integer has too many digits
                return _digest(tag, [repr(values)])
        return self._parts(tag, ((f"[{i}]", value) for i, value in enumerate(values)), path)

    def _table(self, tag: str, items: Iterable[tuple[object, object]], path: str) -> str:
        """Describe a table; equal tables may have their items in different orders."""
        named = sorted(
            ((self.of(key, path), key, item) for key, item in items), key=lambda row: row[0]
        )
        rows = [(text, self.of(item, f"{path}[{key!r:.40}]")) for text, key, item in named]
        return _digest(tag, [text for row in rows for text in row])

    def _parts(self, tag: str, parts: Parts, path: str) -> str:
        return _digest(tag, [self.of(value, path + name) for name, value in parts])

    def _reduced(self, value: Any, path: str, omit: frozenset[str]) -> str:
        """Describe an object by what pickle would take of it."""
        kind = type(value)
        try:
            reduce = dispatch_table.get(kind)
            found: Any = value.__reduce_ex__(4) if reduce is None else reduce(value)
        except Exception as error:
            name = f"{kind.__module__}.{kind.__qualname__}"
            said = " ".join(str(error).split()) or type(error).__name__
            why = f"its state cannot be seen ({said})"
            lack = f"{path} is an object of {name}, and no fingerprint covers it: {why}"
            raise ConfigError(f"{lack}; {REMEDY}") from error
        if isinstance(found, str):  # a name in its module
            self._note(getattr(value, "__module__", None))
            inner = getattr(value, "__wrapped__", None)
            return self._parts("name", [("", _name_of(value)), ("", found), ("", inner)], path)
        make, args, state, items, pairs = [*found, None, None, None][:5]
        ordered = isinstance(value, OrderedDict)
        rows: Any = list(pairs or ())
        return _digest("object", [
            self.of(make, path),
            self.of(args, path),
            self._attributes(kind, state, path, omit),
            self._items("items", items or (), path),
            self._items("ordered", rows, path) if ordered else self._table("pairs", rows, path),
        ])  # fmt: skip

    def _attributes(self, kind: type, state: object, path: str, omit: frozenset[str]) -> str:
        if isinstance(state, tuple) and len(state) == 2 and isinstance(state[1], dict):
            tables = [state[0] or {}, state[1]]  # of __dict__ and of __slots__
        elif isinstance(state, dict):
            tables = [state]
        else:
            return self.of(state, path)
        left = omit | derived_attributes(kind)
        merged = {name: value for table in tables for name, value in table.items()}
        own = sorted((str(name), name) for name in merged if name not in left)
        texts = [(text, self.of(merged[name], f"{path}.{text}")) for text, name in own]
        return _digest("attributes", [text for row in texts for text in row])

    # -- code ------------------------------------------------------------------------------------

    def _function(self, function: FunctionType, path: str) -> str:
        self._note(function.__module__)
        from rlenv.compose.functions import closed_over

        cells = dict(closed_over(function))
        shown = [(f" closes over {name}, which", value) for name, value in cells.items()]
        return self._parts(
            "function",
            [
                ("", function.__module__),
                ("", function.__code__),
                (" has a default that", function.__defaults__),
                (" has a default that", function.__kwdefaults__),
                ("", list(cells)),
                *shown,
                (".__dict__", vars(function)),
                *(self._by_value(function, path) if is_by_value(function) else ()),
            ],
            path,
        )

    def _by_value(self, function: FunctionType, path: str) -> Parts:
        """Describe what else a function may read, where workers get a copy of it."""
        for package in imports_in(function.__code__):
            self._note(package)
        yield "", self.globals_of(function, path)
        yield "", self._loose([function.__doc__, annotations_of(function)], path)

    def _method(self, method: MethodType, path: str) -> str:
        parts = [("", method.__func__), (".__self__", method.__self__)]
        return self._parts("method", parts, path)

    def _builtin(self, function: Any, path: str) -> str:
        if isinstance(function.__self__, (ModuleType, type(None))):
            self._note(function.__module__)
            return _digest("builtin", [_name_of(function)])
        parts = [("", function.__name__), (".__self__", function.__self__)]
        return self._parts("builtin", parts, path)

    def globals_of(self, function: FunctionType, path: str) -> str:
        """Describe the globals that a function reads now, and what it reads of modules."""
        scope = function.__globals__
        names = sorted(names_in(function.__code__))
        found = {name: scope[name] for name in names if name in scope}
        texts = [f"{name}={self._loose(value, path)}" for name, value in found.items()]
        for name, value in found.items():
            if isinstance(value, ModuleType) and is_own(value):
                texts += [f"{name}.{each}" for each in self._constants(value, names)]
        return _digest("globals", texts)

    def _constants(self, module: ModuleType, names: Iterable[str]) -> Iterator[str]:
        """Describe the plain values of a module that have one of these names."""
        for name in names:
            value = vars(module).get(name)
            if type(value) in ATOMS:
                yield f"{name}={_atom(value)}"

    def _loose(self, value: object, path: str) -> str:
        """Describe a value, or its class where that cannot be done."""
        try:
            return self.of(value, path)
        except ConfigError:
            return _name_of(type(value))

    def _class(self, kind: type, path: str) -> str:
        self._note(kind.__module__)
        name = _name_of(kind)
        if not is_by_value(kind):
            return name
        meta = type(kind)
        code = [f"{key}={self._member(value, f'{path}.{key}')}" for key, value in own_members(kind)]
        bases = [self._loose(base, path) for base in (meta, *kind.__bases__)]
        return _digest("class", [name, *bases, self._loose(annotations_of(kind), path), *code])

    def _member(self, value: Any, path: str) -> str:
        if isinstance(value, MemberDescriptorType):
            return "slot"
        if isinstance(value, property):
            return self._loose([value.fget, value.fset], path)
        if isinstance(value, functools.cached_property):
            return self._loose(value.func, path)
        if isinstance(value, (staticmethod, classmethod)):
            return f"{type(value).__name__} {self._loose(value.__func__, path)}"
        return self._loose(value, path)

    def _module(self, module: ModuleType, path: str) -> str:
        self._note(module.__name__)
        if not is_dynamic(module):
            return _digest("module", [module.__name__])
        members = dynamic_members(module)
        texts = [f"{key}={self._loose(value, f'{path}.{key}')}" for key, value in members]
        return _digest("module", [module.__name__, *texts])

    def _code(self, code: CodeType, path: str) -> str:
        """Describe what code does; where it stands in its file is left out."""
        counts = code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount
        return self._parts(
            "code",
            [
                ("", code.co_code),
                ("", getattr(code, "co_exceptiontable", b"")),
                ("", code.co_consts),
                ("", code.co_names),
                ("", code.co_varnames),
                ("", code.co_freevars),
                ("", code.co_cellvars),
                ("", counts),
                ("", code.co_flags & FLAGS),
            ],
            path,
        )

    def _member_of_enum(self, member: Enum, path: str) -> str:
        return self._parts("enum", [("", type(member)), ("", member.value)], path)

    def _partial(self, part: Any, path: str) -> str:
        held = [(".func", part.func), ("", part.args), ("", part.keywords), ("", vars(part))]
        return self._parts("partial", held, path)

    def _note(self, module: str | None) -> None:
        top = (module or "").partition(".")[0]
        if top and top not in sys.stdlib_module_names:
            self.packages.add(top)


_KINDS: Mapping[type, Callable[[State, Any, str], str]] = {
    type: State._class,
    FunctionType: State._function,
    MethodType: State._method,
    BuiltinFunctionType: State._builtin,
    functools.partial: State._partial,
    ModuleType: State._module,
    CodeType: State._code,
    Enum: State._member_of_enum,
}


def makeup(part: object) -> str:
    """Describe what makes a function's scores, for a fingerprint: its code, and all that it holds.

    Raises:
        ConfigError: it holds an object whose state cannot be seen.
    """
    return State().of(part, getattr(part, "__qualname__", type(part).__qualname__))


def _atom(value: Any) -> str:
    if type(value) is int and value.bit_length() > LONG:
        return hex(value)
    return repr(value)


def _digest(tag: str, texts: Iterable[str]) -> str:
    digest = hashlib.sha256(tag.encode())
    for text in texts:
        data = text.encode("utf-8", "surrogatepass")
        digest.update(b"\0%d\0" % len(data) + data)
    return "#" + digest.hexdigest()


def _name_of(thing: Any) -> str:
    module = getattr(thing, "__module__", None)
    return f"{module}:{getattr(thing, '__qualname__', type(thing).__qualname__)}"
