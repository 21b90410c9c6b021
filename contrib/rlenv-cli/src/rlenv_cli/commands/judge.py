"""``rlenv judge``: judges compared with human labels (rlenv-plugin-judge)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click
from rlenv.environment import Environment
from rlenv.model.errors import InputError

from rlenv_cli import environments
from rlenv_cli.console import amount, console, ignore_broken_pipe, one_line, visible
from rlenv_cli.needed import plugin
from rlenv_cli.scores.items import Bad, Finder, Good
from rlenv_cli.scores.responses import rows, spooled, survey

__all__ = ["command"]

LEAST = 10


@click.group("judge")
def command() -> None:
    """Compare a judge with human labels."""


@command.command("calibrate")
@click.argument("env", metavar="ENV")
@click.argument("file", metavar="LABELS")
@click.option("--stage", default="", help="The judge stage, if the environment has several.")
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path),
    help='Write the calibration map, for calibration = "…" in env.toml.',
)
@click.option("--page", type=click.Path(path_type=Path), help="Write an HTML page with a plot.")
@click.option(
    "--mark",
    type=click.FloatRange(0, 1, min_open=True),
    default=0.5,
    show_default=True,
    help="A label of at least this counts as good.",
)
@click.option(
    "--style", is_flag=True, help="Subtract the effects of length and style before the map."
)
@click.option("--overwrite", is_flag=True, help="Replace existing files.")
@click.option("--json", "as_json", is_flag=True, help="Print all figures as JSON.")
@environments.set_option
def calibrate(  # noqa: PLR0917 - click names them
    env: str,
    file: str,
    stage: str,
    out: Path | None,
    page: Path | None,
    mark: float,
    style: bool,  # noqa: FBT001 - click's
    overwrite: bool,  # noqa: FBT001
    as_json: bool,  # noqa: FBT001
    settings: tuple[str, ...],
) -> None:
    """Compare the judge of ENV with human LABELS, and report how well they agree.

    LABELS is .jsonl, .json, .csv or .parquet; every row has "task" or "prompt", "response", and
    "label": a number from 0 to 1, or true or false.

    Exit status: 0 on success; 2 for an invalid file or argument; 3 if a response got no verdict.

    Example: rlenv judge calibrate env.toml labels.jsonl -o map.json --page map.html
    """
    for path in (out, page):
        if path is not None and path.exists() and not overwrite:
            raise InputError(f"{visible(str(path))}: exists; give another name, or --overwrite")
    labels = plugin("judge", "calibrating.labels")
    with environments.load(env, settings) as loaded:
        slot = labels.judge_slot(loaded, stage)
        graded = [
            labels.labeled(where, item.task, item.response, label, loaded.thinking)
            for where, item, label in _read(file, loaded)
        ]
        found = labels.judged(slot, graded, loaded.thinking)
        title = f"{one_line(loaded.name, 60)}: {slot.name}"
    if len(found.rows) < LEAST:
        raise InputError(
            f"{visible(file)}: {amount(len(found.rows), 'response')} with label and score; at least"
            f" {LEAST} are needed; {found.unscored} got no verdict {one_line(found.why, 200)}"
        )
    measured = plugin("judge", "calibrating.measure").measure(found, mark=mark, style=style)
    _write(measured, title, out, page, as_json=as_json)
    if found.unscored:
        click.echo(f"rlenv: {found.unscored} not scored: {one_line(found.why, 300)}", err=True)
        raise click.exceptions.Exit(3)


def _read(file: str, env: Environment) -> Iterator[tuple[str, Good, object]]:
    """Each row of a file as (what a message calls it, the task and response, the label).

    Raises:
        InputError: naming the file, the row and what is wrong with it.
    """
    with spooled(file) as (path, shown):
        survey(path, shown)
        find = Finder(env.tasks)
        for row, record in enumerate(rows(path, shown), 1):
            item = find.item(row, record)
            if isinstance(item, Bad):
                raise InputError(f"{shown}: row {row}: {item.problem}")
            yield f"{shown}: row {row}", item, record.get("label")


def _write(
    measured: Any, title: str, out: Path | None, page: Path | None, *, as_json: bool
) -> None:
    picture = plugin("judge", "calibrating.picture")
    data = {**measured.to_dict(), "stage": title}
    if out is not None:
        out.write_text(json.dumps(data, indent=1) + "\n", "utf-8")
    if page is not None:
        page.write_text(picture.page(title, measured), "utf-8")
    with ignore_broken_pipe():
        if as_json:
            print(json.dumps(data))
        else:
            _show(measured.figures, title)


def _show(figures: Mapping[str, Any], title: str) -> None:
    from rich.box import SIMPLE
    from rich.table import Table

    shown = plugin("judge", "calibrating.picture").shown
    table = Table(title=title, title_justify="left", box=SIMPLE, show_header=False)
    table.add_column()
    table.add_column(overflow="fold")
    for name, value in figures.items():
        if name != "slopes":
            table.add_row(name.replace("_", " "), shown(value))
    for name, found in figures["slopes"].items():
        table.add_row(f"slope of {name}", f"{shown(found['slope'])} {shown(found['interval'])}")
    console().print(table)
