"""Requests per second of a server's CPU time: ``POST /v1/verify`` of rlenv-serve, and the same on
FastAPI.

Both are processes with uvicorn, uvloop and httptools, take the same bodies, ask the same
environment, and answer with the same members. They take turns: each round measures each of them
once, and a ratio is the median of those of the rounds. The goal is 3 times as many requests with
one response of 1 kB.

FastAPI's route has no more than the verification. Another row is against the same route with what a
server of rewards needs and rlenv-serve has: a check of Host and key, a limit of the body, a
deadline, a bound of what runs, and metrics, as plain ASGI.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parents[1])  # so that `benchmarks` is a package

import argparse
import asyncio
import os
import time
from contextlib import ExitStack
from importlib.util import find_spec
from statistics import median
from typing import Any, cast

from attrs import frozen
from rlenv import Environment, Task

from benchmarks.connection import JSON, Connection, encoded, serve, serving
from benchmarks.core import Row, table
from benchmarks.trivial import HALF, is_half_inline

GOAL = 3.0
CONNECTIONS = 16
LENGTH = 1000  # characters of a response
PEER = "fastapi==0.165.0"
TASK = Task("Half of one?", answer=HALF, id="half")


def environment() -> Environment:
    return Environment("half", is_half_inline, [TASK])


def ours() -> object:
    from rlenv_serve import Catalog, Served, Server, application

    return application(Server(Catalog([Served("half", environment())])))


def peer() -> object:
    from fastapi import FastAPI
    from pydantic import BaseModel

    class Item(BaseModel):  # type: ignore[misc] # pydantic is not installed with rlenv
        task: str
        response: str | list[dict[str, object]]
        id: str | int | None = None

    class Request(BaseModel):  # type: ignore[misc] # pydantic is not installed with rlenv
        environment: str
        items: list[Item]

    class Stage(BaseModel):  # type: ignore[misc] # pydantic is not installed with rlenv
        stage: str
        score: float | None
        seconds: float
        detail: str
        data: dict[str, object]

    class Result(BaseModel):  # type: ignore[misc] # pydantic is not installed with rlenv
        id: str | int
        reward: float | None
        passed: bool | None
        fault: str | None
        stages: list[Stage]
        fingerprint: str

    class Answer(BaseModel):  # type: ignore[misc] # pydantic is not installed with rlenv
        results: list[Result]

    app = FastAPI()
    env = environment()
    _ = env.fingerprint

    async def verify(asked: Request) -> Answer:
        results = []
        for index, item in enumerate(asked.items):
            verdict = await env.aevaluate(env.tasks.by_id(item.task), item.response)
            stages = [
                Stage(
                    stage=each.stage,
                    score=each.outcome.score if each.outcome else None,
                    seconds=each.seconds,
                    detail="",
                    data={},
                )
                for each in verdict.results
            ]
            passed = None if verdict.value is None else verdict.value >= env.pass_mark
            fault = verdict.fault.kind if verdict.fault else None
            results.append(
                Result(
                    id=index if item.id is None else item.id,
                    reward=verdict.value,
                    passed=passed,
                    fault=fault,
                    stages=stages,
                    fingerprint=verdict.fingerprint,
                )
            )
        return Answer(results=results)

    verify.__annotations__ = {"asked": Request, "return": Answer}  # classes of this function
    app.post("/v1/verify")(verify)
    return app


def guarded() -> object:
    """``peer`` with a check of Host and key, a limit of the body, a deadline, a bound of what runs,
    and metrics.
    """
    import hashlib
    import hmac

    from prometheus_client import Counter, Histogram

    app = cast("Any", peer())
    places = asyncio.Semaphore(128)
    known = hashlib.sha256(b"").hexdigest()
    seconds = Histogram("peer_seconds", "Wall time of requests", ("route",)).labels("/v1/verify")
    requests = Counter("peer_requests", "Requests by status", ("status",))

    async def guard(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        began = time.perf_counter()
        size = 0
        headers = dict(scope["headers"])
        given = hashlib.sha256(headers.get(b"x-api-key", b"")).hexdigest()
        assert headers[b"host"].startswith(b"127.0.0.1")
        assert hmac.compare_digest(given, known)

        async def limited() -> Any:
            nonlocal size
            message = await receive()
            size += len(message.get("body", b""))
            assert size <= 1 << 20
            return message

        async def counted(message: Any) -> None:
            if message["type"] == "http.response.start":
                requests.labels(str(message["status"])).inc()
            await send(message)

        async with asyncio.timeout(600), places:
            await app(scope, limited, counted)
        seconds.observe(time.perf_counter() - began)

    return guard


APPLICATIONS = {"rlenv-serve": ours, "fastapi": peer, "guarded": guarded}


async def ask(port: int, request: bytes, count: int) -> None:
    """Send a request so many times on one connection."""
    connection = Connection(port)
    for _ in range(count):
        body = await connection.ask(request)
        assert b'"reward":0.0' in body, body
    connection.close()


async def load(port: int, request: bytes, count: int) -> None:
    await asyncio.gather(*(ask(port, request, count // CONNECTIONS) for _ in range(CONNECTIONS)))


def cpu(pid: int) -> float:
    """CPU seconds of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@frozen
