"""START: what the trusted side says to the child that waits.  `guest/child.py` reads it."""

from __future__ import annotations

import os
import struct

from rlenv import ConfigError

from .files import checked
from .trees import Node, encode
from .workspace import Files, Program

__all__ = ["BUSY", "STDIN", "memory_file", "message"]

_HEADER = struct.Struct("<BBddI")
_INLINE = 60_000
_PYTHON = 0
_NATIVE = 1
STDIN = 1
_PAYLOAD = 2
BUSY = 4


def message(
    program: Program, files: Files, runtime: str, cpu: float, tree: bytes, *, given: int
) -> tuple[bytes, bytes]:
    """(what goes with the message, what goes in a file of its own because of its size).

    ``tree`` is the content of a workspace, as entries.  ``given`` is STDIN where there is a
    standard input, and BUSY where other places work too: the child after this one then readies
    itself at less cost.

    Raises:
        ConfigError: a file's name leads out of the working directory, or the program has no such
            form.
    """
    kind, text = _program(program, runtime)
    named = {name: Node(mode, content) for name, content, mode in checked(files)}
    body = text + encode(named) + tree
    inline = len(body) <= _INLINE
    header = _HEADER.pack(kind, given | (0 if inline else _PAYLOAD), cpu, 0.0, len(text))
    return (header + body, b"") if inline else (header, body)


def memory_file(content: bytes) -> int:
    """A descriptor of a file in memory with this content, at its beginning."""
    fd = os.memfd_create("rlenv")
    with open(fd, "wb", closefd=False) as file:
        file.write(content)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def _program(program: Program, runtime: str) -> tuple[int, bytes]:
    if isinstance(program, str):
        if runtime == "native":
            raise ConfigError(
                "the native runtime runs command lines: give a list of words, not source code"
            )
        return _PYTHON, program.encode("utf-8", "surrogatepass")
    words = [word.encode("utf-8", "surrogateescape") for word in program]
    if runtime != "native":
        raise ConfigError(
            f'the runtime {runtime!r} runs Python sources; command lines need runtime = "native"'
        )
    if not words or any(b"\0" in word for word in words):
        raise ConfigError("a command line has at least one word, and no word contains NUL")
    return _NATIVE, b"\0".join(words)
