"""The OpenAPI document, and what hostile requests to everything in it come to."""

from __future__ import annotations

import logging
from contextlib import suppress
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis.errors import Unsatisfiable
from rlenv_serve import Limits, Server
from rlenv_serve.app import DOCUMENT, ENDPOINTS
from rlenv_serve.server.endpoint import Endpoint
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Err
from serving import Client, running, served, single, sums


def _path(endpoint: Endpoint) -> str:
    return endpoint.path.replace(":path", "")


ENDLESS = {"/trajectories/watch"}  # a stream of events, which ends with its client
WAITED = 20.0  # seconds for an answer


def test_the_document_has_every_operation_and_how_it_is_asked(ask: Client) -> None:
    got = ask("GET", "/openapi.json")
    paths = got.body["paths"]
    verify = paths["/v1/verify"]["post"]

    assert (got.status, got.body["openapi"]) == (200, "3.1.0")
    assert {(method.upper(), path) for path, found in paths.items() for method in found} == {
        *((each.method, _path(each)) for each in ENDPOINTS),
        ("GET", "/openapi.json"),
    }
    assert verify["requestBody"]["content"]["application/json"]["schema"] == {
        "$ref": "#/components/schemas/VerifyRequest"
    }
    assert set(verify["responses"]["200"]["content"]) == {
        "application/json",
        "application/x-ndjson",
    }
    assert {"401", "404", "409", "413", "422", "429"} <= set(verify["responses"])
    assert [each["name"] for each in verify["parameters"]] == ["Idempotency-Key", "Prefer"]
    assert verify["responses"]["202"]["content"]["application/json"]["schema"] == {
        "$ref": "#/components/schemas/Ticket"
    }
    assert set(paths["/v1/verify/{ticket}"]["get"]["responses"]) >= {"200", "202", "404", "410"}
    assert paths["/healthz"]["get"]["security"] == [{}]
    assert {"bearer": []} in verify["security"]
    assert got.body["components"]["schemas"]["Item"]["required"] == ["task", "response"]


MOST = pytest.mark.slow  # 25 requests to each operation; `make test` asks each third one for three
WRONG = GenerationMode.NEGATIVE
RIGHT = GenerationMode.POSITIVE


@pytest.mark.parametrize(
    ("mode", "share", "every"),
    [(WRONG, 10, 3), *(pytest.param(mode, 4, 1, marks=MOST) for mode in (WRONG, RIGHT))],
    ids=str,
)
def test_no_request_makes_the_server_fail(
    mode: GenerationMode, share: int, every: int, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.ERROR, "rlenv_serve")
    with running(Server(served(sums(), single()), limits=Limits(episodes=10_000))) as ask:
        schema = schemathesis.openapi.from_dict(_with_names(ask("GET", "/openapi.json").body))
        operations = [
            each.ok() for each in schema.get_all_operations() if not isinstance(each, Err)
        ]
        for operation in operations[::every]:
            if operation.path not in ENDLESS:
                _fuzz(operation, mode, ask.url, share)
    assert {each.path for each in operations} == {_path(each) for each in (*ENDPOINTS, DOCUMENT)}
    assert caplog.records == []


def _fuzz(operation: Any, mode: GenerationMode, url: str, share: int) -> None:
    @given(case=operation.as_strategy(generation_mode=mode))
    @settings(
        deadline=None,
        max_examples=settings().max_examples // share,
        suppress_health_check=[*HealthCheck],
    )
    def asked(case: schemathesis.Case[Any]) -> None:
        case.call_and_validate(base_url=url, checks=[not_a_server_error], timeout=WAITED)

    with suppress(Unsatisfiable):  # what has no parameter cannot be asked for wrongly
        asked()


def _with_names(document: Any) -> Any:
    """The document, with what this server has where a random name would not get far."""
    schemas = document["components"]["schemas"]
    schemas["VerifyRequest"]["properties"]["environment"] = {"enum": ["sums", "single"]}
    schemas["NewEpisode"]["properties"]["environment"] = {"enum": ["sums", "single", ""]}
    schemas["NewEpisode"]["properties"]["task_id"] = {"enum": ["t1", "sums/t1"]}
    schemas["Baselines"]["properties"]["environment"] = {"enum": ["sums", "single"]}
    schemas["Baselines"]["properties"]["results"]["propertyNames"] = {"enum": ["t1", "t2"]}
    schemas["Item"]["properties"]["task"]["anyOf"].append({"enum": ["t1"]})
    for found in document["paths"].values():
        for operation in found.values():
            for each in operation["parameters"]:
                if each["name"] == "env":
                    each["schema"] = {"enum": ["sums", "single"]}
    return document
