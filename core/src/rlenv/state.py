"""What an object holds, as one text: equal for equal values in every process, different where a value differs."""

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

from .errors import ConfigError

ATOMS = frozenset({type(None), bool, int, float, complex, str, bytes, type(...)})
LOCKS = (type(threading.Lock()), type(threading.RLock()))  # which hold nothing, and no setting
LONG = 1 << 12  # bits of an integer that is written in decimal digits
# Flags of code that change what it does: *args, **kwargs, and the kinds of generators and coroutines.
FLAGS = 0x04 | 0x08 | 0x20 | 0x80 | 0x100 | 0x200
# What a class has besides its methods and constants; some of it differs between versions of Python.
NOT_CODE = frozenset({
    "__dict__", "__weakref__", "__doc__", "__module__", "__qualname__", "__annotations__",
    "__annotations_cache__", "__annotate__", "__annotate_func__", "__firstlineno__",
    "__static_attributes__", "__attrs_attrs__", "__attrs_props__", "__attrs_own_setattr__",
    "__match_args__", "__abstractmethods__", "_abc_impl", "__parameters__", "__orig_bases__",
    "__dataclass_fields__", "__dataclass_params__", "__protocol_attrs__",
})  # fmt: skip
REMEDY = (
    "hold plain values instead, or give its class a method __rlenv_state__() that returns what its "
    "verdicts depend on, such as a name and a version"
)
Parts: TypeAlias = Iterable[tuple[str, object]]


class State:
    """Describes objects, and notes the packages that their classes and functions come from.

    An object counts by what pickle would take of it: the attributes of its ``__dict__``, private ones included, the
    ``__slots__`` of all its classes, and what ``__reduce__`` gives for others.  A class or object that has a method
    ``__rlenv_state__`` counts by what that returns.  Left out are cached properties, since they follow from the rest,
    and attrs fields with the metadata ``{"state": False}``.

    A function counts by its code, its defaults and the variables that it closes over.  What workers get by value
    (classes and functions of ``__main__`` or of another function) counts by the code of its methods and by the
    globals that it reads; a global that cannot be described counts by its class.

    Attributes:
        packages: the top-level packages, less those of the standard library.
    """

    def __init__(self) -> None:
        self.packages: set[str] = set()
        self._texts: dict[int, str] = {}  # by identity
        self._kept: list[object] = []  # so that no identity is used twice
        self._open: list[int] = []  # what is being described, from the outside in

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
            return f"^{len(self._open) - self._open.index(key)}"
        if omit or key not in self._texts:
            self._kept.append(value)
            self._open.append(key)
            try:
                text = self._described(value, path, omit)
            finally:
                self._open.pop()
            if omit:
                return text
            self._texts[key] = text
        return self._texts[key]

    def _described(self, value: Any, path: str, omit: frozenset[str]) -> str:
        kind = type(value)
        if kind in (list, tuple):
            return self._items(kind.__name__, value, path)
        if kind in (dict, MappingProxyType):
            return self._table("dict", value.items(), path)
        if kind in LOCKS:
            return _digest("lock", [_name_of(kind)])
        if kind in (set, frozenset):
            return _digest(kind.__name__, sorted(self.of(item, path) for item in value))
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
        rows = [(self.of(key, path), self.of(item, f"{path}[{key!r:.40}]")) for key, item in items]
        return _digest(tag, [text for row in sorted(rows) for text in row])

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
            why = (
                f"its state cannot be seen ({' '.join(str(error).split()) or type(error).__name__})"
            )
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
        left = omit | _derived(kind)
        merged = {name: value for table in tables for name, value in table.items()}
        own = [(str(name), value) for name, value in merged.items() if name not in left]
        texts = [(name, self.of(value, f"{path}.{name}")) for name, value in own]
        return _digest("attributes", [text for row in sorted(texts) for text in row])

    # -- code ------------------------------------------------------------------------------------

    def _function(self, function: FunctionType, path: str) -> str:
        self._note(function.__module__)
        cells = _cells(function)
        shown = [(f" closes over {name}, which", value) for name, value in cells.items()]
        return self._parts("function", [
            ("", function.__module__),
            ("", function.__code__),
            (" has a default that", function.__defaults__),
            (" has a default that", function.__kwdefaults__),
            ("", list(cells)),
            *shown,
            (".__dict__", vars(function)),
            ("", self._globals(function, path) if _by_value(function) else ""),
        ], path)  # fmt: skip

    def _method(self, method: MethodType, path: str) -> str:
        parts = [("", method.__func__), (".__self__", method.__self__)]
        return self._parts("method", parts, path)

    def _builtin(self, function: Any, path: str) -> str:
        if isinstance(function.__self__, (ModuleType, type(None))):
            self._note(function.__module__)
            return _digest("builtin", [_name_of(function)])
        parts = [("", function.__name__), (".__self__", function.__self__)]
        return self._parts("builtin", parts, path)

    def _globals(self, function: FunctionType, path: str) -> str:
        scope = function.__globals__
        names = sorted({name for name in _names(function.__code__) if name in scope})
        return _digest("globals", [f"{name}={self._loose(scope[name], path)}" for name in names])

    def _loose(self, value: object, path: str) -> str:
        """Describe a value, or its class where that cannot be done."""
        try:
            return self.of(value, path)
        except ConfigError:
            return _name_of(type(value))

    def _class(self, kind: type, path: str) -> str:
        self._note(kind.__module__)
        name = _name_of(kind)
        if not _by_value(kind):
            return name
        own = [(key, value) for key, value in sorted(vars(kind).items()) if key not in NOT_CODE]
        code = [f"{key}={self._member(value, f'{path}.{key}')}" for key, value in own]
        return _digest("class", [name, *(self.of(base, path) for base in kind.__bases__), *code])

    def _member(self, value: Any, path: str) -> str:
        if isinstance(value, MemberDescriptorType):
            return "slot"
        if isinstance(value, property):
            return self._loose([value.fget, value.fset], path)
        if isinstance(value, functools.cached_property):
            return self._loose(value.func, path)
        return self._loose(getattr(value, "__func__", value), path)

    def _module(self, module: ModuleType, _path: str) -> str:
        self._note(module.__name__)
        return _digest("module", [module.__name__])

    def _code(self, code: CodeType, path: str) -> str:
        """Describe what code does; where it stands in its file is left out."""
        counts = code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount
        return self._parts("code", [
            ("", code.co_code),
            ("", getattr(code, "co_exceptiontable", b"")),
            ("", code.co_consts),
            ("", code.co_names),
            ("", code.co_varnames),
            ("", code.co_freevars),
            ("", code.co_cellvars),
            ("", counts),
            ("", code.co_flags & FLAGS),
        ], path)  # fmt: skip

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


