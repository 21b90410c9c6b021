"""Limits on rows of files, so that a small compressed file cannot fill the memory."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING, Any

from attrs import frozen

if TYPE_CHECKING:
    from gzip import GzipFile

MIB = 1 << 20
SHORTER = "shorten it or leave it out"
CONTAINER = 64  # bytes of an empty list or dict in memory, which two bytes of JSON stand for
# how many times its bytes a text of JSON may take in memory, where the bytes are at their limit
TIMES = 4


@frozen
class RowLimits:
    """Limits on what is read of one file; beyond them, reading ends with an error.

    What a text of JSON or CSV takes in memory, as ``memory_of`` estimates it, is limited to four
    times as much.

    Attributes:
        row_bytes: of one row: of a line of JSONL, of the lines of a CSV row, of the values of any
            other row.
        whole_bytes: of a file that is read as a whole: .json, and .parquet.gz once decompressed.
        expansion: how many times its size a compressed file may expand to.
        expanded_bytes: what any compressed file may expand to, however small it is.
    """

    row_bytes: int = 128 * MIB
    whole_bytes: int = 256 * MIB
    expansion: int = 100
    expanded_bytes: int = 256 * MIB

    def expanded(self, size: int) -> int:
        """The most bytes that a compressed file of ``size`` bytes may expand to."""
        return max(self.expanded_bytes, self.expansion * size)


LIMITS = RowLimits()


def memory_of(raw: bytes) -> int:
    """About how many bytes the values take in memory that are written in a text of JSON or CSV."""
    containers = raw.count(b"[") + raw.count(b"{")
    return len(raw) + CONTAINER * containers + 8 * raw.count(b",")


def memory_problem(place: str, allowed: int) -> str:
    """The message for a row or file of very many small values."""
    return f"{place} takes more than {allowed:,} bytes of memory, which is the limit; {SHORTER}"


def row_problem(place: str, limits: RowLimits) -> str:
    """The message for a row that is too long."""
    return f"{place} is longer than {limits.row_bytes:,} bytes, the limit of a row; {SHORTER}"


def expansion_problem(size: int, allowed: int) -> str:
    """The message for a file that expands to more than it may."""
    return (
        f"{size:,} bytes expand to more than {allowed:,}, the limit for a file of this size; if you"
        " trust the file, write its rows uncompressed as .jsonl, which has no limit of this kind"
    )


def read_whole(file: IO[bytes], limits: RowLimits, remedy: str) -> bytes:
    """The content of a file that cannot be read row by row.

    Raises:
        ValueError: when it is longer than ``limits.whole_bytes``.
    """
    content = file.read(limits.whole_bytes + 1)
    if len(content) > limits.whole_bytes:
        most = f"{limits.whole_bytes:,} bytes"
        raise ValueError(
            f"the file is longer than {most}, the limit of a file of this kind; {remedy}"
        )
    if memory_of(content) > TIMES * limits.whole_bytes:
        raise ValueError(memory_problem("the file", TIMES * limits.whole_bytes))
    return content


def sound_lines(file: IO[bytes], limits: RowLimits) -> Iterator[bytes]:
    """The lines of a file, each read only as far as the limit.

    Raises:
        ValueError: at a line that is too long.
    """
    number = 0
    while line := file.readline(limits.row_bytes + 1):
        number += 1
        if len(line) > limits.row_bytes:
            raise ValueError(row_problem(f"line {number}", limits))
        if memory_of(line) > TIMES * limits.row_bytes:
            raise ValueError(memory_problem(f"line {number}", TIMES * limits.row_bytes))
        yield line


class Inflated(io.RawIOBase):
    """The decompressed bytes of a gzip file, up to a limit; wrap it into a BufferedReader.

    Args:
        file: the decompressing file.
        size: bytes of the compressed one.
        limits: its ``expanded`` is the limit.
    """

    def __init__(self, file: GzipFile, size: int, limits: RowLimits) -> None:
        self._file = file
        self._size = size
        self._allowed = limits.expanded(size)
        self._total = 0
        self._memory = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        count: int = self._file.readinto(buffer)
        self._total += count
        self._memory += memory_of(bytes(buffer[:count]))
        if self._total > self._allowed or self._memory > TIMES * self._allowed:
            raise ValueError(expansion_problem(self._size, self._allowed))
        return count


def size_of(value: object) -> int:
    """About how many bytes a value of JSON has: those of its strings, and 8 for every other
    part.
    """
    total = 0
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, (str, bytes)):
            total += (
                len(part)
                if isinstance(part, bytes) or part.isascii()
                else len(part.encode("utf-8", "surrogatepass"))
            )
        else:
            total += 8
            if isinstance(part, dict):
                waiting += [*part, *part.values()]
            elif isinstance(part, list):
                waiting += part
    return total
