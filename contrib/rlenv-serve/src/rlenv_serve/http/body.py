"""The body of a request: limited while it is read, checked while it is decoded."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from typing import TypeVar

import msgspec
import msgspec.inspect
from rlenv.authoring import suggest
from starlette.requests import Request

from .problems import Problem, invalid

T = TypeVar("T")
# Escapes of JSON: whole pairs of surrogates, one of which alone is not a character (group 1), and
# others.  What a policy wrote may hold one, and the whole request would be refused.
_SURROGATES = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)
BYTE_ORDER_MARK = b"\xef\xbb\xbf"  # which programs on Windows write
REPLACED = rb"\ufffd"
# A text of JSON.  Possessive, and without need of a closing quote: what is not JSON costs no more
# than what is.
_TEXTS = re.compile(rb'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
_ALIKE = bytes.maketrans(b"{}", b"[]")
_OTHERS = bytes({*range(256)} - {*b"[]{}"})
# Bytes that are read and dropped: a client that is still sending would not see the answer.
DRAINED = 64 << 20
# What msgspec says of a member that there is not; the path is left out for the outermost object.
_UNKNOWN = re.compile(
    r"Object contains unknown field `(?P<name>.*?)`(?: - at `(?P<path>[^`]*)`)?", re.DOTALL
)
_STEPS = re.compile(r"[A-Za-z_]\w*|\[[^\]]*\]")
COMPARED = (
    200  # characters of a name that are compared with others: of a longer one that takes long
)
MESSAGE = 500  # characters of a decoder's message


async def read(request: Request, limit: int) -> bytes:
    """Read the whole body.

    Args:
        request: with the body.
        limit: bytes.

    Raises:
        ClientDisconnect: where the body ends early.
        Problem: 413 for one that is longer than ``limit`` bytes; never more than that is kept.
    """
    parts = list[bytes]()
    size = 0
    async for part in request.stream():
        size += len(part)
        if size <= limit:
            parts.append(part)
        elif size > limit + DRAINED:
            break
    if size > limit:
        raise Problem(
            413,
            "too_large",
            f"a body has at most {limit:,} bytes; send less in one request",
            Connection="close",
        )
    return b"".join(parts)


def check_encoding(headers: Mapping[str, str]) -> None:
    """Reject a body that is compressed: a small one could grow to any size.

    Args:
        headers: of the request, by names in lower case.

    Raises:
        Problem: 415 for such a body.
    """
    if (given := headers.get("content-encoding", "identity").lower()) not in ("identity", ""):
        raise Problem(
            415,
            "encoded_body",
            f"a body is plain JSON, not of the Content-Encoding {given!r:.80}: send it as it is",
            Accept_Encoding="identity",
        )


def decode(
    body: bytes, decoder: msgspec.json.Decoder[T], depth: int, *, lenient: bool = False
) -> T:
    """JSON as a value of the decoder's type.

    Args:
        body: of the request.
        decoder: of the type.
        depth: levels of nested JSON.
        lenient: NaN, infinities and numbers out of range, which Python writes, are read as texts,
            and the depth is the handler's to check.

    Raises:
        Problem: 400 for what is not JSON, or nested more than ``depth`` levels deep; 422 for other
            values.
    """
    try:
        try:
            made = decoder.decode(body)
        except msgspec.DecodeError as error:
            if isinstance(error, msgspec.ValidationError) and not lenient:
                raise
            body = body.removeprefix(BYTE_ORDER_MARK)  # RFC 8259, section 8.1, allows to ignore it
            body = _SURROGATES.sub(lambda found: REPLACED if found[1] else found[0], body)
            made = decoder.decode(_plain(body) if lenient else body)
    except msgspec.ValidationError as error:
        _check_unknown(str(error), decoder.type)
        raise invalid(str(error)[:MESSAGE]) from None
    except RecursionError:
        raise too_deep(depth) from None
    except (msgspec.DecodeError, ValueError) as error:
        raise invalid(f"the body is not JSON: {str(error)[:MESSAGE]}", 400) from None
    if not lenient and is_deep(body, depth):
        raise too_deep(depth)
    return made


def _plain(body: bytes) -> bytes:
    """Replace what Python writes and JSON lacks by texts."""
    found = json.loads(body, parse_constant=str, parse_float=_number, parse_int=_number)
    return json.dumps(found, ensure_ascii=False).encode()


def _number(text: str) -> float | str:
    """A number that JSON's readers agree on, or its text."""
    if not isfinite(found := float(text)):
        return text
    return int(text) if text.removeprefix("-").isdecimal() else found


