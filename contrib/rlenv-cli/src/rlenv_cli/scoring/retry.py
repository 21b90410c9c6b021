"""``--retry-unscored``: rows without a reward are asked again, and their lines replaced.

The new lines go to a file beside OUT, ``OUT.retry``, as durably as scores do.  Once all are there,
OUT is written anew with them under another name, which then replaces it in one step.  So whatever
kills the run, OUT is whole; and what was asked again is in OUT, or beside it, and the next
``--resume`` puts it in.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from attrs import evolve
from rlenv.model.errors import InputError

from rlenv_cli.console import amount, reason, visible
from rlenv_cli.scores.chain import Chain, unlinked
from rlenv_cli.scores.file import Header, ScoresReader, same
from rlenv_cli.scores.items import Item, items
from rlenv_cli.scores.tally import Tally

from .durable import DurableFile
from .lines import encoded, line, verdicts
from .progress import progress

if TYPE_CHECKING:
    from rlenv.environment import Environment

    from rlenv_cli.scores.responses import Source

    from .wishes import Wishes


def beside(out: Path) -> Path:
    """Where the new lines wait; a link to a file of scores stays a link."""
    return Path(os.path.realpath(out) + ".retry")


def forget(out: Path) -> None:
    """Remove what an earlier retry left, when OUT begins anew; a file that is something else
    stays.
    """
    with suppress(InputError), ScoresReader(beside(out), sparse=True):
        beside(out).unlink()


def absorb(out: DurableFile, header: Header) -> None:
    """Put what a retry left into OUT.

    Raises:
        InputError: when it is of other scores, or OUT cannot be written anew.
    """
    log = beside(out.path)
    if not log.exists():
        return
    with ScoresReader(log, sparse=True) as reader:
        if reader.header is not None:
            same(
                log,
                reader.header,
                header,
                "Remove it, so that --retry-unscored asks those rows again",
            )
            numbers = [row["row"] for row in reader.rows()]
            if numbers:
                _check_rows(out.path)  # before they are chained anew
                _replace_lines(out, log, numbers)
    log.unlink()


def extend(out: DurableFile, header: Header) -> None:
    """Write the header of OUT anew where more rows are planned now, as with a larger --limit.

    Raises:
        InputError: when OUT is damaged or cannot be written anew.
    """
    with ScoresReader(out.path) as reader:
        found = reader.header
    if found is None or found.responses is None or not header.lacks(found.responses):
        return
    same(out.path, found, header, "Give another name with -o, or --overwrite to start it anew")
    _check_rows(out.path)
    fresh = Path(f"{beside(out.path)}.new")
    try:
        with out.path.open("rb") as old, fresh.open("wb") as target:
            old.readline()
            first = evolve(found, responses=header.responses).line()
            _write_chained(target, first, old)
        _put_in_place(out, fresh)
    except OSError as error:
        fresh.unlink(missing_ok=True)
        shown = visible(str(out.path))
        raise InputError(
            f"{shown}: cannot be written anew: {reason(error)}. It is as it was; make room, and run"
            " the same command again"
        ) from None


def _check_rows(path: Path) -> None:
    with ScoresReader(path) as reader:
        for _ in reader.rows():
            pass


def _replace_lines(out: DurableFile, log: Path, numbers: list[int]) -> None:
    fresh = Path(f"{log}.new")
    try:
        with out.path.open("rb") as old, log.open("rb") as new, fresh.open("wb") as target:
            new.readline()
            _write_chained(target, old.readline(), _replaced(old, new, numbers))
        _put_in_place(out, fresh)
    except OSError as error:
        fresh.unlink(missing_ok=True)
        raise InputError(
            f"{visible(str(out.path))}: cannot be written anew: {reason(error)}. Nothing is lost: "
            f"{amount(len(numbers), 'new row')} wait in {visible(str(log))}; "
            "make room, and the same command puts them in"
        ) from None


def _replaced(old: BinaryIO, new: BinaryIO, numbers: list[int]) -> Iterator[bytes]:
    """The lines of one file, of which those with these numbers are the next of the other one."""
    waiting = iter(numbers)
    wanted = next(waiting)
    for number, kept in enumerate(old, 1):
        if number == wanted:
            yield new.readline()
            wanted = next(waiting, 0)
        else:
            yield kept


def _write_chained(target: BinaryIO, first: bytes, lines: Iterable[bytes]) -> None:
    target.write(first)
    chain = Chain(first, named=True)
    for each in lines:
        target.write(chain.link(unlinked(each)) if each.endswith(b"\n") else each)
    target.flush()
    os.fsync(target.fileno())


def _put_in_place(out: DurableFile, fresh: Path) -> None:
    shutil.copymode(out.path, fresh)
    out.replace(fresh)


def ask(
    env: Environment,
    source: Source,
    out: DurableFile,
    wishes: Wishes,
    *,
    header: Header,
    unscored: frozenset[int],
    last: int,
) -> None:
    """Ask these rows again, with ``--group`` all of their groups, and write what they get beside
    OUT.

    Args:
        last: the last row that OUT holds.
    """
    log = DurableFile(beside(out.path))
    try:
        log.start_at(0)
        log.append(header.line())
        chain = header.chain()
        rows = items(source, env.tasks, 1, source.count if wishes.grouped else last)
        if wishes.grouped:
            chosen = _groups_of(rows, unscored)
        else:
            chosen = (item for item in rows if item.row in unscored)
        got = Tally()
        with progress(len(unscored), 0, quiet=wishes.quiet) as bar:
            for item, verdict in verdicts(env, chosen, wishes):
                row = line(env, item, verdict)
                if item.row <= last:
                    log.append(chain.link(encoded(row)))
                if item.row in unscored:
                    got.add(row, None)
                    bar.advance(got.rows, got.mean, got.unscored)
        log.close()
    except OSError as error:
        if error is not log.error:
            raise
        raise InputError(
            f"{visible(str(log.path))}: cannot be written: {reason(error)}. "
            f"{visible(str(out.path))} is as it was; make room and run the same command again"
        ) from None
    finally:
        with suppress(OSError):  # what could not be written was told above, or matters less
            log.close()
    if not wishes.quiet:
        said = f"{got.scored:,} now have a reward, {got.unscored:,} are still unscored"
        print(f"asked again: {amount(got.rows, 'row')}; {said}", file=sys.stderr)


def _groups_of(rows: Iterable[Item], unscored: frozenset[int]) -> Iterator[Item]:
    for _, members in groupby(rows, key=lambda item: item.name):
        group = list(members)
        if any(item.row in unscored for item in group):
            yield from group
