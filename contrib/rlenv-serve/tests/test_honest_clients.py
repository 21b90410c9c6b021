"""What clients send that is odd, and means something: it is understood, or the answer says what to
do.
"""

from __future__ import annotations

import gzip
import json

import pytest
from serving import Client, episode

TASK = {"task_id": "t3", "environment": "sums"}
ITEM = {"task": "t3", "response": "6"}
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def judged(ask: Client, **more: object) -> tuple[int, str]:
    """The status and the text of an answer of ``/v1/verify``."""
    got = ask("POST", "/v1/verify", {"environment": "single", "items": [ITEM], **more})
    return got.status, str(got.body.get("detail"))


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/episodes/", TASK, 201),
        ("/v1/verify/", {"environment": "single", "items": [ITEM]}, 200),
        ("/sums/splits/", None, 200),
        ("/episodes//", TASK, 201),
    ],
)
def test_a_slash_at_the_end_of_a_path_changes_nothing(
    ask: Client, path: str, body: object, status: int
) -> None:
    got = ask("POST" if body else "GET", path, body)
    assert (got.status, "location" in got.headers) == (status, False)


def test_no_answer_leads_to_the_host_that_a_request_names(ask: Client) -> None:
    for path in ("/episodes/", "/nothing/", "//evil.example/", "/openenv/sums/health/"):
        got = ask("GET", path, Host="evil.example")
        assert "evil" not in str(got.headers)
        assert got.status in (404, 405, 421)


def test_a_client_of_mcp_may_end_its_address_with_a_slash(ask: Client) -> None:
    request = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}
    assert "result" in ask("POST", "/mcp/sums/?seed=3", request).body
    assert "result" in ask("POST", "/mcp/sums/t3", request).body
    assert ask("POST", "/mcp/sums/t3/", request).status == 404  # a task may have such an id


def test_a_byte_order_mark_before_json_is_ignored(ask: Client) -> None:
    assert ask("POST", "/episodes", BYTE_ORDER_MARK + json.dumps(TASK).encode()).status == 201
    got = ask("POST", "/episodes", json.dumps(TASK).encode("utf-16"))
    assert (got.status, got.body["code"]) == (400, "invalid")


@pytest.mark.parametrize("encoding", ["gzip", "GZIP", "br", "gzip, identity"])
def test_a_compressed_body_is_rejected_with_the_reason(ask: Client, encoding: str) -> None:
    sent = gzip.compress(json.dumps(TASK).encode())
    got = ask("POST", "/episodes", sent, Content_Encoding=encoding)
    assert (got.status, got.body["code"]) == (415, "encoded_body")
    assert ask("POST", "/episodes", TASK, Content_Encoding="identity").status == 201


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"enviroment": "single"}, ["'enviroment'", '"environment"']),
        ({"item": []}, ["'item'", '"items"']),
        ({"items": [ITEM, {**ITEM, "respons": "7"}]}, ["'respons'", "items[1]", '"response"']),
        ({"items": [{**ITEM, "task_id": "t4"}]}, ["'task_id'", "items[0]", '"task"']),
        (
            {"items": [{"task": {"prompt": "?", "anwser": "6"}, "response": "6"}]},
            ["'anwser'", "items[0].task", '"answer"'],
        ),
        ({"x` - at `$.items[0]": 1}, ["items[0]"]),
    ],
)
def test_a_misspelled_member_of_verify_is_named_with_the_nearest(
    ask: Client, more: dict[str, object], says: list[str]
) -> None:
    status, text = judged(ask, **more)
    assert status in (400, 422)
    for part in says:
        assert part in text
    assert judged(ask)[0] == 200


def test_trainers_may_send_columns_that_nobody_reads(ask: Client) -> None:
    nemo = {
        "responses_create_params": {"input": "?"},
        "response": {"output": []},
        "task_id": "t3",
        "agent_ref": {},
        "difficulty": 3,
    }
    assert ask("POST", "/compat/nemo/single/verify", nemo).body["difficulty"] == 3
    slime = {"prompt": "?", "response": "6", "label": "t3", "metadata": {}, "index": 7}
    assert ask("POST", "/compat/slime/single", slime).body == 1.0
    openrlhf = {"query": ["?6"], "prompts": ["?"], "labels": ["t3"], "images": []}
    assert ask("POST", "/compat/openrlhf/single", openrlhf).body["rewards"] == [1.0]


def test_an_empty_message_of_a_model_may_be_null(ask: Client) -> None:
    # A policy that writes nothing besides its thoughts could otherwise leave its batch unscored.
    items = [{"task": "t3", "response": None}, ITEM]
    got = ask("POST", "/v1/verify", {"environment": "single", "items": items})
    assert [each["reward"] for each in got.body["results"]] == [0.0, 1.0]
    for action in ({"action": "message", "content": None}, {"action": "submit", "answer": None}):
        got = ask("POST", f"/episodes/{episode(ask, environment='single')}/steps", action)
        assert (got.status, got.body["reward"], got.body["done"]) == (200, 0.0, True)
