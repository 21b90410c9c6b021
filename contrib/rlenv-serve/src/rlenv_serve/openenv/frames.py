"""Frames of OpenEnv's WebSocket: read from any text, and written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import isfinite

import msgspec

from rlenv_serve.http.answers import encode
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
DIGITS = 18  # that an integer of 64 bits has at least
MESSAGE = 500  # characters of a decoder's message


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
    """A frame as text."""
    return encode({"type": kind, "data": data}).decode()


def read_frame(text: str | None) -> tuple[str, object]:
    """Type and data of a frame.

    Args:
        text: of the frame, None where it was binary.

    Raises:
        Problem: for what is not a JSON object with a type.
    """
    if text is None:
        raise Problem(400, "not_json", "a frame is JSON as text, not binary")
    found = _decoded(text)
    if not isinstance(found, Mapping):
        raise Problem(422, "invalid_frame", "a frame is a JSON object")
    kind = found.get("type", "")
    if not isinstance(kind, str):
        raise Problem(422, "invalid_frame", "type is a string")
    return kind, found.get("data", {})


def _decoded(text: str) -> object:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return _repaired(text)


def _repaired(text: str) -> object:
    """What Python writes and JSON lacks, as texts: a policy that writes NaN or half a surrogate must not thereby break its
    episode, which would leave it unscored."""
    try:
        found = json.loads(text, parse_constant=str, parse_float=_number, parse_int=_number)
        plain = json.dumps(found, ensure_ascii=False, allow_nan=False)
        return msgspec.json.decode(plain.encode("utf-8", "replace"))
    except (ValueError, RecursionError) as error:
        raise Problem(400, "not_json", f"not JSON: {str(error)[:MESSAGE]}") from None


def _number(text: str) -> float | str:
    """A number that JSON's readers agree on, or its text."""
    found = int(text) if len(text) < DIGITS and text.removeprefix("-").isdecimal() else float(text)
    return found if isfinite(found) else text
