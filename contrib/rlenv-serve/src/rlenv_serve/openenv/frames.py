"""Frames of OpenEnv's WebSocket: read from any text, and written."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from math import isfinite

import msgspec

from rlenv_serve.http.answers import encode
from rlenv_serve.http.problems import Problem

CODES = {"environment_failed": "FACTORY_ERROR", "invalid": "VALIDATION_ERROR", "not_found": "VALIDATION_ERROR"}  # fmt: skip
BINARY = "a frame is JSON as text, not binary"
LIMIT = 429
DIGITS = 18  # that an integer of 64 bits has at least
MESSAGE = 500  # characters of a decoder's message


class FrameError(Exception):
    """A frame that is answered with an error.

    Args:
        code: of OpenEnv.
        message: what was expected.
        errors: what is wrong with each field.
    """

    def __init__(self, code: str, message: str, errors: Sequence[object] = ()) -> None:
        super().__init__(message)
        self.code, self.message, self.errors = code, message, errors

    @classmethod
    def of(cls, problem: Problem) -> FrameError:
        """The same, as OpenEnv has it."""
        code = "CAPACITY_REACHED" if problem.status == LIMIT else CODES.get(problem.code, "EXECUTION_ERROR")  # fmt: skip
        return cls(code, problem.detail)

    def encoded(self) -> str:
        """The frame that says so."""
        told: dict[str, object] = {"message": self.message, "code": self.code}
        return frame("error", {**told, "errors": self.errors} if self.errors else told)


def frame(kind: str, data: object) -> str:
    """A frame as text."""
    return encode({"type": kind, "data": data}).decode()


def read_frame(text: str | None) -> tuple[str, object]:
    """Type and data of a frame.

    Args:
        text: of the frame, None where it was binary.

    Raises:
        FrameError: for what is not a JSON object with a type.
    """
    if text is None:
        raise FrameError("INVALID_JSON", BINARY)
    found = _decoded(text)
    if not isinstance(found, Mapping):
        raise invalid_frame("a frame is a JSON object", "type")
    kind = found.get("type", "")
    if not isinstance(kind, str):
        raise invalid_frame("type is a string", "type")
    return kind, found.get("data", {})


def invalid_frame(message: str, *where: str) -> FrameError:
    """An error of validation."""
    return FrameError("VALIDATION_ERROR", message, [{"loc": where, "msg": message}])


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
        raise FrameError("INVALID_JSON", f"not JSON: {str(error)[:MESSAGE]}") from None


def _number(text: str) -> float | str:
    """A number that JSON's readers agree on, or its text."""
    found = int(text) if len(text) < DIGITS and text.removeprefix("-").isdecimal() else float(text)
    return found if isfinite(found) else text
