"""A person's mistake becomes one screen of text and exit status 2; a bug keeps its traceback."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

import click
from rlenv.model.errors import RlenvError

from .console import forgiving, visible

MAX_LINES = 25
MAX_LINE = 600


class Mistake(click.ClickException):
    """What the person did, where, and what to do; ``status`` is the exit status."""

    def __init__(self, message: str, status: int = 2) -> None:
        super().__init__(message)
        vars(self)["exit_code"] = status

    def show(self, file: IO[Any] | None = None) -> None:
        stream = forgiving(sys.stderr if file is None else file)
        lines = [visible(line)[:MAX_LINE] for line in self.message.splitlines()]
        left = len(lines) - MAX_LINES
        if left > 0:
            lines[MAX_LINES:] = [f"... and {left:,} more lines"]
        print("rlenv: error: " + "\n".join(lines), file=stream)


@contextmanager
def one_screen() -> Iterator[None]:
    """Turn what rlenv and the system raise on purpose into a Mistake."""
    try:
        yield
    except RlenvError as error:
        raise Mistake(str(error)) from error
    except BrokenPipeError:
        raise  # whoever read our output has enough
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        raise Mistake(f"{place}{error.strerror or error}") from error
