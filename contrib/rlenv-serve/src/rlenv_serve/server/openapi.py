"""The OpenAPI 3.1 document of the server, from the table of its endpoints."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Mapping, Sequence
from http import HTTPStatus

import msgspec

from rlenv_serve.http.answers import JSON
from rlenv_serve.http.problems import PROBLEM, Details

from .endpoint import Endpoint

VERSION = "3.1.0"
PARAMETER = re.compile(r"\{(\w+)(?::\w+)?\}")
REF = "#/components/{}/{}"
SCHEMES: Mapping[str, object] = {
    "key": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
    "bearer": {"type": "http", "scheme": "bearer"},
    "basic": {"type": "http", "scheme": "basic", "description": "The key is the password."},
}
ANY = {"description": "any value of JSON"}  # what ``object`` is
RETRY = {"Retry-After": {"description": "Seconds to wait", "schema": {"type": "string"}}}


def document(endpoints: Iterable[Endpoint]) -> dict[str, object]:
    """The document of these operations."""
    table = [*endpoints]
    types = [kind for each in table for kind in _types(each) if kind is not None] + [Details]
    found, components = msgspec.json.schema_components(
        types, schema_hook=lambda _: ANY, ref_template=REF.format("schemas", "{name}")
    )
    schemas = iter(found)
    paths: dict[str, dict[str, object]] = {}
    for each in table:
        made = _operation(each, *(None if kind is None else next(schemas) for kind in _types(each)))
        paths.setdefault(PARAMETER.sub(r"{\1}", each.path), {})[each.method.lower()] = made
    return {
        "openapi": VERSION,
        "info": {
            "title": "rlenv serve",
            "version": "1",
            "description": "Environments for trainers and agents.",
        },
        "paths": paths,
        "components": {
            "schemas": components,
            "responses": {
                str(status): _problem(status)
                for status in sorted({status for each in table for status in _errors(each)})
            },
            "securitySchemes": SCHEMES,
        },
    }


def _types(endpoint: Endpoint) -> tuple[object, object, object]:
    return endpoint.takes, endpoint.gives, endpoint.accepted


def _operation(
    endpoint: Endpoint, taken: object, given: object, accepted: object
) -> dict[str, object]:
    good = {
        "description": HTTPStatus(endpoint.status).phrase,
        "content": {
            kind: {"schema": given if given and kind == JSON else {}} for kind in endpoint.media
        },
    }
    if endpoint.status == HTTPStatus.NO_CONTENT:
        del good["content"]
    answers = {str(endpoint.status): good} | {
        str(status): {"$ref": REF.format("responses", status)} for status in _errors(endpoint)
    }
    if accepted:
        body = {JSON: {"schema": accepted}}
        answers["202"] = {"description": "It is not done yet", "content": body}
    made: dict[str, object] = {
        "operationId": f"{endpoint.method.lower()} {endpoint.path}",
        "summary": endpoint.summary,
        "description": inspect.cleandoc(endpoint.handler.__doc__ or endpoint.summary)
        .split("\nRaises:")[0]
        .strip(),
        "tags": [endpoint.tag],
        "parameters": _parameters(endpoint),
        "responses": answers,
        "security": [{}] if endpoint.public else [{name: []} for name in SCHEMES] + [{}],
    }
    if taken is not None:
        made["requestBody"] = {"required": True, "content": {JSON: {"schema": taken}}}
    return made


def _parameters(endpoint: Endpoint) -> list[dict[str, object]]:
    text = {"type": "string"}
    path = [
        {"name": name, "in": "path", "required": True, "schema": text}
        for name in PARAMETER.findall(endpoint.path)
    ]
    given = (("query", endpoint.query), ("header", endpoint.headers))
    others = [
        {"name": name, "in": place, "description": told, "schema": text}
        for place, table in given
        for name, told in table.items()
        if name != "Accept"
    ]
    return [*path, *others]


def _errors(endpoint: Endpoint) -> Sequence[int]:
    """Statuses of errors; 403 and 421 are those of pages of other sites."""
    taken = {400, 413, 415, 422, 429} if endpoint.takes is not None else set[int]()
    keyed = set[int]() if endpoint.public else {401}
    return sorted({403, 421, *endpoint.errors, *taken, *keyed})


def _problem(status: int) -> dict[str, object]:
    made: dict[str, object] = {
        "description": HTTPStatus(status).phrase,
        "content": {PROBLEM: {"schema": {"$ref": REF.format("schemas", Details.__name__)}}},
    }
    return made | ({"headers": RETRY} if status in (429, 503) else {})
