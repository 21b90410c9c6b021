"""START: what the trusted side says to the child that waits.  `guest/child.py` reads it."""

from __future__ import annotations

import os
import struct
from collections.abc import Mapping, Sequence

from rlenv import ConfigError

from rlenv_plugin_sandbox.files import checked
from rlenv_plugin_sandbox.trees import Node, encode

__all__ = ["memory_file", "message"]

_HEADER = struct.Struct("<BBddI")
_INLINE = 60_000
_PYTHON, _NATIVE = 0, 1
_STDIN, _PAYLOAD, _BUSY = 1, 2, 4


def message(
    program: str | Sequence[str],
    files: Mapping[str, bytes | tuple[bytes, int]],
    runtime: str,
    cpu: float,
    tree: bytes = b"",
    *,
    has_stdin: bool,
    busy: bool = False,
) -> tuple[bytes, bytes]:
    """(what goes with the message, what goes in a file of its own because of its size).

    ``tree`` is the content of a workspace, as entries.  ``busy`` says that other places work too: the child
    after this one then readies itself at less cost.

    Raises:
        ConfigError: a file's name leads out of the working directory, or the program has no such form.
    """
    kind, text = _program(program, runtime)
    named = {name: Node(mode, content) for name, content, mode in checked(files)}
    body = text + encode(named) + tree
    inline = len(body) <= _INLINE
    given = (_STDIN if has_stdin else 0) | (0 if inline else _PAYLOAD) | (_BUSY if busy else 0)
    header = _HEADER.pack(kind, given, cpu, 0.0, len(text))
    return (header + body, b"") if inline else (header, body)


def memory_file(content: bytes) -> int:
    """A descriptor of a file in memory with this content, at its beginning."""
    fd = os.memfd_create("rlenv")
    with open(fd, "wb", closefd=False) as file:
        file.write(content)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def _program(program: str | Sequence[str], runtime: str) -> tuple[int, bytes]:
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
