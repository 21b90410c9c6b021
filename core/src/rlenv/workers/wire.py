"""Records on the socket between a caller and its worker: (tag, seq, length) and that many bytes.

The body of a record to a worker is a pickle: of a word, or of the payloads of items that are
numbered from seq on. The body of a record to the caller is JSON: a stage may run what a policy
wrote, so nothing that a worker sends may choose what the caller runs.  The body of a DONE is a list
of the numbers of items, each with its value behind it.
"""

from __future__ import annotations

import pickle
import re
from collections.abc import Iterator
from json import JSONDecoder, JSONEncoder
from json.encoder import c_make_encoder, encode_basestring  # type: ignore[attr-defined]
from struct import Struct
from typing import Any

HEADER = Struct("<IQQ")
CHUNK = 1 << 18
_TEXT = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"')
LONGEST = 64 << 20  # the weight of one result
LONGEST_MESSAGE = 2_000  # characters of why there is no result
LONGEST_SENT = 1 << 30  # bytes of one record to a worker
# What JSONEncoder.encode makes for each value anew, without its search for what holds itself.
_default = JSONEncoder().default
_encode = c_make_encoder(
    markers=None,
    default=_default,
    encoder=encode_basestring,
    indent=None,
    key_separator=":",
    item_separator=",",
    sort_keys=False,
    skipkeys=False,
    allow_nan=True,
)
_decode = JSONDecoder().raw_decode
unpickle = pickle.loads  # in a worker, of what its caller sent

CONTROL = 0  # to a worker: a pickled (word, value); every other tag is a program's number
# to the caller
DONE = 1
FAILED = 2
PARTIAL = 3
READY = 4
BUILT = 5
SPENT = 6
WORN = 7

FLUSH_SECONDS = 0.01  # a finished result waits no longer than this in a worker


class WireError(ValueError):
    """Bytes that are not records, or a record that does not fit."""


def dump(value: object) -> bytes:
    """The body of a record to the caller; lone surrogates stay what they are.

    Raises:
        WireError: when it weighs more than LONGEST.
        TypeError, ValueError, RecursionError: when it is not a value of JSON.
    """
    body = "".join(_encode(value, 0)).encode("utf-8", "surrogatepass")
    if 41 * len(body) > LONGEST and weight(body) > LONGEST:
        most = f"at most {LONGEST:,}, a value being 40 more"
        raise WireError(f"{len(body):,} bytes of results: {most}")
    return body


def weight(body: bytes) -> int:
    """Bytes, with more for values: who reads them holds all workers up.

    A comma in a text is none.
    """
    values = sum(map(body.count, b",[{")) if len(body) > CHUNK >> 6 else 0
    if len(body) + 40 * values > LONGEST > 40 * (body.count(b'"') - body.count(b'\\"')):
        values = sum(map(_TEXT.sub(b"", body).count, b",[{"))
    return len(body) + 40 * values


def load(body: bytes) -> Any:
    """The value of JSON that a worker sent.

    Raises:
        ValueError, RecursionError: when it is not one.
    """
    text = body.decode("utf-8", "surrogatepass")
    value, end = _decode(text)
    if end != len(text):
        raise WireError("more than one value")
    return value


class Buffer:
    """Bytes that arrived, cut into records."""

    __slots__ = ("_data", "_longest", "_wanted")

    def __init__(self, longest: int = LONGEST + 2 * CHUNK) -> None:
        self._data = bytearray()
        self._longest = longest
        self._wanted = 0  # bytes that complete the first record held

    def feed(self, data: bytes) -> Iterator[tuple[int, int, memoryview]]:
        """Yield the records that ``data`` completes, their bodies without a copy.

        Raises:
            WireError: when a record claims to be too long.
        """
        self._data += data
        if len(self._data) < self._wanted:
            return
        data = bytes(self._data)
        at = 0
        self._wanted = HEADER.size
        unpack = HEADER.unpack_from
        head = HEADER.size
        size = len(data)
        view = memoryview(data)
        while size - at >= head:
            tag, seq, length = unpack(data, at)
            if length > self._longest:
                raise WireError(f"a record of {length:,} bytes")
            end = at + head + length
            if end > size:
                self._wanted = end - at
                break
            yield tag, seq, view[at + head : end]
            at = end
        self._data = bytearray(data[at:])


def record(tag: int, seq: int, body: bytes) -> bytes:
    """One record."""
    return HEADER.pack(tag, seq, len(body)) + body
