"""Fits plain values, as TOML and JSON have them, to the types that classes declare; strict.

Text is no number, true is no 1, and every misfit is noted with its path.  Types beyond those of TOML
(enums, paths, dates, typed dicts, new types) are left to cattrs, which is imported only then.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from enum import Enum
from typing import Any, Final, Literal, TypeVar, Union, get_args, get_origin

from attrs import has

from rlenv.errors import ConfigError
from rlenv.files import File
from rlenv.near import suggest

from .options import Option, options_of
from .problems import Problems, at, choices, show

BAD: Final = object()  # what fit returns after it noted a problem
_LISTS: dict[Any, Callable[[Iterable[Any]], Any]] = {
    list: list, Sequence: tuple, Iterable: tuple, Collection: tuple, set: set, frozenset: frozenset, AbstractSet: frozenset,
}  # fmt: skip
_WORDS = {
    str: "text", int: "a whole number", float: "a number", bool: "true or false", None: "nothing", File: "the path of a file",
}  # fmt: skip


def fit(value: Any, kind: Any, path: str, problems: Problems) -> Any:
    """``value`` as ``kind``, or BAD after noting why not."""
    kind = getattr(kind, "__supertype__", kind)  # of a NewType
    origin = get_origin(kind) or kind
    if kind is Any or kind is object or isinstance(kind, TypeVar):
        return value
    if origin is Literal:
        return _literal(value, get_args(kind), path, problems)
    if origin in (Union, types.UnionType):
        return _union(value, get_args(kind), path, problems)
    if origin in _LISTS:
        return _list(value, kind, _LISTS[origin], path, problems)
    if origin is tuple:
        return _tuple(value, get_args(kind), path, problems)
    if origin in (dict, Mapping):
        return _mapping(value, get_args(kind) or (Any, Any), path, problems)
    if _is_record(kind):
        return build(kind, value, path, problems)
    return _leaf(value, kind, path, problems)


def build(cls: Any, value: Any, path: str, problems: Problems) -> Any:
    """An object of ``cls`` built with the table ``value``, or BAD; notes every mistake."""
    if not isinstance(value, Mapping):
        return _misfit(value, "a table", path, problems)
    before = len(problems.found)
    fitted = fit_options(cls, value, path, problems)
    return BAD if len(problems.found) > before else construct(cls, fitted, path, problems)


def fit_options(
    cls: Any, table: Mapping[str, Any], path: str, problems: Problems, given: Collection[str] = ()
) -> dict[str, Any]:
    """The options in ``table`` that fit ``cls``; ``given`` names those that come from elsewhere."""
    options, open_ended = options_of(cls)
    known = {option.name: option for option in options if option.name not in given}
    fitted = {}
    for key, item in table.items():
        where = at(path, str(key))
        if key in known:
            value = fit(item, known[key].kind, where, problems)
            if value is not BAD:
                fitted[key] = value
                _validate(cls, known[key], value, written=item, path=where, problems=problems)
        elif open_ended and key not in given:
            fitted[key] = item
        else:
            hint = suggest(str(key), known, what="valid keys are") or "it takes none"
            problems.add(where, f"unknown key; {hint}")
    for option in known.values():
        if option.required and option.name not in table:
            expected = describe(option.kind)
            problems.add(at(path, option.name), f"required, and missing; expected {expected}")
    return fitted


def _validate(
    cls: Any, option: Option, value: Any, *, written: Any, path: str, problems: Problems
) -> None:
    """Run one attrs validator by itself, so that one refusal does not hide another."""
    attribute = option.attribute
    if attribute is None or attribute.validator is None:
        return
    try:
        if attribute.converter is not None:
            value = attribute.converter(value)
        attribute.validator(object.__new__(cls), attribute, value)
    except (AttributeError, NameError):
        return  # it looks at other attributes: the constructor decides
    except Exception as error:  # noqa: BLE001 - whatever a validator raises is a refusal
        _refused(error, path, written, problems)


def construct(cls: Any, options: dict[str, Any], path: str, problems: Problems) -> Any:
    """``cls(**options)``, or BAD after noting what the constructor refuses."""
    try:
        return cls(**options)
    except ConfigError as error:
        problems.error(path, error)
    except Exception as error:  # noqa: BLE001 - whatever a constructor raises is a refusal
        quoted = next((name for name in options if f"'{name}'" in str(error)), None)
        where, value = (path, BAD) if quoted is None else (at(path, quoted), options[quoted])
        _refused(error, where, value, problems)
    return BAD


def _refused(error: Exception, path: str, value: Any, problems: Problems) -> None:
    reason = error.args[0] if error.args and isinstance(error.args[0], str) else str(error)
    reason = " ".join(reason.split()) or type(error).__name__
    problems.add(path, reason if value is BAD else f"{show(value)} is refused: {reason}")


def _literal(value: Any, allowed: tuple[Any, ...], path: str, problems: Problems) -> Any:
    if any(value == item and type(value) is type(item) for item in allowed):
        return value
    names = [item for item in allowed if isinstance(item, str)]
    hint = suggest(value, names) if isinstance(value, str) else ""
    near = f"; {hint}" if hint.startswith("did") else ""
    return _misfit(value, f"one of {choices(allowed)}", path, problems, near)


def _union(value: Any, kinds: tuple[Any, ...], path: str, problems: Problems) -> Any:
    deepest: list[tuple[str, str]] = []
    for kind in kinds:
        trial = Problems(base=problems.base)
        fitted = fit(value, kind, path, trial)
        if not trial.found:
            return fitted
        if all(where != path for where, _ in trial.found):
            deepest = deepest or trial.found  # the container is right, something in it is not
    for where, text in deepest:
        problems.add(where, text)
    return BAD if deepest else _misfit(value, describe(Union[kinds]), path, problems)


def _list(value: Any, kind: Any, make: Callable[[Any], Any], path: str, problems: Problems) -> Any:
    if not isinstance(value, (list, tuple)):
        return _misfit(value, describe(kind), path, problems)
    item = (get_args(kind) or (Any,))[0]
    items = [fit(v, item, f"{path}[{i}]", problems) for i, v in enumerate(value)]
    if any(v is BAD for v in items):
        return BAD
    try:
        return make(items)
    except TypeError:
        return _misfit(value, "a list of text or numbers", path, problems)


def _tuple(value: Any, kinds: tuple[Any, ...], path: str, problems: Problems) -> Any:
    if not kinds or kinds[-1] is Ellipsis:
        return _list(value, list[kinds[0] if kinds else Any], tuple, path, problems)  # type: ignore[misc]
    if not isinstance(value, (list, tuple)) or len(value) != len(kinds):
        return _misfit(value, f"a list of {len(kinds)}", path, problems)
    items = [
        fit(v, kind, f"{path}[{i}]", problems)
        for i, (v, kind) in enumerate(zip(value, kinds, strict=True))
    ]
    return BAD if any(v is BAD for v in items) else tuple(items)


def _mapping(value: Any, kinds: tuple[Any, ...], path: str, problems: Problems) -> Any:
    if not isinstance(value, Mapping):
        return _misfit(value, "a table", path, problems)
    items = {k: fit(v, kinds[1], at(path, str(k)), problems) for k, v in value.items()}
    return BAD if any(v is BAD for v in items.values()) else items


def _leaf(value: Any, kind: Any, path: str, problems: Problems) -> Any:
    if kind in (None, type(None)):
        return None if value is None else _misfit(value, "nothing", path, problems)
    if kind is float and type(value) in (int, float):
        finite = abs(value) <= sys.float_info.max
        return float(value) if finite else _misfit(value, "a finite number", path, problems)
    if kind is File and isinstance(value, str):
        return construct(File, {"text": value, "base": problems.base}, path, problems)
    if kind in _WORDS:
        return value if type(value) is kind else _misfit(value, _WORDS[kind], path, problems)
    return _by_cattrs(value, kind, path, problems)


def _by_cattrs(value: Any, kind: Any, path: str, problems: Problems) -> Any:
    import cattrs

    try:
        return cattrs.structure(value, kind)
    except Exception as error:  # noqa: BLE001 - cattrs raises groups, enums ValueErrors
        grouped = isinstance(error, cattrs.BaseValidationError)
        why = f" ({'; '.join(cattrs.transform_error(error))})" if grouped else ""
        return _misfit(value, describe(kind) + why, path, problems)


def _misfit(value: Any, wanted: str, path: str, problems: Problems, hint: str = "") -> Any:
    problems.add(path, f"expected {wanted}, got {show(value)}{hint}")
    return BAD


def _is_record(kind: Any) -> bool:
    return isinstance(kind, type) and (has(kind) or hasattr(kind, "__dataclass_fields__"))


def describe(kind: Any) -> str:
    """A type in plain words: "a list of text", "one of "a", "b"", "a whole number or nothing"."""
    origin, args = get_origin(kind) or kind, get_args(kind)
    if kind is Any or kind is object:
        return "a value"
    if origin is Literal:
        return f"one of {choices(args)}"
    if origin in (Union, types.UnionType):
        return " or ".join(describe(arg) for arg in args if arg is not type(None))
    if origin in _LISTS or origin is tuple:
        inner = describe(args[0] if args else Any)
        return {"a value": "a list", "a table": "a list of tables"}.get(inner, f"a list of {inner}")
    if origin in (dict, Mapping) or _is_record(kind):
        return "a table"
    if isinstance(kind, type) and issubclass(kind, Enum):
        return f"one of {choices(item.value for item in kind)}"
    return _WORDS.get(kind, getattr(kind, "__name__", str(kind)))