def _check_unknown(message: str, kind: object) -> None:
    """Say which member of an object the type does not have, and which one may have been meant.

    Args:
        message: of the decoder.
        kind: the type of the whole.

    Raises:
        Problem: 400 for such a member of the outermost object, 422 for one inside.
    """
    found = _UNKNOWN.fullmatch(message)
    if found is None:
        return
    name = found["name"]
    path = found["path"] or ""
    known = _members(msgspec.inspect.type_info(kind), _STEPS.findall(path))
    if known and name not in known:
        where = f" in {path.removeprefix('$.')}" if path else ""
        hint = suggest(name[:COMPARED], known)
        raise invalid(f"there is no member {name!r:.80}{where}: {hint}", 422 if path else 400)


def _members(kind: msgspec.inspect.Type, steps: Sequence[str]) -> list[str]:
    """The names of what the object at a path may have; none where no object is there that forbids
    others.
    """
    if isinstance(kind, msgspec.inspect.UnionType):
        return [name for each in kind.types for name in _members(each, steps)]
    if isinstance(kind, msgspec.inspect.ListType) and steps:
        return _members(kind.item_type, steps[1:])
    if not isinstance(kind, msgspec.inspect.StructType):
        return []
    if not steps:
        return [each.encode_name for each in kind.fields] if kind.forbid_unknown_fields else []
    return [
        name
        for each in kind.fields
        if each.encode_name == steps[0]
        for name in _members(each.type, steps[1:])
    ]


def check_members(given: Iterable[str], known: Sequence[str], status: int = 422) -> None:
    """Reject members that nothing reads: a misspelled one would silently ask for something else.

    Args:
        given: names of what a client sent.
        known: names that there are.
        status: of the problem.

    Raises:
        Problem: for the first name that is not known, with the nearest one that is.
    """
    for name in given:
        if name not in known:
            raise invalid(
                f"there is no member {name!r:.80}: {suggest(name[:COMPARED], known)}", status
            )


def convert(
    value: object, kind: type[T], said: str = "", code: str = "invalid", *, strict: bool = True
) -> T:
    """Convert what was decoded to a value of another type.

    Args:
        value: decoded.
        kind: the type.
        said: before what is wrong.
        code: of the problem.
        strict: texts are not read as numbers.

    Raises:
        Problem: 422 for a value of another type.
    """
    try:
        return msgspec.convert(value, kind, strict=strict)
    except (msgspec.ValidationError, RecursionError) as error:
        raise Problem(422, code, f"{said}{str(error)[:MESSAGE]}") from None


def too_deep(depth: int) -> Problem:
    """400."""
    return invalid(f"JSON is nested at most {depth} levels deep", 400)


def is_deep(body: bytes, depth: int) -> bool:
    """Return whether valid JSON is nested more than ``depth`` levels deep, by its brackets: of wide
    values there are too many to visit each.

    Args:
        body: valid JSON.
        depth: levels.
    """
    if body.count(b"[") + body.count(b"{") <= depth:
        return False
    left = _TEXTS.sub(b"", body).translate(_ALIKE, _OTHERS)
    for _ in range(depth):
        left = left.replace(b"[]", b"")  # the innermost level
        if not left:
            return False
    return True
