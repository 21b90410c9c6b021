"""Answers of HTTP/1.1 (RFC 9112), read as they arrive: strictly where lengths are at stake, bounded everywhere."""

from __future__ import annotations

import re
from collections.abc import Mapping

from attrs import frozen

MOST_HEAD = 64 << 10  # bytes of status line and headers
_MOST_LINE = 256  # bytes that announce one chunk, extensions included
_STATUS = re.compile(rb"HTTP/1\.([01]) ([1-5]\d\d)(?: [^\r\n\0]*)?")
_NAME = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_LENGTH = re.compile(r"\d{1,18}")
_CHUNK = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(?:;[^\r\n]*)?")
_BODILESS = frozenset({204, 304})


class Broken(Exception):
    """What arrived is no whole answer, or none at all."""


class Larger(Exception):
    """The body has more bytes than it may."""


@frozen
class Answer:
    """A server's answer, whole; names of headers are in small letters."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Reader:
    """One answer.  ``feed`` what arrives until it is there, or say ``end`` when nothing more comes.

    Args:
        most: bytes that its body may have.
    """

    __slots__ = ("_at", "_body", "_data", "_headers", "_left", "_most", "_need", "_status", "keep")

    def __init__(self, most: int) -> None:
        self._most = most
        self._data = bytearray()
        self._body = bytearray()
        self._at = 0  # where the search for the head's end goes on
        self._status = 0
        self._headers: dict[str, str] = {}
        self._need: int | None = None  # bytes of the body where the head says so
        self._left = -1  # bytes of the chunk that is read; -1 at its announcement
        self.keep = False  # the connection can carry another request

    @property
    def begun(self) -> bool:
        """Whether anything arrived."""
        return bool(self._status or self._data)

    def feed(self, data: bytes) -> Answer | None:
        """The answer, once it is whole.

        Raises:
            Broken: this is not HTTP/1.1, or says two things at once.
            Larger: the body exceeds ``most``.
        """
        self._data += data
        while not self._status:
            if not self._head():
                return None
        if self._need is not None:
            return self._counted(self._need)
        if "transfer-encoding" in self._headers:
            return self._chunked()
        self._check_size(len(self._data))
        return None

    def end(self) -> Answer:
        """The answer of a server that closes the connection to end it.

        Raises:
            Broken: it was not whole.
        """
        if self._status and self._need is None and "transfer-encoding" not in self._headers:
            return Answer(self._status, self._headers, bytes(self._data))
        raise Broken

    def _head(self) -> bool:
        """Read the head, if it is there; False: not yet.  Interim answers (1xx) are passed over."""
        end = self._data.find(b"\r\n\r\n", self._at)
        if end < 0 or end > MOST_HEAD:
            if len(self._data) > MOST_HEAD:
                raise Broken
            self._at = max(0, len(self._data) - 3)
            return False
        first, *lines = bytes(self._data[:end]).split(b"\r\n")
        del self._data[: end + 4]
        self._at = 0
        said = _STATUS.fullmatch(first)
        if said is None or said[2] == b"101":
            raise Broken
        if said[2][:1] == b"1":
            return True
        self._status, self._headers = int(said[2]), _fields(lines)
        self._measure(newer=said[1] == b"1")
        return True

    def _measure(self, *, newer: bool) -> None:
        length, coding = self._headers.get("content-length"), self._headers.get("transfer-encoding")
        wishes = self._headers.get("connection", "").lower()
        self.keep = "close" not in wishes and (newer or "keep-alive" in wishes)
        if self._status in _BODILESS:
            self._need = 0
        elif coding is not None:
            if coding.lower() != "chunked" or length is not None:
                raise Broken
        elif length is not None:
            if len(set(length.split(", "))) != 1 or not _LENGTH.fullmatch(length.split(", ")[0]):
                raise Broken
            self._need = int(length.split(", ")[0])
            self._check_size(self._need)
        else:
            self.keep = False

    def _counted(self, need: int) -> Answer | None:
        have = len(self._data)
        if have < need:
            return None
        if have > need:  # nothing more was asked for, so whose is it?
            raise Broken
        return Answer(self._status, self._headers, bytes(self._data))

    def _chunked(self) -> Answer | None:
        data = self._data
        while data:
            if self._left == 0:
                return self._trailed()
            if self._left < 0:
                end = data.find(b"\r\n", 0, _MOST_LINE)
                if end < 0:
                    if len(data) >= _MOST_LINE:
                        raise Broken
                    return None
                said = _CHUNK.fullmatch(data[:end])
                if said is None:
                    raise Broken
                self._left = int(said[1], 16)
                self._check_size(len(self._body) + self._left)
                del data[: end + 2]
            elif not self._chunk():
                return None
        return None

    def _chunk(self) -> bool:
        """Take one whole chunk; False: it is not there yet."""
        data, left = self._data, self._left
        if len(data) < left + 2:
            return False
        if data[left : left + 2] != b"\r\n":
            raise Broken
        self._body += data[:left]
        del data[: left + 2]
        self._left = -1
        return True

    def _trailed(self) -> Answer | None:
        """After the last chunk: trailers, which say nothing here, and an empty line."""
        data = self._data
        ended = data.startswith(b"\r\n") or data.endswith(b"\r\n\r\n")
        if ended and (data == b"\r\n" or data.find(b"\r\n\r\n") == len(data) - 4):
            return Answer(self._status, self._headers, bytes(self._body))
        if ended or len(data) > MOST_HEAD:
            raise Broken
        return None

    def _check_size(self, size: int) -> None:
        if size > self._most:
            raise Larger


def _fields(lines: list[bytes]) -> dict[str, str]:
    """Names and values; several of one name are joined, as the standard has it."""
    found: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(b":")
        if not colon or not _NAME.fullmatch(name) or b"\r" in value or b"\n" in value:
            raise Broken  # folded lines and bare line ends among them
        key, text = name.decode("ascii").lower(), value.strip(b" \t").decode("latin-1")
        found[key] = f"{found[key]}, {text}" if key in found else text
    return found
