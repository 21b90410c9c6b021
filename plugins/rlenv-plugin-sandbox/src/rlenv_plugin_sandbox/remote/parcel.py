"""What both sides say to each other: a JSON object and pieces of bytes; never code, never objects."""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import asdict, fields
from rlenv.errors import ConfigError, RlenvError, VerifierFault
from rlenv.sandbox import (
    REASONS,
    TIERS,
    ChannelEnded,
    ChannelError,
    ChannelTimeout,
    Exit,
    FrameTooLong,
    Profile,
)
from rlenv.values import Fault

__all__ = [
    "BadParcel",
    "end_of",
    "error_of",
    "profile_of",
    "said_of",
    "said_of_end",
    "unwrap",
    "wrap",
]

_LENGTH = struct.Struct("<I")


class BadParcel(ValueError):
    """Not what the other side says."""


def wrap(header: Mapping[str, Any], *pieces: bytes) -> bytes:
    """A parcel."""
    text = json.dumps({**header, "sizes": [len(piece) for piece in pieces]}).encode()
    return b"".join((_LENGTH.pack(len(text)), text, *pieces))


def unwrap(parcel: bytes) -> tuple[dict[str, Any], list[bytes]]:
    """The header and the pieces of a parcel.

    Raises:
        BadParcel: it is none.
    """
    try:
        (length,) = _LENGTH.unpack_from(parcel)
        header = json.loads(parcel[4 : 4 + length])
        sizes = header.pop("sizes")
        place = 4 + length
        pieces = []
        for size in sizes:
            if type(size) is not int or not 0 <= size <= len(parcel) - place:
                raise BadParcel("a piece ends beyond its parcel")
            pieces.append(parcel[place : place + size])
            place += size
    except (struct.error, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise BadParcel(f"no parcel: {error}") from error
    return header, pieces


def said_of(profile: Profile) -> dict[str, Any]:
    """A profile as JSON values."""
    files = [[name, base64.b64encode(content).decode()] for name, content in profile.files]
    return asdict(profile) | {"files": files}


def profile_of(said: Any) -> Profile:
    """The profile that was said.

    Raises:
        BadParcel: it is none.
        ConfigError: a value that makes no sense.
    """
    try:
        files = [(name, base64.b64decode(text)) for name, text in said["files"]]
        lists = {key: tuple(map(str, said[key])) for key in ("preload", "paths", "devices")}
        known = {field.name for field in fields(Profile)}
        return Profile(**{k: said[k] for k in known} | lists | {"files": files})
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise BadParcel(f"no profile: {error}") from error


def said_of_end(end: Exit) -> dict[str, Any]:
    """An exit as JSON values, without what was printed."""
    said = asdict(end)
    del said["stdout"], said["stderr"]
    return said


def end_of(said: Any, stdout: bytes, stderr: bytes) -> Exit:
    """The exit that was said.

    Raises:
        BadParcel: it is none.
    """
    try:
        fault = None if said["fault"] is None else Fault(**said["fault"])
        end = Exit(**said | {"fault": fault, "stdout": stdout, "stderr": stderr})
    except (TypeError, ValueError, KeyError) as error:
        raise BadParcel(f"no exit: {error}") from error
    if end.reason not in REASONS or end.isolation not in TIERS:
        raise BadParcel(f"no exit: reason {end.reason!r}, isolation {end.isolation!r}")
    return end


def error_of(said: Mapping[str, Any]) -> RlenvError:
    """The error that the other side told, to be raised here."""
    kind, text = said.get("error"), str(said.get("message", ""))
    if kind == "config":
        return ConfigError(*(str(problem) for problem in said.get("problems", [text])))
    if kind == "fault":
        return VerifierFault(Fault(str(said.get("kind")), text, said.get("transient") is True))
    if kind == "timeout":
        return ChannelTimeout(text, starved=said.get("starved") is True)
    plain: dict[Any, type[ChannelError]] = {"ended": ChannelEnded, "long": FrameTooLong}
    return plain.get(kind, ChannelEnded)(text)


def told(error: Exception) -> dict[str, Any] | None:
    """An error of the port as JSON values; None for any other."""
    if isinstance(error, ConfigError):
        return {"error": "config", "problems": list(error.problems)}
    if isinstance(error, VerifierFault):
        fault = error.fault
        known = {"kind": fault.kind, "message": fault.message, "transient": fault.transient}
        return {"error": "fault", **known}
    if isinstance(error, ChannelTimeout):
        return {"error": "timeout", "message": str(error), "starved": error.starved}
    if isinstance(error, FrameTooLong):
        return {"error": "long", "message": str(error)}
    if isinstance(error, ChannelEnded):
        return {"error": "ended", "message": str(error)}
    return None


def files_said(
    files: Mapping[str, bytes | tuple[bytes, int]],
) -> tuple[list[Sequence[Any]], list[bytes]]:
    """([[name, mode]], [content]) of the files of a run."""
    names: list[Sequence[Any]] = []
    contents = []
    for name, given in files.items():
        content, mode = given if isinstance(given, tuple) else (given, 0o644)
        names.append([name, mode])
        contents.append(content)
    return names, contents
