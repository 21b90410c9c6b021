"""Answers as JSON."""

from __future__ import annotations

import msgspec
from rlenv.authoring import dumps
from starlette.responses import Response

JSON = "application/json"
_encode = msgspec.json.Encoder().encode


def encode(value: object) -> bytes:
    """A value as JSON; what JSON cannot hold becomes its text, and a lone surrogate its escape."""
    try:
        return _encode(value)
    except (TypeError, ValueError, RecursionError):
        return dumps(msgspec.to_builtins(value, enc_hook=str)).encode()


def answer(value: object, status: int = 200) -> Response:
    """A response with this value, or the response itself."""
    return value if isinstance(value, Response) else Response(encode(value), status, media_type=JSON)  # fmt: skip
