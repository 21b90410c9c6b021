"""Output for a terminal: what a model wrote can neither steer the screen nor crash the writing.

A command of another distribution prints with `console()` and makes what others wrote harmless with
`visible` (any text), `one_line` (a part of a line) or `block` (several lines). `amount` and
`duration` are numbers for a reader.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING

from rlenv.model.messages import one_line, visible

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["amount", "block", "console", "duration", "ignore_broken_pipe", "one_line", "visible"]


NARROWEST = 40  # columns; below, a table holds nothing
NOBODY = 110  # columns where standard output is not a terminal and COLUMNS is not set


def typed(text: str) -> str:
    """What was typed, read as UTF-8 whatever the locale says; what is none stays as it came."""
    try:
        return os.fsencode(text).decode("utf-8")
    except UnicodeError:
        return text


def block(text: str, lines: int = 20, width: int = 2000) -> str:
    """The first lines of ``text`` made visible, and how much was left out.

    Args:
        lines: how many lines, at most.
        width: characters of one line, at most.
    """
    kept = text[: lines * width].splitlines()[:lines]
    shown = "\n".join(visible(line[:width]) for line in kept)
    left = len(text) - sum(len(line[:width]) + 1 for line in kept)
    return shown if left <= 0 else f"{shown}\n... {left} more characters"


def forgiving(stream: IO[str]) -> IO[str]:
    """Make ``stream`` write what its encoding lacks as a backslash escape."""
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="backslashreplace")
    return stream


def reopen_closed_streams() -> None:
    """Give what the caller closed (``2>&-``) a stream again, before a file of ours gets its
    number.
    """
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest free number
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - as long as the process


def is_terminal(stream: IO[str]) -> bool:
    try:
        return stream.isatty()
    except ValueError:  # closed
        return False


def console(*, stderr: bool = False) -> Console:
    """A ``rich`` console that takes text literally; plain where standard output is not a terminal.

    Args:
        stderr: write to standard error.
    """
    from rich.console import Console

    stream = forgiving(sys.stderr if stderr else sys.stdout)
    terminal = is_terminal(stream)
    shown = Console(
        file=stream,
        force_terminal=terminal,
        width=None if terminal or os.environ.get("COLUMNS") else NOBODY,
        markup=False,
        highlight=False,
        emoji=False,
    )
    shown.width = max(shown.width, NARROWEST)
    return shown


@contextmanager
def ignore_broken_pipe() -> Iterator[None]:
    """What is printed inside may be cut short by its reader (``rlenv … | head``); the command goes
    on.
    """
    try:
        yield
    except (BrokenPipeError, SystemExit):  # rich turns the one into the other
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def amount(n: int, noun: str) -> str:
    """``1 row``, ``1,204 rows``."""
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def duration(seconds: float) -> str:
    """Seconds for a reader: ``4.1 us``, ``0.31 ms``, ``2.4 s``, ``3 min 05 s``, ``2 h 07 min``."""
    if seconds < 0.0001:
        return f"{seconds * 1e6:.2g} us" if seconds else "0 s"
    if seconds < 0.9995:
        return f"{seconds * 1000:.3g} ms"
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    return f"{minutes // 60} h {minutes % 60:02d} min"


def reason(error: OSError) -> str:
    """What the system said, in words, without the path that it repeats."""
    return error.strerror or str(error)
