"""A server in a thread of this process, on a port of its own, and requests to it over HTTP."""

from __future__ import annotations

import http.client
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

import uvicorn
from rlenv import Environment, Task, stage
from rlenv_plugin_agent import Harness, tool
from rlenv_serve import Catalog, Keys, Served, Server, application
from rlenv_serve.listening import Connections
from rlenv_serve.listening.config import host_config

SECRET = "the answer, which no client may see"


class Answered(NamedTuple):
    """What a request was answered."""

    status: int
    body: Any
    headers: Mapping[str, str]


class Client:
    """Requests to one server."""

    def __init__(self, port: int, headers: Mapping[str, str] | None = None) -> None:
        self.port = port
        self.headers = dict(headers or {})

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def __call__(self, method: str, path: str, body: object = None, **headers: str) -> Answered:
        """Ask; a body that is not bytes is sent as JSON, and headers are written with
        underscores.
        """
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=180)
        try:
            sent = {
                **self.headers,
                **{name.replace("_", "-"): value for name, value in headers.items()},
            }
            raw = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
            connection.request(method, path, raw, sent)
            got = connection.getresponse()
            found = got.read()
            told = {name.lower(): value for name, value in got.getheaders()}
        finally:
            connection.close()
        is_json = "json" in told.get("content-type", "") and "ndjson" not in told["content-type"]
        return Answered(got.status, json.loads(found) if is_json and found else found, told)


def until(holds: Callable[[], object], seconds: float = 60.0) -> None:
    """Wait for a state that will come, on a busy machine later."""
    ends = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < ends, f"did not come within {seconds:g} s"
        time.sleep(0.01)


_RESERVED = list[socket.socket]()


def reserved_port() -> int:
    """A port that no other process is given while this one lives; who sets SO_REUSEADDR may listen
    on it.
    """
    held = socket.socket()
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    held.bind(("127.0.0.1", 0))
    _RESERVED.append(held)
    return int(held.getsockname()[1])


class Clock:
    """``time`` for modules that read how late it is, with a monotonic clock that a test moves
    on.
    """

    moved = 0.0

    def monotonic(self) -> float:
        return time.monotonic() + self.moved

    def __getattr__(self, name: str) -> Any:
        return getattr(time, name)


@contextmanager
def running(server: Server, limits: Connections | None = None) -> Iterator[Client]:
    """The server, until the block ends; its connections have limits that no test reaches unless it
    gives some.
    """
    config = host_config(
        application(server),
        limits or Connections(10_000),
        host="127.0.0.1",
        port=0,
        log_level="error",
        ws_max_size=server.limits.body,
    )
    host = uvicorn.Server(config)
    thread = threading.Thread(target=host.run, name="rlenv-serve-test")
    thread.start()
    try:
        while not host.started:
            assert thread.is_alive(), "the server did not start"
            time.sleep(0.01)
        yield Client(host.servers[0].sockets[0].getsockname()[1])
    finally:
        host.should_exit = True
        thread.join(30)
        assert not thread.is_alive(), "the server did not end"


# -- environments -------------------------------------------------------------------------------


@tool(where="inline", deterministic=True)
def add(a: int, b: int) -> int:
    """Add two numbers.

    Args:
        a: the first.
        b: the second.
    """
    return a + b


@stage(where="inline")
def same(visible: str, answer: str) -> bool:
    return visible == answer


@stage(where="inline")
def fails(visible: str) -> float:
    raise RuntimeError(f"the judge is down, and the answer was {SECRET}")


@stage(where="inline")
def breaks(visible: str, answer: str) -> bool:
    if visible == "break":
        raise RuntimeError(f"the judge is down, and the answer was {SECRET}")
    return visible == answer


TASKS = [
    Task(f"What is {n} + {n}?", answer=str(n + n), id=f"t{n}", split="train" if n < 8 else "test")
    for n in range(10)
]


def sums() -> Environment:
    """Tools, until a message without calls."""
    return Environment("sums", same, TASKS, tables={"harness": Harness("tool-use", tools=[add])})


def single() -> Environment:
    """One message."""
    return Environment("single", same, TASKS)


def broken() -> Environment:
    """A verifier that fails."""
    return Environment("broken", fails, TASKS[:1])


def served(*environments: Environment) -> Catalog:
    """A catalog of these."""
    return Catalog([Served(each.name, each) for each in environments])


@contextmanager
def catalog_of(*environments: Environment) -> Iterator[Catalog]:
    """A catalog of these, which are closed at the end of the block."""
    with ExitStack() as stack:
        yield served(*(stack.enter_context(each) for each in environments))


def owned(catalog: Catalog, **more: Any) -> Server:
    """A server without keys, of which everyone is the operator."""
    return Server(catalog, keys=Keys(operator=True), **more)


def episode(ask: Client, task: str = "t3", environment: str = "sums") -> str:
    """The id of a new episode."""
    got = ask("POST", "/episodes", {"task_id": task, "agent_id": "me", "environment": environment})
    assert got.status == 201, got
    return str(got.body["episode_id"])
