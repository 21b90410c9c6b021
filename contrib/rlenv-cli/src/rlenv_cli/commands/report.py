"""``rlenv report``: scores as one HTML file that can be sent around."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rlenv.model.errors import RlenvError

from rlenv_cli import environments
from rlenv_cli.console import amount, ignore_broken_pipe, visible
from rlenv_cli.mistakes import Mistake

if TYPE_CHECKING:
    from rlenv.environment import Environment

    from rlenv_cli.report import Known


@click.command("report")
@click.argument("scores", metavar="OUT [OTHER]", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--out",
    default="report.html",
    show_default=True,
    type=click.Path(path_type=Path),
    help="The report to write. An existing report is replaced; other files are not.",
)
@click.option(
    "--tasks",
    metavar="ENV",
    help=(
        "The environment of the run (env.toml or an installed name): adds splits, prompts and"
        " sections of plugins."
    ),
)
@environments.set_option
@click.option(
    "--public", is_flag=True, help="Leave out what only the operator may see, such as answers."
)
@click.option("--quiet", is_flag=True, help="Print nothing on success.")
def command(
    *,
    scores: tuple[Path, ...],
    out: Path,
    tasks: str | None,
    settings: tuple[str, ...],
    public: bool,
    quiet: bool,
) -> None:
    """Write an HTML report of a score file, or compare two score files.

    OUT is a file written by `rlenv score -o`. The report is one HTML file that needs no network. It
    shows rewards, pass rate, stages, unscored and slow responses, and the calculation of each
    reward. With a second file, it shows what changed from the first to the second, and for which
    tasks.

    Exit status: 0 on success; 2 for an invalid file or argument.

    Example: rlenv report scores.jsonl -o report.html
    """
    if len(scores) not in (1, 2):
        raise click.UsageError("expected one score file, or two to compare")
    if settings and tasks is None:
        raise click.UsageError(
            "--set changes an option of the environment of --tasks, so --tasks is needed too"
        )
    make(list(scores), out, _known(tasks, settings, public=public), public=public, quiet=quiet)


def _known(tasks: str | None, settings: tuple[str, ...], *, public: bool) -> Known | None:
    if tasks is None:
        return None
    from rlenv_cli.report import known_from

    with environments.load(tasks, settings) as env:
        return known_from(env, public=public)


def check(out: Path, inputs: list[Path]) -> None:
    """Fail before anything is scored when the report could not be written; see ``check_free``."""
    from rlenv_cli.report import check_free

    check_free(out, inputs)


def of_run(scores: Path, out: Path, env: Environment, *, quiet: bool) -> None:
    """The report of a run that has just ended; should it fail, the scores are safe and the message
    says so.
    """
    from rlenv_cli.report import known_from

    try:
        make([scores], out, known_from(env), quiet=quiet)
    except RlenvError as error:
        again = f"rlenv report {visible(str(scores))} -o {visible(str(out))}"
        raise Mistake(f"{error}\nthe scores are safe; `{again}` makes the report") from error


def make(
    scores: list[Path], out: Path, known: Known | None, *, public: bool = False, quiet: bool = False
) -> None:
    """Write the report of these files and say where it is.

    Raises:
        RlenvError: for a file that is not a file of scores, or a report that cannot be written.
    """
    from rlenv_cli.report import check_free, gather, write

    check_free(out, scores)
    runs = [gather(path, known) for path in scores]
    size = write(out, runs, public=public)
    for run in runs:
        if run.torn:
            print(f"rlenv: warning: {run.shown}: a torn last line was left out", file=sys.stderr)
        if run.incomplete:
            print(f"rlenv: warning: {run.shown}: {run.incomplete}", file=sys.stderr)
    if not quiet:
        rows = amount(sum(run.tally.rows for run in runs), "row")
        with ignore_broken_pipe():
            print(f"report of {rows} written to {visible(str(out))} ({size / 1e6:.1f} MB)")
            sys.stdout.flush()
