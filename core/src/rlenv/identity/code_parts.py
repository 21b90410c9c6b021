"""What functions and classes consist of, as far as a fingerprint needs it."""

from __future__ import annotations

import dis
import functools
import inspect
import sys
from collections.abc import Iterator, Mapping
from types import CodeType, FunctionType, ModuleType
from typing import Any

from .content import is_installed

# What a class has besides its methods and constants; some of it differs between versions of Python.
NOT_CODE = frozenset({
    "__dict__", "__weakref__", "__module__", "__qualname__", "__annotations__",
    "__annotations_cache__", "__annotate__", "__annotate_func__", "__firstlineno__",
    "__static_attributes__", "__attrs_attrs__", "__attrs_props__", "__attrs_own_setattr__",
    "__match_args__", "__abstractmethods__", "_abc_impl", "__parameters__", "__orig_bases__",
    "__dataclass_fields__", "__dataclass_params__", "__protocol_attrs__",
})  # fmt: skip
# What the import system gives to a module.
OF_IMPORT = frozenset(
    {"__builtins__", "__spec__", "__loader__", "__package__", "__file__", "__cached__"}
)


def is_by_value(thing: FunctionType | type) -> bool:
    """Whether no module that has a file defines this under its name, so that workers get a copy of
    it.

    As ``_lookup_module_and_qualname`` of cloudpickle.
    """
    name = thing.__module__ or "__main__"
    if name.partition(".")[0] in sys.stdlib_module_names:
        return False
    module = sys.modules.get(name)
    has_file = getattr(module, "__file__", None) or hasattr(module, "__path__")
    if name == "__main__" or not has_file:
        return True
    found: object = module
    for part in thing.__qualname__.split("."):
        found = getattr(found, part, None)
    return getattr(found, "__func__", found) is not thing


def is_dynamic(module: ModuleType) -> bool:
    """Whether a module was made by code and not by an import, so that its state is all that there
    is of it.
    """
    own = vars(module)  # the module may make up attributes
    found = [key for key in ("__file__", "__path__", "__spec__") if own.get(key) is not None]
    return not found and own.get("__name__") != "__main__"


def is_own(module: ModuleType) -> bool:
    """Whether a module belongs to the user: neither to Python nor to an installed distribution."""
    top = module.__name__.partition(".")[0]
    return top not in sys.stdlib_module_names and not is_installed(top)


def names_in(code: CodeType) -> set[str]:
    """The names of globals and attributes in a function's code, and in that of functions inside
    it.
    """
    return {name for each in _codes(code) for name in each.co_names}


def imports_in(code: CodeType) -> set[str]:
    """The top-level packages that a function imports when it runs."""
    found = {
        str(step.argval).partition(".")[0]
        for each in _codes(code)
        for step in dis.get_instructions(each)
        if step.opname == "IMPORT_NAME"
    }
    return found - {""}


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def annotations_of(thing: FunctionType | type) -> Mapping[str, object]:
    """The annotations of a function or class itself; empty where they cannot be evaluated."""
    try:
        return inspect.get_annotations(thing)
    except Exception:  # noqa: BLE001 - from Python 3.14 on, annotations are code that runs here
        return {}


def own_members(kind: type) -> list[tuple[str, object]]:
    """The methods and constants of a class, by name.

    The docstring that a dataclass gets of itself is left out.
    """
    members = {key: value for key, value in vars(kind).items() if key not in NOT_CODE}
    doc = members.get("__doc__")
    if "__dataclass_fields__" in vars(kind) and str(doc).startswith(f"{kind.__name__}("):
        del members["__doc__"]  # it has the defaults, which may be shown with their addresses
    return sorted(members.items())


def dynamic_members(module: ModuleType) -> list[tuple[str, object]]:
    """What a module that code made holds, by name."""
    return sorted((key, value) for key, value in vars(module).items() if key not in OF_IMPORT)


def derived_attributes(kind: type) -> set[str]:
    """The attributes of a class's objects that are no setting."""
    cached = {
        name
        for base in kind.__mro__
        for name, value in vars(base).items()
        if isinstance(value, functools.cached_property)
    }
    fields = getattr(kind, "__attrs_attrs__", ())
    return cached | {field.name for field in fields if field.metadata.get("state") is False}


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
