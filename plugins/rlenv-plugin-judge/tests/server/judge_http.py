"""A local server that speaks the protocol of chat completions, with judges of scripted character
behind it.

``python judge_http.py PORT_FILE [seconds]`` runs it on its own: each answer takes so long.
"""

from __future__ import annotations

import asyncio
import sys
import threading
from pathlib import Path
from typing import Any

from judge_behavior import Answered, answer
from judge_traits import Key

REASONS = {200: "OK", 302: "Found", 400: "Bad Request", 401: "Unauthorized", 404: "Not Found"}


class JudgeServer:
    """``url`` is the base URL; ``key`` the hidden answer key; ``requests`` what was asked, in
    order.
    """

    def __init__(self, seconds: float = 0.0) -> None:
        self.key: Key = {}
        self.requests: list[dict[str, Any]] = []
        self.authorizations: list[str] = []
        self.counts: dict[str, int] = {}
        self.most_at_once = 0
        self.seconds = seconds
        self._busy = 0
        self._links: set[_Link] = set()
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, name="judge-server", daemon=True)
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def forget(self) -> None:
        """Begin anew: nothing known, nothing asked."""
        self.key.clear()
        self.counts.clear()
        self.requests.clear()
        self.authorizations.clear()
        self.most_at_once = 0

    def start(self) -> None:
        self._thread.start()
        self._ready.wait(10)

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        create = self._loop.create_server(lambda: _Link(self), "127.0.0.1", 0, backlog=512)
        server = self._loop.run_until_complete(create)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        self._loop.run_forever()
        server.close()
        for link in list(self._links):
            link.abort()
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        self._loop.run_until_complete(asyncio.sleep(0.01))
        self._loop.close()

    async def respond(self, path: str, headers: dict[str, str], body: bytes) -> Answered:
        self._busy += 1
        self.most_at_once = max(self.most_at_once, self._busy)
        try:
            if self.seconds:
                await asyncio.sleep(self.seconds)
            return await answer(self, path, headers, body)
        finally:
            self._busy -= 1


class _Link(asyncio.Protocol):
    """One connection, kept alive."""

    def __init__(self, server: JudgeServer) -> None:
        self._server = server
        self._data = b""
        self._transport: asyncio.Transport | None = None
        self._task: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._server._links.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._server._links.discard(self)
        if self._task is not None:
            self._task.cancel()

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def data_received(self, data: bytes) -> None:
        self._data += data
        head, found, rest = self._data.partition(b"\r\n\r\n")
        if not found:
            return
        lines = head.decode("latin-1").split("\r\n")
        pairs = (line.partition(":") for line in lines[1:])
        headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
        length = int(headers.get("content-length", "0"))
        if len(rest) < length:
            return
        self._data = rest[length:]
        path = lines[0].split(" ")[1]
        self._task = asyncio.ensure_future(self._serve(path, headers, rest[:length]))

    async def _serve(self, path: str, headers: dict[str, str], body: bytes) -> None:
        assert self._transport is not None
        answered = await self._server.respond(path, headers, body)
        if answered.drop:
            self._transport.abort()
            return
        whole = answered.body
        plain = {"Content-Type": "application/json", "Content-Length": str(len(whole))}
        lines = "".join(f"{k}: {v}\r\n" for k, v in {**plain, **answered.headers}.items())
        start = f"HTTP/1.1 {answered.status} {REASONS.get(answered.status, 'Odd')}\r\n"
        sent = whole[: len(whole) // 2] if answered.cut else whole
        self._transport.write((start + lines + "\r\n").encode() + sent)
        if answered.cut:
            self._transport.close()


def main() -> None:
    server = JudgeServer(float(sys.argv[2]) if len(sys.argv) > 2 else 0.0)
    server.key[" "] = 0.75
    server.start()
    Path(sys.argv[1]).write_text(str(server.port), encoding="utf-8")
    threading.Event().wait()


if __name__ == "__main__":
    main()
