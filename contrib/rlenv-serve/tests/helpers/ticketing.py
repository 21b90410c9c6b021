"""Requests for tickets, and an environment that judges when a gate is open."""

from __future__ import annotations

import asyncio
import threading

from rlenv import Environment, stage
from rlenv_serve import Server
from serving import TASKS, Answered, Client, until

PATH = "/v1/verify"
LATE = 60.0  # seconds in which whatever is waited for has happened
JUDGED = list[str]()
GATE = threading.Event()


@stage(where="caller")
async def gated(visible: str, answer: str) -> bool:
    """Whether it is right, when the gate is open."""
    JUDGED.append(visible)
    if visible == "break":
        raise RuntimeError("the judge is down")
    while visible != "free" and not GATE.is_set():
        await asyncio.sleep(0.01)
    return visible == answer


def close_gate() -> None:
    """Nothing was judged yet, and nothing will be before the gate is open."""
    GATE.clear()
    JUDGED.clear()


def slow() -> Environment:
    return Environment("slow", gated, TASKS)


def of(*responses: str, environment: str = "slow") -> dict[str, object]:
    return {
        "environment": environment,
        "items": [{"task": "t3", "response": each} for each in responses],
    }


def ticket(ask: Client, *responses: str, **headers: str) -> str:
    """The path of a new ticket."""
    got = ask("POST", PATH, of(*responses), Prefer="respond-async", **headers)
    assert got.status == 202, got
    assert got.headers["location"] == f"{PATH}/{got.body['ticket']}"
    return got.headers["location"]


def done(ask: Client, path: str) -> Answered:
    """The results of a ticket that will be done."""
    until(lambda: (got := ask("GET", path, Prefer="wait=5")).status != 202 or got.body["done"] < 0)
    return ask("GET", path)


def rewards(got: Answered) -> list[object]:
    assert got.status == 200, got
    return [each["reward"] for each in got.body["results"]]


def lose(server: Server) -> None:
    """What is left when a process is killed: its tickets, and nobody who judges them."""
    live = server.tickets.judge.live
    loop = next(iter(live.values())).get_loop()

    def gone() -> bool:
        # Again and again: in Python 3.11 `asyncio.wait_for`, with which redis-py sends, drops a
        # cancellation that meets its result
        # (https://github.com/python/cpython/issues/86296).
        loop.call_soon_threadsafe(lambda: [task.cancel() for task in live.values()])
        return not live

    until(gone)
