"""JSON Schemas: read at load with every mistake named, and applied within a budget."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import islice
from typing import Any

from rlenv import ConfigError
from rlenv.authoring import suggest

from .schema_sure import keywords, sure

__all__ = ["DRAFTS", "Exceeded", "compiled", "schema_problems"]

STEPS = 100_000  # keywords applied to one response
PATTERN_SECONDS = 0.5
DRAFTS = {
    "draft4": "Draft4Validator",
    "draft6": "Draft6Validator",
    "draft7": "Draft7Validator",
    "2019-09": "Draft201909Validator",
    "2020-12": "Draft202012Validator",
}
_NOTES = [
    "$schema",
    "$id",
    "id",
    "$defs",
    "definitions",
    "$anchor",
    "$dynamicAnchor",
    "$comment",
    "$vocabulary",
    "title",
    "description",
    "default",
    "examples",
    "readOnly",
    "writeOnly",
    "deprecated",
    "contentEncoding",
    "contentMediaType",
    "contentSchema",
    "then",
    "else",
    "minContains",
    "maxContains",
]
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_TOLD = (
    "type",
    "required",
    "additionalProperties",
    "uniqueItems",
    "minItems",
    "maxItems",
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "minProperties",
    "maxProperties",
)
_spent = threading.local()


class Exceeded(Exception):
    """The response makes the schema cost more than its budget."""


def schema_problems(schema: Any, draft: str = "") -> list[str]:
    """What is wrong with a schema: its form, references that leave it, patterns that do not
    compile.
    """
    from jsonschema.exceptions import SchemaError  # type: ignore[import-untyped]

    if not isinstance(schema, (dict, bool)):
        return [f"schema: a JSON Schema is a table, not {schema!r:.60}"]
    try:
        _class_of(schema, draft).check_schema(schema)
    except ConfigError as err:
        return list(err.problems)
    except SchemaError as err:
        place = ".".join(["schema", *map(str, err.absolute_path)])
        return [f"{place}: {err.message[:300]}"]
    except RecursionError:
        return ["schema: nested too deep"]
    found = [*_bad_references(schema), *_bad_patterns(schema), *_bad_keywords(schema)]
    names = {name for table in _tables(schema) for name in table}
    if {"unevaluatedProperties", "patternProperties"} <= names:
        found.append(
            "schema: unevaluatedProperties beside patternProperties, whose patterns cannot be"
            " limited in time there; use additionalProperties"
        )
    return found


def _tables(schema: Any) -> Iterator[dict[str, Any]]:
    stack = [schema]
    while stack:
        item = stack.pop()
        if isinstance(item, dict):
            yield item
            stack += item.values()
        elif isinstance(item, list):
            stack += item


def _bad_references(schema: Any) -> Iterator[str]:
    anchors = {
        f"#{table[key]}"
        for table in _tables(schema)
        for key in ("$anchor", "$dynamicAnchor")
        if key in table
    }
    for table in _tables(schema):
        if table is not schema and isinstance(table.get("$id"), str):
            yield f"schema: $id {table['$id']!r} within it; only the whole schema may have one"
        for ref in [table[key] for key in _REFERENCES if isinstance(table.get(key), str)]:
            if not ref.startswith("#"):
                yield (
                    f"schema: $ref {ref!r} leaves the schema; only those that begin with # are"
                    " followed"
                )
            elif ref not in anchors and not _points(schema, ref):
                yield f"schema: $ref {ref!r} points at nothing in it"


def _points(schema: Any, ref: str) -> bool:
    from urllib.parse import unquote

    if ref == "#":
        return True
    place = schema
    for part in unquote(ref).split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        if isinstance(place, dict) and key in place:
            place = place[key]
        elif isinstance(place, list) and key.isdigit() and int(key) < len(place):
            place = place[int(key)]
        else:
            return False
    return ref.startswith("#/")


def _bad_patterns(schema: Any) -> Iterator[str]:
    import regex  # type: ignore[import-untyped]

    for table in _tables(schema):
        named = table.get("patternProperties")
        found = [table["pattern"]] if isinstance(table.get("pattern"), str) else []
        for pattern in [*found, *(named if isinstance(named, dict) else ())]:
            try:
                regex.compile(pattern)
            except (regex.error, TypeError) as err:
                yield f"schema: pattern {pattern!r} does not compile: {err}"


def _bad_keywords(schema: Any) -> Iterator[str]:
    """At the top only: below it, any name may be that of a property."""
    import jsonschema  # type: ignore[import-untyped]

    known = {*_NOTES}.union(*(getattr(jsonschema, name).VALIDATORS for name in DRAFTS.values()))
    for name in schema if isinstance(schema, dict) else ():
        hint = suggest(name, known)
        if name not in known and hint.startswith("did"):
            yield f"schema.{name}: no keyword of JSON Schema; {hint}"


def _class_of(schema: Any, draft: str) -> Any:
    import jsonschema
    from jsonschema.validators import validator_for  # type: ignore[import-untyped]

    if draft:
        if draft not in DRAFTS:
            hint = suggest(draft, DRAFTS, what="the drafts are")
            raise ConfigError(f"draft: there is no {draft!r}; {hint}")
        return getattr(jsonschema, DRAFTS[draft])
    if isinstance(schema, dict) and "$schema" in schema:
        known = validator_for(schema, default=None)
        if known is None:
            raise ConfigError(f"schema.$schema: {schema['$schema']!r} is no draft that is known")
        return known
    return jsonschema.Draft202012Validator


def compiled(schema: Any, draft: str = "") -> Callable[[Any, int], list[str]]:
    """The schema as a function: a value and how many values it is made of at most → its first three
    misfits, each with its path."""
    fits = sure(schema)
    most = keywords(schema)
    return partial(_errors, _bounded(_class_of(schema, draft))(schema), fits, most)


def _errors(
    validator: Any, fits: Callable[[Any], bool] | None, most: int, value: Any, values: int
) -> list[str]:
    if fits is not None and values * most <= STEPS and fits(value):
        return []
    _spent.steps = 0
    try:
        found = list(islice(validator.iter_errors(value), 3))
    except RecursionError:
        raise Exceeded("undecided: the schema goes round in circles, or too deep") from None
    return [f"{_path(error.absolute_path)}: {_said(error)}" for error in found]


def _said(error: Any) -> str:
    """What is wrong.

    Of ``enum``, ``const`` and the like only their names, since they may hold the answer.
    """
    told = error.validator in _TOLD
    return error.message[:160] if told else f"does not satisfy {error.validator!r}"


def _path(parts: Any) -> str:
    return "$" + "".join(f"[{p}]" if isinstance(p, int) else f".{p}"[:60] for p in parts)


@cache
def _bounded(cls: Any) -> Any:
    """The same draft, where every keyword is counted and none takes longer than its value is
    long.
    """
    from jsonschema.validators import extend

    own = {
        "pattern": _pattern,
        "patternProperties": _pattern_properties,
        "additionalProperties": _additional,
        "uniqueItems": _unique,
    }
    keywords = {**cls.VALIDATORS, **{k: v for k, v in own.items() if k in cls.VALIDATORS}}
    return extend(cls, {name: _counted(check) for name, check in keywords.items()})


def _counted(check: Any) -> Any:
    def counted(validator: Any, wanted: Any, instance: Any, schema: Any) -> Any:
        _spent.steps += 1
        if _spent.steps > STEPS:
            raise Exceeded(f"undecided: more than {STEPS:,} steps through the schema")
        return check(validator, wanted, instance, schema)

    return counted


def _found(pattern: str, text: str) -> bool:
    import regex

    try:
        return regex.search(pattern, text, timeout=PATTERN_SECONDS) is not None
    except TimeoutError:
        raise Exceeded(f"undecided: the pattern {pattern!r} takes too long") from None


def _pattern(validator: Any, pattern: str, instance: Any, _: Any) -> Iterator[Any]:
    from jsonschema.exceptions import ValidationError

    if validator.is_type(instance, "string") and not _found(pattern, instance):
        yield ValidationError(f"{instance!r:.80} does not match {pattern!r}")


def _pattern_properties(validator: Any, wanted: Any, instance: Any, _: Any) -> Iterator[Any]:
    if not validator.is_type(instance, "object"):
        return
    for pattern, below in wanted.items():
        for key, value in instance.items():
            if _found(pattern, key):
                yield from validator.descend(value, below, path=key, schema_path=pattern)


def _additional(validator: Any, wanted: Any, instance: Any, schema: Any) -> Iterator[Any]:
    """In the order of the document, with patterns that are limited in time."""
    from jsonschema.exceptions import ValidationError

    if not validator.is_type(instance, "object"):
        return
    known = schema.get("properties", {})
    patterns = schema.get("patternProperties", {})
    others = [
        name
        for name in instance
        if name not in known and not any(_found(p, name) for p in patterns)
    ]
    if validator.is_type(wanted, "object"):
        for name in others:
            yield from validator.descend(instance[name], wanted, path=name)
    elif not wanted and others:
        listed = ", ".join(map(repr, sorted(others)))
        one = len(others) == 1
        if patterns:
            regexes = ", ".join(map(repr, sorted(patterns)))
            said = f"{listed} {'does' if one else 'do'} not match any of the regexes: {regexes}"
        else:
            said = (
                f"Additional properties are not allowed ({listed} {'was' if one else 'were'}"
                " unexpected)"
            )
        yield ValidationError(said)


def _unique(validator: Any, wanted: Any, instance: Any, _: Any) -> Iterator[Any]:
    from jsonschema.exceptions import ValidationError

    if wanted and validator.is_type(instance, "array"):
        keys = {_key(item) for item in instance}
        if len(keys) < len(instance):
            yield ValidationError(f"{len(instance) - len(keys)} items are there twice")


def _key(value: Any) -> Any:
    """What equal values share, by JSON Schema's equality: 1 is 1.0 and true is not 1."""
    if isinstance(value, dict):
        return "object", frozenset((name, _key(item)) for name, item in value.items())
    if isinstance(value, list):
        return "array", tuple(map(_key, value))
    return isinstance(value, bool), value
