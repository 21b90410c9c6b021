"""Answers of tasks, and what stages and faults say in private: no route shows them to who is not an
operator.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest
from ors_wire import begun
from rlenv import Environment, Outcome, Task, stage
from rlenv_plugin_agent import Harness
from rlenv_serve import Keys, Server
from rlenv_serve.app import DOCUMENT, ENDPOINTS
from rlenv_serve.http.keys import add_key
from rlenv_serve.server.endpoint import Endpoint
from serving import Client, add, running, served
from sockets import talking

ANSWER = "mark-of-the-answer"
PRIVATE = "mark-of-a-stage"
FAULT = "mark-of-a-fault"
MARKS = tuple(each.encode() for each in (ANSWER, PRIVATE, FAULT))
ENDLESS = "/trajectories/watch"
# What an operator is shown; everything else is the same for all.
OPERATOR_SEES = {
    ("GET", "/trajectories/{id}"),
    ("POST", "/v1/verify"),
    ("GET", "/v1/verify/{ticket}"),
}


@stage(where="inline")
def whispers(visible: str, answer: str) -> Outcome:
    if visible == "break":
        raise RuntimeError(FAULT)
    return Outcome(float(visible == answer), "as it is", private={"expected": PRIVATE})


def environment() -> Environment:
    tasks = [Task(f"Say {n}.", answer=ANSWER, id=f"t{n}", split="train") for n in range(3)]
    return Environment(
        "secret", whispers, tasks, tables={"harness": Harness("tool-use", tools=[add])}
    )


class Table:
    """A request to each operation of a server.

    Args:
        ask: the server.
    """

    def __init__(self, ask: Client) -> None:
        self.ask = ask
        self.session = begun(ask, split="train", index=0)
        made = ask("POST", "/episodes", {"task_id": "t0"}, Idempotency_Key="one")
        self.open = made.body["episode_id"]
        self.done = ask("POST", "/episodes", {"task_id": "t1"}).body["episode_id"]
        ask("POST", f"/episodes/{self.done}/steps", {"action": "submit", "answer": "no"})
        asked = ask("POST", "/v1/verify", self.verify("no", "break"), Prefer="respond-async")
        self.ticket = asked.body["ticket"]
        started = ask("POST", "/mcp/secret", self.rpc("initialize"))
        self.mcp = started.headers["mcp-session-id"]

    @staticmethod
    def rpc(method: str, **params: object) -> dict[str, object]:
        return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}

    @staticmethod
    def verify(*responses: str) -> dict[str, object]:
        items = [{"task": "t2", "response": each} for each in responses]
        return {"environment": "secret", "items": items}

    def body(self, endpoint: Endpoint) -> object:
        """What is sent to an operation that takes something."""
        nemo = {
            "responses_create_params": {"input": "Say 2."},
            "response": {"output": [{"content": "no"}]},
            "task_id": "t2",
        }
        candidate = {
            "messages": [{"role": "assistant", "blocks": [{"type": "text", "text": "no"}]}]
        }
        bodies: dict[str, object] = {
            "/episodes": {"task_id": "t0"},
            "/episodes/{id}/steps": {"action": "add", "a": 1, "b": 2},
            "/v1/verify": self.verify("no", "break"),
            "/v1/baselines": {"environment": "secret", "model": "m", "results": {"t0": [1]}},
            "/openenv/{env}/mcp": self.rpc("tools/list"),
            "/mcp/{env}": self.rpc("tools/list"),
            "/mcp/{env}/{task_id:path}": self.rpc("tools/list"),
            "/compat/openrlhf/{env}": {
                "query": ["Say 2.no"],
                "prompts": ["Say 2."],
                "labels": ["t2"],
            },
            "/compat/slime/{env}": {"prompt": "Say 2.", "response": "no", "label": "t2"},
            "/compat/nemo/{env}/verify": nemo,
            "/compat/nemo/{env}/seed_session": {},
            "/compat/nemo/{env}/aggregate_metrics": {"verify_responses": []},
            "/create_session": {},
            "/create": {"split": "train", "index": 1},
        }
        if endpoint.path in bodies:
            return bodies[endpoint.path]
        last = endpoint.path.rpartition("/")[2]
        of_ors = {"tasks": {}, "num_tasks": {}, "task": {"index": 0}, "task_range": {}}
        if last in of_ors:
            return {"split": "train", **of_ors[last]}
        if last == "call":
            return {"name": "submit", "input": {"answer": "no"}}
        return {"candidates": [candidate]} if last == "score_group" else None

    def request(self, endpoint: Endpoint) -> tuple[int, bytes]:
        """The status and all that is answered."""
        id_ = self.done if endpoint.method == "GET" else self.open
        path = endpoint.path.replace(":path", "")
        values = {
            "id": id_,
            "env": "secret",
            "base": "secret",
            "ticket": self.ticket,
            "task_id": "t0",
            "name": "page.js",
        }
        headers = {"X-Session-ID": self.session.sid, "Mcp-Session-Id": self.mcp, **self.ask.headers}
        link = HTTPConnection("127.0.0.1", self.ask.port, timeout=60)
        try:
            sent = self.body(endpoint)
            raw = None if sent is None else json.dumps(sent).encode()
            link.request(endpoint.method, path.format(**values), raw, headers)
            got = link.getresponse()
            told = str(got.getheaders()).encode()
            return got.status, told + (self._event(got) if path == ENDLESS else got.read())
        finally:
            link.close()

    def _event(self, got: Any) -> bytes:
        """The first event of a stream that has no end."""
        self.ask("GET", f"/episodes/{self.open}/reward")
        lines = list[bytes]()
        while not lines or not lines[-1].startswith(b"data:"):
            lines.append(got.readline())
        return b"".join(lines)


def shown(ask: Client, endpoints: Iterator[Endpoint]) -> dict[tuple[str, str], tuple[int, bool]]:
    """The status of each operation, and whether a mark is in what it answers."""
    table = Table(ask)
    found = dict[tuple[str, str], tuple[int, bool]]()
    # What ends a session or removes an episode comes last.
    ends = ("delete", "delete_session", "reward", "create")
    for each in sorted(
        endpoints, key=lambda each: (each.method == "DELETE", each.path.endswith(ends))
    ):
        status, told = table.request(each)
        found[each.method, each.path] = status, any(mark in told for mark in MARKS)
    return found


# These answer with an error whatever is asked of them, or here.
REFUSED = {
    ("POST", "/openenv/{env}/reset"), ("POST", "/openenv/{env}/step"),
    ("GET", "/openenv/{env}/state"), ("POST", "/score_group"), ("POST", "/{env}/score_group"),
    ("POST", "/create"), ("PUT", "/v1/baselines"), ("DELETE", "/mcp/{env}/{task_id:path}"),
}  # fmt: skip


@contextmanager
def keyless(path: Path) -> Iterator[Client]:
    with environment() as env, running(Server(served(env))) as ask:
        yield ask


@contextmanager
def with_keys(path: Path) -> Iterator[Client]:
    key = add_key(path / "keys.toml", "alice", answers=True, operator=False)
    with (
        environment() as env,
        running(Server(served(env), keys=Keys.from_file(path / "keys.toml"))) as ask,
    ):
        yield Client(ask.port, {"X-API-Key": key})


@pytest.mark.parametrize("server", [keyless, with_keys])
def test_no_route_shows_what_is_private_to_who_is_no_operator(
    server: Callable[[Path], Any], tmp_path: Path
) -> None:
    with server(tmp_path) as ask:
        found = shown(ask, iter((*ENDPOINTS, DOCUMENT)))

        assert {name for name, (_, marked) in found.items() if marked} == set()
        assert {name for name, (status, _) in found.items() if status >= 400} <= REFUSED
        with talking(ask, "secret") as talk:
            frames = [
                talk("reset", task_id="t0"),
                talk("state"),
                talk("step", type="list_tools"),
                talk("mcp", Table.rpc("tools/list")),
                talk("step", answer="break"),
                talk("reset", task_id="t0"),
                talk("step", answer="no"),
                talk("nothing"),
            ]
        assert not any(mark.decode() in str(frames) for mark in MARKS)


def test_an_operator_sees_it_on_the_routes_that_are_for_operators() -> None:
    with environment() as env, running(Server(served(env), keys=Keys(operator=True))) as ask:
        found = shown(ask, iter((*ENDPOINTS, DOCUMENT)))

    assert {name for name, (_, marked) in found.items() if marked} == OPERATOR_SEES


def test_a_keyless_server_needs_the_option_operator_for_what_belongs_to_one() -> None:
    body = {"environment": "secret", "model": "m", "results": {"t0": [1]}}
    with environment() as env, running(Server(served(env))) as ask:
        refused = ask("PUT", "/v1/baselines", body)
        parts = ask("GET", "/environments").body["environments"][0]["parts"]
    with environment() as env, running(Server(served(env), keys=Keys(operator=True))) as ask:
        kept = ask("PUT", "/v1/baselines", body)

    assert (refused.status, refused.body["code"]) == (403, "operator_only")
    assert "start it with --operator" in refused.body["detail"]
    assert [*parts] == ["T"]
    assert kept.status == 200