class Peer:
    """A server in a process."""

    port: int
    pid: int

    def rate(self, request: bytes, count: int) -> float:
        """Requests per second of its CPU time."""
        before = cpu(self.pid)
        asyncio.run(load(self.port, request, count))
        return count / max(cpu(self.pid) - before, 0.01)


def request(items: int) -> bytes:
    text = ("so 1/2 of it, " * LENGTH)[:LENGTH]
    body = {"environment": "half", "items": [{"task": "half", "response": text}] * items}
    return encoded("POST", "/v1/verify", body, JSON)


def compared(
    servers: list[Peer], items: int, count: int, rounds: int
) -> tuple[float, float, float]:
    """(our rate, FastAPI's, the ratio), each the median of the rounds."""
    asked = request(items)
    rates = list[tuple[float, float]]()
    for server in servers:
        server.rate(asked, count // 4)  # warm
    for _ in range(rounds):
        first, second = (server.rate(asked, count) for server in servers)
        rates.append((first, second))
    return median(a for a, _ in rates), median(b for _, b in rates), median(a / b for a, b in rates)


def row(servers: list[Peer], items: int, count: int, rounds: int, peer: str) -> Row:
    first, second, ratio = compared(servers, items, count, rounds)
    goal, met = (f"≥ {GOAL:g}×", ratio >= GOAL) if (items, peer) == (1, "FastAPI") else ("", None)
    return Row(
        f"/v1/verify, {items} of {LENGTH} characters",
        first,
        f"{peer} {second:,.0f}/s",
        ratio,
        goal,
        met,
        "/CPU-s",
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--serve", metavar="NAME", help="serve, and print the port; used by this script"
    )
    parser.add_argument("--quick", action="store_true", help="few samples: shows that it runs")
    options = parser.parse_args()
    if options.serve:
        serve(APPLICATIONS[options.serve]())
        return
    if find_spec("fastapi") is None:
        print(
            f"not measured: FastAPI is missing. Install it with: {sys.executable} -m pip install"
            f" {PEER}"
        )
        return
    rounds, scale = (2, 10) if options.quick else (5, 1)
    with ExitStack() as stack:
        servers = [
            Peer(*stack.enter_context(serving(__file__, "--serve", name))) for name in APPLICATIONS
        ]
        measured = [
            (servers[:2], 1, 4000, "FastAPI"),
            (servers[::2], 1, 4000, "FastAPI, guarded"),
            (servers[:2], 32, 800, "FastAPI"),
        ]
        print(
            table(
                [
                    row(both, items, count // scale, rounds, name)
                    for both, items, count, name in measured
                ]
            )
        )


if __name__ == "__main__":
    main()
