"""``task.info["tests"]`` read into ``Tests``: every shape that is allowed, and no other."""

from __future__ import annotations

import json
import keyword
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from attrs import evolve
from rlenv import ConfigError, TaskError
from rlenv.sandbox import rank

from .cases import cases_of, source, text
from .draw import BadSchema, check_schema
from .languages import language
from .mistakes import Mistake, no_unknown
from .spec import KINDS, PREFIXES, Kind, Limits, Tests
from .values import BadValue, value_of

if TYPE_CHECKING:
    from rlenv import Task

__all__ = ["from_data", "known_as", "tests_of"]

DRAWN = 20  # inputs of a golden task that names no count
MAX_DRAWN = 10_000
MAX_TIME = 3600.0
_COMMON = ("kind", "language", "cases", "golden", "time", "prefix", "min_isolation", "limits")
_COMPARED = ("tolerance", "unordered", "types")
_KEYS: Mapping[str, tuple[str, ...]] = {
    "function": ("entry_point", *_COMPARED),
    "stdio": ("checker", *_COMPARED),
    "asserts": ("entry_point", "setup", "test"),
    "golden": ("entry_point", "io", "inputs", "generate", "count", "checker", *_COMPARED),
}
_seen: dict[tuple[int, str], tuple[Task, Tests]] = {}  # the stages of an attempt ask for the same
_KEPT = 16


def tests_of(task: Task, default: str = "python") -> Tests:  # noqa: PT028 - no test
    """The tests of a task; ``default`` is the language of those that name none.

    Raises:
        TaskError: naming the key, the value, what was expected and what to do.
    """
    key = (id(task), default)
    known = _seen.get(key)
    if known is not None and known[0] is task:
        return known[1]
    try:
        tests = from_data(task.info.get("tests"), default)
    except Mistake as mistake:
        raise TaskError(str(mistake), task.id) from None
    known_as(task, default, tests)
    return tests


def known_as(task: Task, default: str, tests: Tests) -> None:
    """Remember the tests of this task object, which somebody has read elsewhere."""
    if len(_seen) >= _KEPT:
        _seen.clear()
    _seen[id(task), default] = task, tests


def from_data(data: Any, default: str = "python") -> Tests:
    """Tests from a mapping, or from the JSON text of one.

    Raises:
        Mistake: as the message of ``tests_of`` has it.
    """
    data = _mapping(data)
    kind = _kind(data)
    if kind == "suite":  # read like a golden task: a correct program, and inputs for reference
        own = {key: value for key, value in data.items() if key != "mutants"}
        return _suite(from_data({**own, "kind": "golden"}, default))
    no_unknown(data, (*_COMMON, *_KEYS[kind]), "")
    lang = _language(data.get("language", default), kind)
    entry = _entry_point(data, kind)
    if entry is not None and data.get("checker"):
        raise Mistake(
            ".checker", "a checker reads the output of programs; this task calls a function"
        )
    drawn = _drawn(data, kind, programs=entry is None)
    return Tests(
        kind=kind,
        language=lang,
        entry_point=entry,
        cases=cases_of(data, kind, programs=entry is None and kind == "golden"),
        setup=source(data, "setup"),
        golden=source(data, "golden"),
        **drawn,
        **_comparison(data, lang),
        time=_number(data, "time", "", MAX_TIME),
        prefix=_one_of(data, "prefix", PREFIXES),
        min_isolation=_tier(data.get("min_isolation")),
        limits=_limits(data.get("limits")),
    )


def _suite(tests: Tests) -> Tests:
    if tests.entry_point is None:
        said = "a suite calls a function; expected its name, and no io"
        raise Mistake(".entry_point", said, tests.entry_point)
    return evolve(tests, kind="suite")


def _mapping(data: Any) -> Mapping[str, Any]:
    if data is None:
        raise Mistake("", "the task has no tests; put them into info.tests, with a kind and cases")
    if isinstance(data, str):
        try:
            data = json.loads(data)
        except (ValueError, RecursionError) as error:
            raise Mistake("", f"expected a table, or the JSON text of one: {error}", data) from None
    if not isinstance(data, Mapping):
        raise Mistake("", "expected a table with a kind and cases", data)
    return data


def _kind(data: Mapping[str, Any]) -> Kind:
    kind = data.get("kind", "golden" if "golden" in data else None)
    for known in KINDS:
        if kind == known:
            return known
    raise Mistake(".kind", f"expected one of {', '.join(KINDS)}", kind)


def _language(name: Any, kind: str) -> str:
    if not isinstance(name, str):
        raise Mistake(".language", 'expected the name of a language, as "python"', name)
    try:
        entry = language(name)
    except ConfigError as error:
        raise Mistake(".language", str(error), name) from None
    if kind in ("function", "asserts") and not entry.functions:
        remedy = 'set the task as kind = "stdio", or in python or javascript'
        raise Mistake(".language", f"functions of {name} cannot be called; {remedy}", name)
    return name


def _entry_point(data: Mapping[str, Any], kind: str) -> str | None:
    if kind == "stdio":
        return None
    programs = _one_of(data, "io", ("function", "stdio")) == "stdio"
    name = data.get("entry_point")
    if name is None and (programs or kind == "asserts"):
        return None if programs else _called(data)
    if programs:
        raise Mistake(
            ".entry_point", 'a task with io = "stdio" runs whole programs: remove it', name
        )
    if not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name):
        also = ', or io = "stdio" to run whole programs' if kind == "golden" else ""
        raise Mistake(
            ".entry_point", f"expected the name of the function that is called{also}", name
        )
    return name


