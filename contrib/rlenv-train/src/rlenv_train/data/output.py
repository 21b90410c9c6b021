"""Files of training data: whole or not there, and never in the place of something else."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rlenv import InputError
from rlenv.model.record import dumps
from rlenv_cli.console import visible


def check_free(out: Path, source: Path, *, overwrite: bool) -> None:
    """Raises InputError when ``out`` cannot be written, or holds what would be lost."""
    shown = visible(str(out))
    if not out.parent.is_dir():
        raise InputError(f"{shown}: the folder {visible(str(out.parent))} does not exist; make it")
    if not out.exists():
        return
    if not out.is_file():
        raise InputError(f"{shown}: this is not a regular file; give a file name with -o")
    if source.exists() and os.path.samefile(out, source):
        raise InputError(f"{shown}: this is the score file; give another name with -o")
    if not overwrite:
        raise InputError(f"{shown}: exists; --overwrite replaces it, or give another name with -o")


@contextmanager
def replacing(out: Path) -> Iterator[Path]:
    """A file next to ``out`` that takes its place when all went well, and is removed otherwise;
    without one nothing changes.
    """
    target = Path(os.path.realpath(out))
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        yield part
        if part.exists():
            os.replace(part, target)
    finally:
        part.unlink(missing_ok=True)


def write_lines(path: Path, rows: Iterable[object]) -> None:
    """JSON lines in ASCII."""
    with path.open("w", encoding="ascii") as file:
        for row in rows:
            file.write(dumps(row) + "\n")
