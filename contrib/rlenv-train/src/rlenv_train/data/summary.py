"""What the commands print."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import click
from rlenv_cli.console import amount, console, ignore_broken_pipe, one_line, visible

from .choice import Selection
from .formats import Counts
from .index import Index

# tasks that a line names, and characters of each
NAMED = 3
WIDTH = 30


def torn(index: Index, path: Path) -> None:
    """Warn of a file that ends within a line, or before the last row of its run."""
    if index.incomplete:
        click.echo(f"rlenv: warning: {visible(str(path))}: {index.incomplete}", err=True)
    if index.torn:
        kept = amount(index.rows, "whole row")
        click.echo(
            f"rlenv: warning: {visible(str(path))}: the last line is torn, so the run did not end;"
            f" read {kept}. `rlenv score --resume` completes it",
            err=True,
        )


def show_export(form: str, index: Index, counts: Counts, out: Path) -> None:
    """What was written, and what was left out and why."""
    rows = amount(counts.written, "pair" if form == "dpo" else "row")
    _show(f"{form}: {rows} of {_total(index)}", _left(form, counts), counts.written, out)


def _left(form: str, counts: Counts) -> Iterator[str]:
    for noun, found in (("response", counts.responses), ("task", counts.tasks)):
        for reason, count in (+found).most_common():
            yield f"left out: {amount(count, noun)}: {reason}"
    if counts.tied and form == "dpo":
        yield f"tied: {amount(counts.tied, 'pair')}: other responses have the same reward"
    elif counts.tied:
        yield (
            f"no signal: {amount(counts.tied, 'task')}: all rewards equal, so every advantage is 0"
        )


def show_selection(index: Index, found: Selection, out: Path | None) -> None:
    """The mean of the best, ties, and what has no reward."""
    _show(f"best of {_total(index)}", _selected(index, found), len(found.best), out)


def _selected(index: Index, found: Selection) -> Iterator[str]:
    if found.mean is not None:
        yield f"mean reward of the best: {found.mean:.4f}"
    if found.tied:
        yield f"tied: {amount(found.tied, 'task')}: the first row was taken"
    if unscored := index.unscored.total():
        yield f"unscored: {amount(unscored, 'response')}"
    if found.nameless:
        yield f"no task: {amount(found.nameless, 'response')}"
    if found.unscored:
        named = ", ".join(one_line(task, WIDTH) for task in found.unscored[:NAMED])
        more = ", ..." if len(found.unscored) > NAMED else ""
        yield f"no reward: {amount(len(found.unscored), 'task')}: {named}{more}"


def _total(index: Index) -> str:
    return f"{amount(index.rows, 'response')} to {amount(len(index.tasks), 'task')}"


def _show(title: str, lines: Iterable[str], rows: int, out: Path | None) -> None:
    written = f"written to {visible(str(out))}" if rows else "nothing to write"
    with ignore_broken_pipe():
        shown = console()
        shown.print(title, soft_wrap=True)
        for line in lines:
            shown.print(f"  {line}", soft_wrap=True)
        if out is not None:
            shown.print(written, soft_wrap=True)
