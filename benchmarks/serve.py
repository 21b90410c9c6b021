"""Requests per second of a server's CPU time: ``POST /v1/verify`` of rlenv-serve, and the same on FastAPI.

Both are processes with uvicorn, uvloop and httptools, take the same bodies, ask the same environment, and answer with the
same members. They take turns: each round measures each of them once, and a ratio is the median of those of the rounds. The
goal is 3 times as many requests with one response of 1 kB.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parents[1])

import argparse
import asyncio
import json
import os
import subprocess
from importlib.util import find_spec
from statistics import median

from rlenv import Environment, Task

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

    app, env = FastAPI(), environment()
    _ = env.fingerprint

    async def verify(asked: Request) -> Answer:
        results = []
        for index, item in enumerate(asked.items):
            verdict = await env.aevaluate(env.tasks.by_id(item.task), item.response)
            stages = [Stage(stage=each.stage, score=each.outcome.score if each.outcome else None, seconds=each.seconds, detail="", data={}) for each in verdict.results]  # fmt: skip
            passed = None if verdict.value is None else verdict.value >= env.pass_mark
            fault = verdict.fault.kind if verdict.fault else None
            results.append(Result(id=index if item.id is None else item.id, reward=verdict.value, passed=passed, fault=fault, stages=stages, fingerprint=verdict.fingerprint))  # fmt: skip
        return Answer(results=results)

    verify.__annotations__ = {"asked": Request, "return": Answer}  # classes of this function
    app.post("/v1/verify")(verify)
    return app


def serve(name: str) -> None:
    """Serve on a free port, which is printed."""
    import uvicorn

    app = {"rlenv-serve": ours, "fastapi": peer}[name]()
    config = uvicorn.Config(app, "127.0.0.1", 0, log_level="warning", access_log=False)  # type: ignore[arg-type] # an ASGI application
    bound = config.bind_socket()
    bound.listen(128)
    print(bound.getsockname()[1], flush=True)
    uvicorn.Server(config).run(sockets=[bound])


async def ask(port: int, request: bytes, count: int) -> None:
    """Send a request so many times on one connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for _ in range(count):
        writer.write(request)
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        assert head.startswith(b"http/1.1 200"), head
        body = await reader.readexactly(
            int(head.partition(b"content-length: ")[2].split(b"\r\n")[0])
        )
        assert b'"reward":0.0' in body, body
    writer.close()


async def load(port: int, request: bytes, count: int) -> None:
    await asyncio.gather(*(ask(port, request, count // CONNECTIONS) for _ in range(CONNECTIONS)))


def cpu(pid: int) -> float:
    """CPU seconds of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Peer:
    """A server in a process."""

    def __init__(self, name: str) -> None:
        self.process = subprocess.Popen([sys.executable, __file__, "--serve", name], stdout=subprocess.PIPE, text=True)  # fmt: skip
        assert self.process.stdout is not None
        self.port = int(self.process.stdout.readline())

    def rate(self, request: bytes, count: int) -> float:
        """Requests per second of its CPU time."""
        before = cpu(self.process.pid)
        asyncio.run(load(self.port, request, count))
        return count / max(cpu(self.process.pid) - before, 0.01)

    def close(self) -> None:
        self.process.terminate()
        self.process.wait(30)


def request(items: int) -> bytes:
    text = ("so 1/2 of it, " * LENGTH)[:LENGTH]
    body = json.dumps({"environment": "half", "items": [{"task": "half", "response": text}] * items}).encode()  # fmt: skip
    head = f"POST /v1/verify HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def compared(servers: list[Peer], items: int, count: int, rounds: int) -> tuple[float, float, float]:  # fmt: skip
    """(our rate, FastAPI's, the ratio), each the median of the rounds."""
    asked, rates = request(items), list[tuple[float, float]]()
    for server in servers:
        server.rate(asked, count // 4)  # warm
    for _ in range(rounds):
        first, second = (server.rate(asked, count) for server in servers)
        rates.append((first, second))
    return median(a for a, _ in rates), median(b for _, b in rates), median(a / b for a, b in rates)


def row(servers: list[Peer], items: int, count: int, rounds: int) -> Row:
    first, second, ratio = compared(servers, items, count, rounds)
    goal, met = (f"≥ {GOAL:g}×", ratio >= GOAL) if items == 1 else ("", None)
    return Row(
        f"/v1/verify, {items} of {LENGTH} characters",
        first,
        f"FastAPI {second:,.0f}/s",
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
        serve(options.serve)
        return
    if find_spec("fastapi") is None:
        print(f"not measured: FastAPI is missing. Install it with: {sys.executable} -m pip install {PEER}")  # fmt: skip
        return
    rounds, scale = (2, 10) if options.quick else (5, 1)
    servers = [Peer("rlenv-serve"), Peer("fastapi")]
    try:
        print(table([row(servers, items, count // scale, rounds) for items, count in ((1, 4000), (32, 800))]))  # fmt: skip
    finally:
        for server in servers:
            server.close()


if __name__ == "__main__":
    main()
