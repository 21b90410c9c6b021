"""Server-sent events as clients of ORS read them.

Their parsers split lines at a line feed and take white space from both ends of what follows
``data:``.  So a result is one line of ASCII JSON, in which a space that would begin or end a part
is written as its escape; in compact JSON a space is always within a string.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from json import JSONEncoder

from starlette.requests import Request

from rlenv_serve.http.problems import Problem, result_or_problem

PART = 4096  # characters of one event: readers limit the length of a line
PING = 10.0  # seconds without an event: clients give up after 30
SPACE = "\\u0020"
_encode = JSONEncoder(ensure_ascii=True, allow_nan=False, separators=(",", ":")).encode
HEADERS = {
    "Content-Type": "text/event-stream; charset=utf-8",
    "Cache-Control": "no-cache",
    "X-Accel-Buffering": "no",
}


def event(name: str, data: str) -> bytes:
    """Make one event; ``data`` is one line.

    Args:
        name: of the event.
        data: one line.
    """
    return f"event: {name}\r\ndata: {data}\r\n\r\n".encode("utf-8", "replace")


def parts(text: str) -> list[str]:
    """One line of ASCII JSON in parts of at most PART characters, none of which begins or ends with
    a space.
    """
    size = PART - 2 * len(SPACE)
    return [_protect_spaces(text[at : at + size]) for at in range(0, len(text), size)]


def _protect_spaces(part: str) -> str:
    part = SPACE + part[1:] if part[0] == " " else part
    return part[:-1] + SPACE if part[-1] == " " else part


def result(value: object) -> bytes:
    """The events that bring a value."""
    *chunks, end = parts(_encode(value))
    return b"".join([*(event("chunk", each) for each in chunks), event("end", end)])


def failure(message: str) -> bytes:
    """The event that says why there is no result."""
    return event("error", " ".join(message.split()))


async def stream(
    request: Request, task_id: str, start: Callable[[], asyncio.Task[object]]
) -> AsyncIterator[bytes]:
    """The events of a run.

    A client that loses the stream asks for the same ``task_id`` again, and one that was never told
    of it begins another run; so nothing runs before it was sent.

    Args:
        request: to see whether the client is still there.
        task_id: names the run.
        start: begins it; it goes on when the client goes away.
    """
    yield event("task_id", task_id)
    if await request.is_disconnected():
        return
    run = start()
    while not (await asyncio.wait({run}, timeout=PING))[0]:
        yield b": ping\r\n\r\n"
    if run.cancelled():
        yield failure("the server ends: begin another session")
        return
    found = await result_or_problem(run, "a call of ORS")
    yield failure(found.detail) if isinstance(found, Problem) else result(found)
