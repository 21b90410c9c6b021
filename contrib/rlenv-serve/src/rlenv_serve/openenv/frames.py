"""Frames of OpenEnv's WebSocket: read from any text, and written."""

from __future__ import annotations

import msgspec

from rlenv_serve.http.answers import encode
from rlenv_serve.http.body import decode
from rlenv_serve.http.problems import Problem

# Codes of OpenEnv.
CODES = {
    "environment_failed": "FACTORY_ERROR",
    "invalid": "VALIDATION_ERROR",
    "invalid_frame": "VALIDATION_ERROR",
    "not_found": "VALIDATION_ERROR",
    "not_json": "INVALID_JSON",
    "unknown_type": "UNKNOWN_TYPE",
}
LIMIT = 429


class Frame(msgspec.Struct):
    """A frame of a client; the type says what the data is."""

    type: str = ""
    data: object = {}


_DECODER = msgspec.json.Decoder(Frame)


def error_frame(problem: Problem, code: str = "") -> str:
    """The frame that says what is wrong.

    Args:
        problem: as other protocols answer it.
        code: of OpenEnv; by default that of the problem.
    """
    if problem.status == LIMIT:
        code = "CAPACITY_REACHED"
    code = code or CODES.get(problem.code, "EXECUTION_ERROR")
    told: dict[str, object] = {"message": problem.detail, "code": code}
    if problem.code == "invalid":
        told["errors"] = [{"loc": ["data"], "msg": problem.detail}]
    return frame("error", told)


def frame(kind: str, data: object) -> str:
    """Make a frame as text.

    Args:
        kind: its type.
        data: anything.
    """
    return encode({"type": kind, "data": data}).decode()


def read_frame(text: str | None) -> Frame:
    """A frame, from any text: a policy that writes NaN or half a surrogate must not thereby break
    its episode, which would leave it unscored.

    Args:
        text: of the frame, None where it was binary.

    Raises:
        Problem: for what is not a JSON object with a type.
    """
    if text is None:
        raise Problem(400, "not_json", "a frame is JSON as text, not binary")
    try:
        return decode(text.encode("utf-8", "replace"), _DECODER, 0, lenient=True)
    except Problem as problem:
        code = "not_json" if problem.status == 400 else "invalid_frame"
        raise Problem(problem.status, code, problem.detail) from None
