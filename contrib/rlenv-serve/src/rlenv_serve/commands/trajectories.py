"""``rlenv trajectories``."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import click
from rlenv import InputError
from rlenv_cli.console import amount, console, one_line

from rlenv_serve.trajectories.queries import Row, compare, export, profile, select
from rlenv_serve.trajectories.store import TrajectoryStore


@click.command("trajectories")
@click.argument("what", metavar="WHAT")
@click.argument("rest", metavar="[ARGS]...", nargs=-1)
@click.option(
    "--from",
    "url",
    required=True,
    metavar="URL",
    help="The store, as of `rlenv serve --trajectories`: sqlite:PATH or postgresql://...",
)
@click.option(
    "--pass-mark",
    type=click.FloatRange(0, 1),
    default=1.0,
    show_default=True,
    help="For profile: a reward at or above it passes.",
)
def command(*, what: str, rest: tuple[str, ...], url: str, pass_mark: float) -> None:
    """Ask about the episodes that `rlenv serve` has kept.

    WHAT is a query of SQL over the table trajectories, or one of: profile (means of turns, calls,
    tools, tokens and seconds by pass and fail), compare A B (two trajectories by id), export
    FILE.parquet.

    Exit status: 0 on success; 2 for an invalid query, argument or store.

    Example: rlenv trajectories "select task, avg(reward) from trajectories group by task" --from
    sqlite:trajectories.sqlite
    """
    path = url.removeprefix("sqlite:")
    if path != url and not Path(path).exists():
        raise InputError(
            f"{path}: there is no such file; `rlenv serve --trajectories {one_line(url)}` makes one"
        )
    store = TrajectoryStore(url)
    asyncio.run(store.open())
    match what, rest:
        case "profile", ():
            _show(*profile(store.scan(), pass_mark))
        case "compare", (first, second):
            found = [asyncio.run(store.find(each, None)) for each in (first, second)]
            if None in found:
                raise InputError(
                    f"there is no trajectory {rest[found.index(None)]!r:.80}; a query lists the ids"
                    " that there are"
                )
            _show(*compare(*found))  # type: ignore[arg-type] # both are there
        case "export", (target,):
            click.echo(f"{amount(export(store.scan(), Path(target)), 'row')} in {target}")
        case query, () if " " in query:
            _show(*select(store.scan(), query))
        case _:
            raise click.UsageError(
                'write "select ...", profile, compare A B, or export FILE.parquet'
            )


def _show(names: Sequence[str], rows: Sequence[Row]) -> None:
    from rich.table import Table

    shown = Table(*names, box=None, pad_edge=False)
    for row in rows:
        shown.add_row(
            *(
                (
                    ""
                    if each is None
                    else one_line(f"{each:.6g}" if isinstance(each, float) else str(each), 200)
                )
                for each in row
            )
        )
    console().print(shown)
