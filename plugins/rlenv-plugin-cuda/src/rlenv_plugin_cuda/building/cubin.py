"""What a kernel takes, read from the object that would run: an ELF file for the GPU.

The sections ``.nv.info`` and ``.nv.info.KERNEL`` are lists of attributes: a format, a number and a
value.  Numbers and meanings are those that ``cuobjdump -elf`` prints by name (EIATTR_…), confirmed
against ``ptxas -v``.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping

from attrs import frozen

__all__ = ["UNBOUNDED", "BadCubin", "Entry", "entries"]

UNBOUNDED = 1 << 31  # bytes of stack of what calls itself
RESERVED = 1024  # bytes of shared memory that the system takes of each block, from sm_90 on
MACHINE = 190  # EM_CUDA
SECTIONS = 1 << 14
_MAX_THREADS = 0x05
_FRAME_SIZE = 0x11
_MIN_STACK = 0x12
_REGISTERS = 0x2F
_VALUE_FORMAT = 4  # a size and so many bytes; other formats hold their value in the size
_ENTRY = 0x10  # st_other of a kernel
_RESERVATION = b".nv.reservedSmem.offset0"


class BadCubin(Exception):
    """Not an object of the kind that the compilers here make."""


@frozen
class Entry:
    """What one kernel takes.

    Args:
        registers: per thread.
        shared: bytes of static shared memory.
        stack: bytes; ``UNBOUNDED`` where it calls itself.
        max_threads: the most that it may be launched with; None: as many as the device allows.
    """

    name: str
    registers: int
    shared: int
    stack: int
    max_threads: int | None


@frozen
class _Section:
    name: bytes
    kind: int
    offset: int
    size: int
    link: int
    info: int


def entries(cubin: bytes) -> tuple[Entry, ...]:
    """The kernels of an object, by name.

    Raises:
        BadCubin: it cannot be read.
    """
    try:
        return tuple(sorted(_entries(cubin), key=lambda entry: entry.name))
    except (struct.error, IndexError, KeyError, ValueError) as error:
        raise BadCubin(f"an object that cannot be read: {type(error).__name__}") from None


def _entries(cubin: bytes) -> Iterator[Entry]:
    if cubin[:6] != b"\x7fELF\x02\x01" or struct.unpack_from("<H", cubin, 18) != (MACHINE,):
        raise ValueError
    sections = _sections(cubin)
    symbols = _symbols(cubin, sections)
    common = _attributes(_content(cubin, sections[b".nv.info"]))
    facts: dict[int, dict[int, int]] = {}
    for attribute, value in common:
        if attribute in (_FRAME_SIZE, _MIN_STACK, _REGISTERS):
            symbol, number = struct.unpack("<II", value)
            facts.setdefault(symbol, {})[attribute] = number
    reserved = RESERVED if any(name == _RESERVATION for name, _ in symbols) else 0
    for place, (name, other) in enumerate(symbols):
        if other & _ENTRY and b".text." + name in sections:
            yield _entry(cubin, sections, name, facts[place], reserved)


def _entry(
    cubin: bytes,
    sections: Mapping[bytes, _Section],
    name: bytes,
    facts: Mapping[int, int],
    reserved: int,
) -> Entry:
    shared = sections.get(b".nv.shared." + name)
    stack = max(facts[_FRAME_SIZE], facts.get(_MIN_STACK, 0))
    return Entry(
        name.decode("utf-8"),
        facts[_REGISTERS],
        max(0, shared.size - reserved) if shared else 0,
        min(stack, UNBOUNDED),
        _threads(cubin, sections.get(b".nv.info." + name)),
    )


def _threads(cubin: bytes, own: _Section | None) -> int | None:
    for attribute, value in _attributes(_content(cubin, own)) if own else ():
        if attribute == _MAX_THREADS:
            x, y, z = struct.unpack("<III", value)
            return int(x * y * z)
    return None


def _sections(cubin: bytes) -> dict[bytes, _Section]:
    (start,) = struct.unpack_from("<Q", cubin, 40)
    size, count, names = struct.unpack_from("<HHH", cubin, 58)
    if size != 64 or not 0 < count < SECTIONS:
        raise ValueError
    headers = [struct.unpack_from("<IIQQQQIIQQ", cubin, start + 64 * i) for i in range(count)]
    text = cubin[headers[names][4] : headers[names][4] + headers[names][5]]
    made = [
        _Section(
            name=_string(text, header[0]),
            kind=header[1],
            offset=header[4],
            size=header[5],
            link=header[6],
            info=header[7],
        )
        for header in headers
    ]
    return {section.name: section for section in made}


def _symbols(cubin: bytes, sections: Mapping[bytes, _Section]) -> list[tuple[bytes, int]]:
    """(name, st_other) of each."""
    text = _content(cubin, sections[b".strtab"])
    table = _content(cubin, sections[b".symtab"])
    return [
        (_string(text, name), other)
        for name, _, other, _, _, _ in struct.iter_unpack("<IBBHQQ", table)
    ]


def _string(text: bytes, place: int) -> bytes:
    return text[place : text.index(b"\0", place)]


def _content(cubin: bytes, section: _Section) -> bytes:
    end = section.offset + section.size
    if end > len(cubin):
        raise ValueError
    return cubin[section.offset : end]


def _attributes(content: bytes) -> Iterator[tuple[int, bytes]]:
    place = 0
    while place < len(content):
        kind, attribute, size = struct.unpack_from("<BBH", content, place)
        place += 4
        if kind == _VALUE_FORMAT:
            yield attribute, content[place : place + size]
            place += size
