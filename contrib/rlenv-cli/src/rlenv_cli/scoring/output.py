"""Where the scores go: what may be overwritten, what may be gone on with, and from which row."""

from __future__ import annotations

import os
from pathlib import Path

from attrs import frozen
from rlenv.model.errors import InputError

from rlenv_cli.console import amount, visible
from rlenv_cli.scores.chain import Chain
from rlenv_cli.scores.file import Header, ScoresReader, begins_as_scores, same
from rlenv_cli.scores.tally import Tally

from .durable import DurableFile

ANEW = "Give another name with -o, or --overwrite to start it anew"


@frozen
class Start:
    """Rows that the file already holds, the bytes of it to keep, and the chain of these rows."""

    done: int
    size: int
    chain: Chain


def refuse_inputs(out: Path, inputs: list[tuple[str, Path]]) -> None:
    """Raises InputError when ``out`` is a file that the run reads."""
    for what, path in inputs:
        if out.exists() and path.exists() and os.path.samefile(out, path):
            raise InputError(
                f"{visible(str(out))}: this is the file of {what}; give another name with -o"
            )


def check_folder(out: Path) -> None:
    """Raises InputError when there is no folder to write ``out`` in."""
    if not out.parent.is_dir():
        folder = visible(str(out.parent))
        raise InputError(f"{visible(str(out))}: the folder {folder} does not exist; make it")


def check_free(out: Path, *, resume: bool, overwrite: bool) -> None:
    """Fail early, before an environment is loaded, when ``out`` holds what must not be lost.

    Raises:
        InputError: when it holds rows and neither --resume nor --overwrite is given, or is
            something else.
    """
    if out.is_dir():
        raise InputError(f"{visible(str(out))}: this is a folder; give a file name with -o")
    if resume or not out.is_file() or out.stat().st_size == 0:
        return
    if overwrite and begins_as_scores(out):
        return  # whatever is damaged in it
    with ScoresReader(out) as reader:
        holds = reader.holds_rows()
    if holds:
        raise InputError(
            f"{visible(str(out))}: exists and holds scores; --resume goes on with it, "
            "--overwrite starts it anew, or give another name with -o"
        )


def start(
    out: DurableFile, header: Header, tally: Tally, splits: dict[str, str], *, resume: bool
) -> Start:
    """Count the rows of the locked file into ``tally``, and say where to go on.

    Args:
        splits: task id to split.

    Raises:
        InputError: when the file was made from something else, or is damaged.
    """
    if not resume or not out.regular or os.fstat(out.fd).st_size == 0:
        return Start(0, 0, header.chain())
    with ScoresReader(out.path) as reader:
        if reader.header is None:
            return Start(0, 0, header.chain())
        same(out.path, reader.header, header, ANEW)
        for row in reader.rows():
            task = row["task"]
            tally.add(row, None if task is None else splits.get(task))
        return Start(reader.count, reader.size, reader.chain)


def safe(path: Path, rows: int, *, same: bool = True) -> str:
    """What a run that ended early leaves, and how to go on; ``same``: the responses are what they
    were.
    """
    back = "" if same else ", where the responses are what they were,"
    return (
        f"{amount(rows, 'row')} safe in {visible(str(path))}; the same command with --resume{back}"
        " goes on from there"
    )
