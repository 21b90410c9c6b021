"""A client of ORS that reads streams as the official ones do, and environments to call."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Iterator
from threading import Event
from typing import Any, NamedTuple

from rlenv import Environment, Task, stage
from rlenv_plugin_agent import EpisodeError, Harness, tool
from serving import SECRET, TASKS, Answered, Client, same


class Streamed(NamedTuple):
    """What a stream brought: the id of the run, and the value or the error."""

    task_id: str
    value: Any
    error: str | None


def events(raw: bytes) -> Iterator[tuple[str, str]]:
    """The events of a stream, as the parser of ``openreward`` 0.1.167 and ``ors-sdk`` 0.1.0 has
    them.
    """
    event = ""
    data = list[str]()
    for raw_line in raw.split(b"\n"):
        line = raw_line.decode("utf-8", "ignore").rstrip("\r\n")
        if not line:
            if event:
                yield event, "\n".join(data)
            event = ""
            data = []
        elif not line.startswith(":"):
            field, value = line.split(":", 1)
            value = value.lstrip()
            if field == "event":
                event = value
            elif field == "data":
                data.append(value)


def joined(raw: bytes) -> Streamed:
    """What the events of a stream say together."""
    task_id = ""
    parts = list[str]()
    for event, data in events(raw):
        if event == "task_id":
            assert not task_id
            assert not parts
            task_id = data.strip()
        elif event == "error":
            return Streamed(task_id, None, data)
        else:
            parts.append(data)
            if event == "end":
                whole = "".join(parts)
                return Streamed(task_id, json.loads(whole) if whole else None, None)
    raise AssertionError(f"the stream has no end: {raw[:500]!r}")


class Ors:
    """One session at a server."""

    def __init__(self, ask: Client, path: str = "") -> None:
        self.ask = ask
        self.path = path
        self.sid = joined(ask("POST", "/create_session", {}).body).task_id

    def __call__(self, method: str, path: str, body: object = None, **headers: str) -> Answered:
        return self.ask(method, path, body, **{"X_Session_ID": self.sid, **headers})

    def create(self, **body: object) -> Answered:
        """Begin the episode; of the first task of ``sums`` by default."""
        return self("POST", "/create", body or {"split": "train", "index": 0})

    def call(self, name: str, /, task_id: str | None = None, **given: object) -> Streamed:
        """Call a tool."""
        body = {"name": name, "input": given} | ({"task_id": task_id} if task_id else {})
        answered = self("POST", f"{self.path}/call", body)
        assert answered.status == 200, answered
        return joined(answered.body)


def begun(ask: Client, **body: object) -> Ors:
    """A session whose episode has begun."""
    made = Ors(ask)
    created = made.create(**body)
    assert (created.status, created.body) == (200, {"sid": made.sid}), created
    return made


# -- environments -------------------------------------------------------------------------------


@tool(where="inline", deterministic=True)
def echo(text: str) -> str:
    """Say it again.

    Args:
        text: what to say.
    """
    return text


@tool(where="inline", deterministic=True)
def spaces(count: int, offset: int = 0) -> str:
    """White space.

    Args:
        count: of spaces.
        offset: of letters before them.
    """
    return "x" * offset + " " * count


@tool
def sleep(seconds: float) -> str:
    """Wait.

    Args:
        seconds: how long.
    """
    time.sleep(seconds)
    return "awake"


@tool
def gate(path: str) -> str:
    """Wait for a file.

    Args:
        path: of the file.
    """
    while not os.path.exists(path):
        time.sleep(0.01)
    return "open"


@tool(where="inline")
def fail() -> str:
    """Fail, by no act of the policy."""
    raise EpisodeError("the machine is down")


def echoes() -> Environment:
    """Tools whose answers test the transport."""
    tools = [echo, spaces, sleep, gate, fail]
    return Environment("echoes", same, TASKS, tables={"harness": Harness("tool-use", tools=tools)})


@stage(where="inline")
def judged(visible: str, answer: str) -> bool:
    if visible == "break":
        raise RuntimeError("the judge is down")
    return visible == answer


def talk() -> Environment:
    """One message, with a system prompt and splits of several names."""
    names = ("train", "dev", "test")
    tasks = [
        Task(
            f"What is {n} + {n}?",
            answer=str(2 * n),
            info={
                "messages": [
                    {"role": "system", "content": "Be brief."},
                    {"role": "user", "content": f"What is {n} + {n}?"},
                ]
            },
            id=f"m{n}",
            split=names[n % 3],
        )
        for n in range(6)
    ]
    return Environment("talk", judged, tasks)


def slow_environment(begins: Event, *, fails: bool = False) -> Environment:
    """A user whose opening waits for an event."""

    async def user(action: object) -> str:
        if action is None:
            while not begins.is_set():
                await asyncio.sleep(0.01)
            if fails:
                raise RuntimeError(SECRET)
        return "Go on."

    return Environment("slow", same, TASKS, tables={"harness": Harness("multi-turn", user=user)})
