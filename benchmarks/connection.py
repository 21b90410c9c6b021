"""Servers and clients of the benchmarks of rlenv-serve: a port that is printed, and a connection
that costs little CPU time.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

JSON = "Content-Type: application/json"
GOOD = (b"http/1.1 200", b"http/1.1 201")


def encoded(method: str, path: str, body: object = None, *headers: str) -> bytes:
    """A request, with a body of JSON where there is one, and more headers as they are sent."""
    raw = b"" if body is None else json.dumps(body).encode()
    head = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", *headers, f"Content-Length: {len(raw)}"]
    return "\r\n".join([*head, "\r\n"]).encode() + raw


class Connection:
    """One connection of HTTP that stays open, with one request at a time."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, request: bytes) -> bytes:
        """The body of the answer.

        Raises:
            RuntimeError: for an answer that is not 200 or 201.
        """
        if self._streams is None:
            self._streams = await asyncio.open_connection("127.0.0.1", self._port)
        reader, writer = self._streams
        writer.write(request)
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        length = head.partition(b"content-length: ")[2].split(b"\r\n")[0]
        body = await reader.readexactly(int(length))
        if not head.startswith(GOOD):
            line = request.partition(b" HTTP/1.1\r\n")[0].decode()
            raise RuntimeError(f"{line}: {body.decode()[:300]}")
        return body

    def close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()


def serve(app: object) -> None:
    """Serve an ASGI application on a free port, which is printed."""
    import uvicorn

    config = uvicorn.Config(app, "127.0.0.1", 0, log_level="warning", access_log=False)  # type: ignore[arg-type] # an ASGI application
    bound = config.bind_socket()
    bound.listen(128)
    print(bound.getsockname()[1], flush=True)
    uvicorn.Server(config).run(sockets=[bound])


@contextmanager
def serving(script: str, *arguments: str) -> Iterator[tuple[int, int]]:
    """(port, process) of a script that prints its port, until the block ends."""
    process = subprocess.Popen(
        [sys.executable, script, *arguments], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        yield int(process.stdout.readline()), process.pid
    finally:
        process.terminate()
        process.wait(30)