def _derived(kind: type) -> set[str]:
    """The attributes of a class's objects that are no setting."""
    cached = {
        name
        for base in kind.__mro__
        for name, value in vars(base).items()
        if isinstance(value, functools.cached_property)
    }
    fields = getattr(kind, "__attrs_attrs__", ())
    return cached | {field.name for field in fields if field.metadata.get("state") is False}


def _by_value(thing: FunctionType | type) -> bool:
    """Whether no module that has a file defines this under its name, so that workers get it by value."""
    name = thing.__module__ or "__main__"
    if name.partition(".")[0] in sys.stdlib_module_names:
        return False
    module = sys.modules.get(name)
    has_file = getattr(module, "__file__", None) or hasattr(module, "__path__")
    if name == "__main__" or not has_file:
        return True
    found: Any = module
    for name in thing.__qualname__.split("."):
        found = getattr(found, name, None)
    return isinstance(thing, type) and found is not thing


def tells_all(kind: type) -> bool:
    """Whether each option of a class is in its state: attrs classes that leave none out."""
    fields = getattr(kind, "__attrs_attrs__", None)
    if fields is None or hasattr(kind, "__rlenv_state__"):
        return False
    own: Any = kind  # the three of object have other types
    by_attrs = own.__getstate__.__name__ == "slots_getstate"
    is_plain = (
        (by_attrs or own.__getstate__ is object.__getstate__)
        and own.__reduce__ is object.__reduce__
        and own.__reduce_ex__ is object.__reduce_ex__
    )
    return is_plain and all(field.metadata.get("state") is not False for field in fields)


def _cells(function: FunctionType) -> dict[str, object]:
    """The variables of a function that are another's, by name, less those without a value yet."""
    from .functions import closed_over

    return dict(closed_over(function))


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)
