"""What both sides say to each other: a JSON object and pieces of bytes; never code, never objects.

Neither side trusts the other's: every value is checked for its type and range before it is used.
"""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NoReturn

from attrs import asdict, fields
from rlenv import ConfigError, Fault, RlenvError, VerifierFault
from rlenv.authoring import FAULT_KINDS
from rlenv.sandbox import (
    REASONS,
    TIERS,
    ChannelEnded,
    ChannelTimeout,
    Exit,
    FrameTooLong,
    Profile,
    WorkspaceError,
)

__all__ = [
    "HEADER_MOST",
    "MEDIA",
    "PATH",
    "BadPayload",
    "end_of",
    "error_of",
    "json_object",
    "number",
    "profile_of",
    "said_of",
    "said_of_end",
    "session_name",
    "told",
    "unwrap",
    "wrap",
]

PATH = "/sandbox/v1"  # below which all paths of the protocol are
MEDIA = "application/vnd.rlenv.sandbox"  # the media type of a payload
HEADER_MOST = 1 << 20  # bytes of JSON: reading it holds up everybody else
_MARKS_MOST = 1 << 17  # brackets, braces and commas in it: a MiB of empty lists takes half a second
_SESSION = re.compile("[A-Za-z0-9_-]{22}")
_LENGTH = struct.Struct("<I")
_TEXT_MOST = 4096  # characters of a message that are shown
_MOST = {  # of the numbers of a profile; a server's own limits are lower
    "cpu_s": 1e9,
    "wall_s": 1e9,
    "memory_mb": 1 << 40,
    "pids": 1 << 30,
    "output_bytes": 1 << 40,
    "hash_seed": (1 << 32) - 1,
    "workspace_mb": 1 << 20,
    "workspace_files": 20_000,
}


class BadPayload(ValueError):
    """Not what the other side says."""


def wrap(header: Mapping[str, Any], *pieces: bytes) -> bytes:
    """A payload.

    Raises:
        ConfigError: the header is longer than the other side takes.
    """
    text = json.dumps({**header, "sizes": [len(piece) for piece in pieces]}).encode()
    if len(text) > HEADER_MOST:
        raise ConfigError(
            f"the names of a profile's or a run's files take {len(text):,} bytes, and a remote"
            f" sandbox takes {HEADER_MOST:,}: pass fewer files, or shorter names"
        )
    return b"".join((_LENGTH.pack(len(text)), text, *pieces))


