"""WebSockets of OpenEnv, as a client of no package uses them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from serving import Client
from websockets.sync.client import ClientConnection, connect


class Talk:
    """One connection: a frame, and the answer to it."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket

    def __call__(self, kind: str, data: object = None, **fields: object) -> dict[str, Any]:
        told = {} if data is None and not fields else {"data": fields if data is None else data}
        return self.raw(json.dumps({"type": kind, **told}))

    def raw(self, frame: str | bytes) -> dict[str, Any]:
        self.socket.send(frame)
        found = json.loads(self.socket.recv(timeout=60))
        assert isinstance(found, dict)
        return found

    def code(self, frame: str | bytes) -> str:
        """The code of the error that answers a frame."""
        found = self.raw(frame)
        assert found["type"] == "error", found
        return str(found["data"]["code"])


@contextmanager
def talking(ask: Client, env: str = "sums", session: str = "", **headers: str) -> Iterator[Talk]:
    """A connection to ``/openenv/{env}/ws``."""
    query = f"?session_id={session}" if session else ""
    sent = {**ask.headers, **{name.replace("_", "-"): value for name, value in headers.items()}}
    url = f"ws://127.0.0.1:{ask.port}/openenv/{env}/ws{query}"
    with connect(url, additional_headers=sent, proxy=None) as socket:
        yield Talk(socket)
