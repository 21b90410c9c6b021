"""``rlenv score``: score the responses of a file."""

from __future__ import annotations

import sys
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rlenv_cli import environments
from rlenv_cli.console import console, ignore_broken_pipe, visible
from rlenv_cli.mistakes import Mistake
from rlenv_cli.needed import executor
from rlenv_cli.scores import responses
from rlenv_cli.scores.file import Header
from rlenv_cli.scores.tally import Tally
from rlenv_cli.scoring.durable import DurableFile
from rlenv_cli.scoring.run import Run, run
from rlenv_cli.scoring.target import Target, target_options
from rlenv_cli.scoring.wishes import Wishes

if TYPE_CHECKING:
    from rlenv.environment import Environment


SHOWN_NAME = 1000  # characters; a header is one line that is read whole


@click.command("score")
@click.argument("env", metavar="ENV")
@click.argument("file", metavar="RESPONSES")
@target_options
@click.option(
    "--workers", type=click.IntRange(min=1), help="Worker processes; one per core by default."
)
@click.option("--on", metavar="NAME", help="Score on a cluster: ray, ray://HOST:PORT (rlenv-ray).")
@click.option("--isolate", is_flag=True, help="Run inline stages in workers too.")
@click.option(
    "--group",
    is_flag=True,
    help="Judge the responses to a task as a group; they must be consecutive rows of the file.",
)
@environments.set_option
@click.option("--limit", type=click.IntRange(min=0), help="Score only the first N rows.")
def command(
    *,
    env: str,
    file: str,
    target: Target,
    workers: int | None,
    on: str | None,
    isolate: bool,
    group: bool,
    settings: tuple[str, ...],
    limit: int | None,
) -> None:
    """Score the RESPONSES of a file with the environment ENV.

    ENV is a path to an env.toml or the name of an installed environment. RESPONSES is .jsonl, .json
    (one list), .csv or .parquet (also .gz), or - for JSON lines on standard input. Every row has
    "task" (an id) or "prompt", and "response" (a string or a list of messages). OUT gets one JSON
    line per response, in the same order.

    Exit status: 0 on success; 2 for an invalid file or argument, or a file without responses; 3 if
    more than --max-unscored responses have no score; 130 after Ctrl-C.

    Example: rlenv score env.toml responses.jsonl -o scores.jsonl
    """
    read = {"the environment": Path(env)} | ({} if file == "-" else {"the responses": Path(file)})
    target.check(["rlenv", "score", env, file], read)
    started = time.monotonic()
    with (
        executor(on, local=group or workers is not None) as elsewhere,
        environments.load(env, settings, isolate=isolate, quiet=target.quiet) as loaded,
        responses.spooled(file) as (path, shown),
    ):
        source = responses.survey(path, shown, grouped=group)
        if source.count == 0:
            raise Mistake(f"{source.shown} contains no responses, so nothing was scored")
        wishes = Wishes(
            workers=workers,
            grouped=group,
            limit=limit,
            resume=target.resume,
            retry=target.retry_unscored,
            quiet=target.quiet,
            on=elsewhere,
        )
        work = _scored(loaded, source, target, wishes)
    if not target.quiet:
        show(work.tally, loaded, target.out, time.monotonic() - started)
    elif work.tally.unscored:
        from rlenv_cli.scores.unscored import lines

        for line in lines(work.tally):
            click.echo(f"rlenv: {line}", err=True)
    if target.finish(work, "response"):
        raise click.exceptions.Exit(3)


def _scored(env: Environment, source: responses.Source, target: Target, wishes: Wishes) -> Run:
    planned = source.count if wishes.limit is None else min(wishes.limit, source.count)
    header = Header(
        env=env.name[:SHOWN_NAME],
        fingerprint=env.fingerprint,
        tasks_sha256=env.tasks.sha256,
        responses_sha256=source.sha256,
        responses=planned,
    )
    with closing(DurableFile(target.out)) as file:
        target.check_free()  # again: now nobody else writes it
        run(work := Run(env, source, file, wishes, Tally()), header)
    return work


def show(tally: Tally, env: Environment, out: Path, wall: float) -> None:
    """Print the summary of a run of ``wall`` seconds."""
    from rlenv_cli import summary

    with ignore_broken_pipe():
        summary.show(console(), tally, title=visible(env.name), pass_mark=env.pass_mark, wall=wall)
        print(f"written to {visible(str(out))}")
        sys.stdout.flush()
