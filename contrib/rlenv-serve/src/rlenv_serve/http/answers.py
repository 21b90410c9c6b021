"""Answers as JSON."""

from __future__ import annotations

import msgspec
from rlenv.authoring import dumps
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

JSON = "application/json"
_encode = msgspec.json.Encoder().encode


def encode(value: object) -> bytes:
    """A value as JSON; what JSON cannot hold becomes its text, and a lone surrogate its escape."""
    try:
        return _encode(value)
    except (TypeError, ValueError, RecursionError):
        return dumps(msgspec.to_builtins(value, enc_hook=str)).encode()


class Json(Response):
    """JSON as it is, with no other headers: made and sent faster than by ``Response``."""

    def __init__(self, body: bytes, status: int = 200) -> None:
        self.body = body
        self.status_code = status
        self.background = None
        self.raw_headers = [
            (b"content-length", b"%d" % len(body)),
            (b"content-type", JSON.encode()),
        ]

    async def __call__(self, _scope: Scope, _receive: Receive, send: Send) -> None:
        """Send it."""
        await send(
            {"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers}
        )
        await send({"type": "http.response.body", "body": self.body})


def answer(value: object, status: int = 200) -> Response:
    """Return a response with this value, or the response itself.

    Args:
        value: anything, or a response.
        status: of HTTP, for a value.
    """
    return value if isinstance(value, Response) else Json(encode(value), status)
