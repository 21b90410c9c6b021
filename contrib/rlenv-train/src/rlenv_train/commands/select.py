"""``rlenv select``: the best response to each task, and a gate for CI."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import click
from rlenv import InputError
from rlenv_cli.console import amount, visible

from rlenv_train.data.choice import Selection, select, ties
from rlenv_train.data.environment import tasks_of
from rlenv_train.data.index import Index, indexed
from rlenv_train.data.output import check_free, replacing, write_lines
from rlenv_train.data.summary import show_selection, torn

PATH = click.Path(path_type=Path)
# exit statuses of the gate
BELOW = 1
OPEN = 3


@click.command("select")
@click.argument("scores", metavar="SCORES", type=PATH)
@click.option(
    "-o", "--out", type=PATH, help="Write the best responses to this file, as JSON lines."
)
@click.option(
    "--tasks",
    metavar="ENV",
    help="The environment of the run: tasks without any response count as unscored.",
)
@click.option(
    "--min-reward",
    type=click.FloatRange(0, 1),
    help="Exit with status 1 if the mean reward of the best responses is lower.",
)
@click.option(
    "--max-unscored",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="With --min-reward: exit with status 3 if more tasks than this have no reward.",
)
@click.option("--overwrite", is_flag=True, help="Replace the file if it exists.")
def command(
    *,
    scores: Path,
    out: Path | None,
    tasks: str | None,
    min_reward: float | None,
    max_unscored: int,
    overwrite: bool,
) -> None:
    """Select the best response to each task of SCORES, a file that `rlenv score -o` wrote.

    The best response is the one with the highest reward; of equal rewards, the first row. A row of
    the file has "task" and "response", so `rlenv score` reads it, and says how many other responses
    have the same reward (tied) and how many have none (unscored). With one response per task,
    --min-reward compares the mean reward.

    Exit status: 0 on success; 1 if the mean is below --min-reward; 2 for an invalid file or
    argument; 3 if, with
    --min-reward, tasks have no reward or the file is torn.

    Example: rlenv select scores.jsonl --min-reward 0.8 -o best.jsonl
    """
    if min_reward is not None and math.isnan(min_reward):
        raise click.UsageError("--min-reward is a number, not nan")
    if out is not None:
        check_free(out, scores, overwrite=overwrite)
    with indexed(scores) as index:
        torn(index, scores)
        if not index.rows:
            raise InputError(f"{visible(str(scores))}: contains no responses, so none is the best")
        found = select(index, tasks_of(tasks, index.header, scores))
        if out is not None:
            with replacing(out) as part:
                write_lines(part, _rows(index, found))
    show_selection(index, found, out)
    if min_reward is not None:
        _gate(found, min_reward, max_unscored, ends=not index.torn and not index.incomplete)


def _rows(index: Index, found: Selection) -> Iterator[dict[str, object]]:
    for task, best in found.best.items():
        row = index.row(best)
        yield {
            "task": task,
            "response": row.get("response"),
            "reward": best.reward,
            "passed": best.passed,
            "scored": len(index.tasks[task]),
            "tied": ties(index.tasks[task], best),
            "unscored": index.unscored[task],
            "provenance": {**index.header.source, "row": best.row},
        }


def _gate(found: Selection, least: float, most: int, *, ends: bool) -> None:
    """Ends the command with the status of the gate, and says why."""
    if not ends or found.undecided > most or found.mean is None:
        counted = f"tasks without reward: {found.undecided:,}, --max-unscored is {most:,}"
        why = counted if ends else "the file is torn, or rows are missing at its end"
        click.echo(f"rlenv: --min-reward {least:g} was not decided: {why}", err=True)
        raise click.exceptions.Exit(OPEN)
    said = f"mean reward {found.mean:.6g} of {amount(len(found.best), 'task')}"
    if found.undecided:
        said += f" ({found.undecided:,} without reward left out)"
    if not found.mean >= least:
        click.echo(f"rlenv: {said} is below --min-reward {least:g}", err=True)
        raise click.exceptions.Exit(BELOW)
    click.echo(f"rlenv: {said} reaches --min-reward {least:g}", err=True)