def unwrap(payload: bytes) -> tuple[dict[str, Any], list[bytes]]:
    """The header and the pieces of a payload.

    Raises:
        BadPayload: it is none.
    """
    try:
        (length,) = _LENGTH.unpack_from(payload)
        if length > HEADER_MOST:
            raise BadPayload(f"a header of {length} bytes")
        header = json_object(payload[4 : 4 + length])
        sizes = header.pop("sizes")
        place = 4 + length
        pieces = []
        for size in sizes:
            if type(size) is not int or not 0 <= size <= len(payload) - place:
                raise BadPayload("a piece ends beyond its payload")
            pieces.append(payload[place : place + size])
            place += size
    except (struct.error, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise BadPayload(f"not a payload: {error}") from error
    return header, pieces


def json_object(text: bytes) -> dict[str, Any]:
    """Read a JSON object of a bounded size.

    Raises:
        BadPayload: it is none.
    """
    if len(text) > HEADER_MOST or sum(map(text.count, (b"[", b"{", b","))) > _MARKS_MOST:
        raise BadPayload("a header of too many values")
    try:
        found = json.loads(text, parse_constant=_not_json)
    except (ValueError, RecursionError) as error:
        raise BadPayload(f"not JSON: {error}") from error
    if not isinstance(found, dict):
        raise BadPayload("a JSON object is expected")
    return found


def _not_json(word: str) -> NoReturn:
    raise BadPayload(f"no number: {word}")  # one NaN among its timers, and a loop keeps no time


def number(said: Any, most: float, least: float = 0.0, *, whole: bool = False) -> Any:
    """A number within these bounds; an int when ``whole``.

    Raises:
        BadPayload: it is none.
    """
    if type(said) not in ((int,) if whole else (int, float)) or not least <= said <= most:
        kind = "an integer" if whole else "a number"
        raise BadPayload(f"{kind} from {least:.10g} to {most:.10g} is expected")
    return said


def session_name(said: Any) -> str:
    """Return the name of a session, which becomes part of a path.

    Raises:
        BadPayload: it is none.
    """
    if type(said) is not str or not _SESSION.fullmatch(said):
        raise BadPayload("the name of a session is expected")
    return said


def _text(said: Any) -> str:
    if type(said) is not str or "\0" in said:
        raise BadPayload("a text without NUL is expected")
    return said


def said_of(profile: Profile) -> dict[str, Any]:
    """A profile as JSON values, without the contents of its files."""
    return asdict(profile) | {"files": [name for name, _ in profile.files]}


def profile_of(said: Any, contents: Iterable[bytes] = ()) -> Profile:
    """The profile that was said, with these contents of its files.

    Raises:
        BadPayload: it is none.
        ConfigError: a value that makes no sense.
    """
    try:
        known = {field.name: said[field.name] for field in fields(Profile)}
        for key in ("runtime", "min_isolation"):
            _text(known[key])
        for key in ("preload", "paths", "devices"):
            known[key] = tuple(map(_text, known[key]))
        if problems := list(_beyond(known)):
            raise ConfigError(*problems)
        files = zip(map(_text, said["files"]), contents, strict=True)
        return Profile(**known | {"files": files})
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise BadPayload(f"not a profile: {error}") from error


def _beyond(known: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with the numbers of a profile."""
    for key, most in _MOST.items():
        whole = key not in ("cpu_s", "wall_s")
        try:
            number(known[key], most, whole=whole)
        except BadPayload as error:
            yield f"{key}: {error}"


def said_of_end(end: Exit) -> dict[str, Any]:
    """An exit as JSON values, without what was printed."""
    said = asdict(end)
    del said["stdout"], said["stderr"]
    return said


def end_of(said: Any, stdout: bytes, stderr: bytes) -> Exit:
    """The exit that was said.

    Raises:
        BadPayload: it is none.
    """
    try:
        fault = None if said["fault"] is None else _fault_of(said["fault"])
        end = Exit(**said | {"fault": fault, "stdout": stdout, "stderr": stderr})
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise BadPayload(f"not an exit: {error}") from error
    if end.reason not in REASONS or end.isolation not in TIERS:
        raise BadPayload("not an exit: unknown reason or isolation")
    if end.status is not None:
        number(end.status, 1 << 31, -(1 << 31), whole=True)
    for seconds in (end.cpu, end.wall):
        number(seconds, 1e9)
    number(end.peak_memory, 1 << 62, whole=True)
    if {type(end.truncated), type(end.started)} != {bool}:
        raise BadPayload("not an exit: truncated and started are true or false")
    return end


def _fault_of(said: Mapping[str, Any]) -> Fault:
    """A fault of a kind that is known, whatever the other side calls it."""
    kind = said.get("kind")
    known = kind if kind in FAULT_KINDS else "unavailable"
    return Fault(known, str(said.get("message", ""))[:_TEXT_MOST], said.get("transient") is True)


def error_of(said: Mapping[str, Any]) -> RlenvError:
    """The error that the other side told, to be raised here."""
    kind = said.get("error")
    text = str(said.get("message", ""))[:_TEXT_MOST]
    if kind == "config":
        problems = said.get("problems")
        told = problems[:20] if isinstance(problems, list) else [text]
        return ConfigError(*(str(problem)[:_TEXT_MOST] for problem in told))
    if kind == "fault":
        return VerifierFault(_fault_of(said))
    if kind == "timeout":
        return ChannelTimeout(text, starved=said.get("starved") is True)
    return FrameTooLong(text) if kind == "long" else ChannelEnded(text)


def told(error: Exception) -> dict[str, Any] | None:
    """An error of the port, or of its misuse, as JSON values; None for any other."""
    if isinstance(error, RuntimeError):
        error = VerifierFault(Fault("error", str(error), transient=False))
    if isinstance(error, (ConfigError, WorkspaceError)):
        problems = getattr(error, "problems", [str(error)])
        return {"error": "config", "problems": [each[:_TEXT_MOST] for each in problems[:20]]}
    if isinstance(error, VerifierFault):
        fault = error.fault
        known = {"kind": fault.kind, "message": fault.message, "transient": fault.transient}
        return {"error": "fault", **known}
    words = {ChannelTimeout: "timeout", FrameTooLong: "long", ChannelEnded: "ended"}
    word = next((word for kind, word in words.items() if isinstance(error, kind)), None)
    starved = getattr(error, "starved", False)
    return {"error": word, "message": str(error), "starved": starved} if word else None