def _called(data: Mapping[str, Any]) -> str:
    """The one function that every assert calls, where the data set names none (MBPP)."""
    from .inspecting import called_in

    tests = data.get("test")
    lines: list[object] = tests if isinstance(tests, list) else []
    if isinstance(tests, str):
        lines = [tests]
    names = called_in([line for line in lines if isinstance(line, str)])
    if len(names) == 1:
        return names[0]
    said = f"the asserts call {', '.join(names)}" if names else "it cannot be told from the asserts"
    raise Mistake(".entry_point", f"expected the name of the function under test; {said}")


def _drawn(data: Mapping[str, Any], kind: str, *, programs: bool) -> dict[str, Any]:
    if kind != "golden":
        return {}
    if not data.get("golden"):
        raise Mistake(".golden", "expected the source of a correct program", data.get("golden"))
    if data.get("inputs") is not None and data.get("generate") is not None:
        raise Mistake(".generate", "a task has inputs or generate, not both")
    drawn = {"inputs": _schemas(data.get("inputs")), "generate": source(data, "generate")}
    if not any(drawn.values()):
        if data.get("cases"):
            return {}
        raise Mistake(
            "",
            "a golden task has inputs: name inputs (a schema per argument), "
            "generate (source of def generate(rng)) or cases",
        )
    count = data.get("count", DRAWN)
    if type(count) is not int or not 1 <= count <= MAX_DRAWN:
        raise Mistake(".count", f"expected an integer from 1 to {MAX_DRAWN}", count)
    if programs and "inputs" in data and not drawn["inputs"]:
        raise Mistake(".inputs", "expected one schema at least", data["inputs"])
    return {**drawn, "count": count}


def _schemas(data: Any) -> tuple[Any, ...] | None:
    if data is None:
        return None
    if not isinstance(data, (list, tuple)):
        raise Mistake(".inputs", "expected a list of schemas, one per argument", data)
    try:
        schemas = tuple(value_of(list(data)))
    except BadValue as error:
        raise Mistake(f".inputs{error.path}", str(error)) from None
    for place, schema in enumerate(schemas):
        try:
            check_schema(schema, f".inputs[{place}]")
        except BadSchema as error:
            raise Mistake(error.path, str(error), schema) from None
    return schemas


def _comparison(data: Mapping[str, Any], lang: str) -> dict[str, Any]:
    tolerance = data.get("tolerance")
    if tolerance is None:
        tolerance = {}
    if not isinstance(tolerance, Mapping):
        raise Mistake(".tolerance", "expected a table { atol = …, rtol = … }", tolerance)
    no_unknown(tolerance, ("atol", "rtol"), ".tolerance")
    for key, value in tolerance.items():
        number = type(value) in (int, float) and math.isfinite(value) and value >= 0
        if not number or (key == "rtol" and value >= 1):
            most = ", below 1" if key == "rtol" else ""
            raise Mistake(f".tolerance.{key}", f"expected a number, 0 or above{most}", value)
    unordered = data.get("unordered", False)
    if type(unordered) is not bool:
        raise Mistake(".unordered", "expected true or false", unordered)
    types = _one_of(data, "types", ("strict", "loose"))
    return {
        "atol": float(tolerance.get("atol", 0.0)),
        "rtol": float(tolerance.get("rtol", 0.0)),
        "unordered": unordered,
        "loose": lang != "python" if types is None else types == "loose",
        "checker": source(data, "checker"),
    }


def _limits(data: Any) -> Limits:
    if data is None:
        return Limits()
    if not isinstance(data, Mapping):
        raise Mistake(".limits", "expected a table of limits, as { memory_mb = 256 }", data)
    whole = ("memory_mb", "output_bytes", "processes", "source_bytes")
    names = ("imports", "calls")
    no_unknown(data, (*whole, "cpu", *names), ".limits")
    found: dict[str, Any] = {}
    for key in whole:
        value = data.get(key)
        if value is not None and (type(value) is not int or value < 1):
            raise Mistake(f".limits.{key}", "expected an integer, 1 or above", value)
        found[key] = value
    found["cpu"] = _number(data, "cpu", ".limits", MAX_TIME)
    for key in names:
        value = data.get(key)
        if value is not None:
            if not isinstance(value, (list, tuple)) or not all(text(v) for v in value):
                raise Mistake(f".limits.{key}", "expected a list of names", value)
            found[key] = tuple(value)
    return Limits(**found)


def _number(data: Mapping[str, Any], key: str, path: str, most: float) -> float | None:
    value = data.get(key)
    if value is None:
        return None
    if type(value) not in (int, float) or not 0 < value <= most:
        raise Mistake(f"{path}.{key}", f"expected seconds, above 0 and at most {most:g}", value)
    return float(value)


def _one_of(data: Mapping[str, Any], key: str, names: tuple[Any, ...]) -> Any:
    value = data.get(key)
    if value is not None and value not in names:
        raise Mistake(f".{key}", f"expected {' or '.join(names)}", value)
    return value


def _tier(name: Any) -> str | None:
    if name is None:
        return None
    try:
        rank(name)
    except ConfigError as error:
        raise Mistake(".min_isolation", str(error), name) from None
    return str(name)
