"""``-o`` and what goes with it: the options that `rlenv score` and `rlenv rollout` share."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import Any

import click
from attrs import frozen

from rlenv_cli.commands import report as reporting
from rlenv_cli.console import amount, visible

from . import output
from .run import Run


@frozen
class Target:
    """Where a run writes.

    Args:
        out: the file.
        resume: continue it.
        retry_unscored: and do again what has no reward there.
        overwrite: replace it.
        max_unscored: how many may have no reward.
        report: where the HTML report goes.
        quiet: show no progress and no summary.
    """

    out: Path
    resume: bool
    retry_unscored: bool
    overwrite: bool
    max_unscored: int
    report: Path | None
    quiet: bool

    def check(self, command: Sequence[str], read: Mapping[str, Path]) -> None:
        """Fail before anything is loaded.

        Args:
            command: as it was typed, without its options.
            read: the files that it reads, by what they are.

        Raises:
            click.UsageError: for options that do not go together.
            Mistake: the file cannot be written, or is one of those that are read.
        """
        if self.resume and self.overwrite:
            raise click.UsageError("--resume continues OUT and --overwrite replaces it: use one")
        if self.retry_unscored and not self.resume:
            again = visible(shlex.join([*command, "-o", str(self.out)]))
            raise click.UsageError(
                f"--retry-unscored needs --resume: `{again} --resume --retry-unscored`"
            )
        if str(self.out) == "-":
            raise click.UsageError("-o needs a file name, so that the run can be resumed")
        output.check_folder(self.out)
        output.refuse_inputs(self.out, [*read.items()])
        self.check_free()
        if self.report is not None:
            reporting.check(self.report, [self.out, *read.values()])

    def check_free(self) -> None:
        """Raises Mistake where the file is there, and nothing said what becomes of it."""
        output.check_free(self.out, resume=self.resume, overwrite=self.overwrite)

    def finish(self, work: Run, what: str) -> bool:
        """Write the report; says, and returns, whether too many have no reward.

        Args:
            work: the run.
            what: was scored, as ``response``.
        """
        if self.report is not None and work.tally.rows:
            reporting.of_run(self.out, self.report, work.env, quiet=self.quiet)
        if too_many := work.tally.unscored > self.max_unscored:
            click.echo(
                f"rlenv: {amount(work.tally.unscored, what)} without score, --max-unscored is"
                f" {self.max_unscored:,}",
                err=True,
            )
        return too_many


OPTIONS = (
    click.option(
        "-o",
        "--out",
        required=True,
        type=click.Path(path_type=Path),
        help="The score file to write.",
    ),
    click.option("--resume", is_flag=True, help="Continue OUT: do what it lacks."),
    click.option(
        "--retry-unscored",
        is_flag=True,
        help="With --resume: do again what has no reward in OUT, and replace its lines.",
    ),
    click.option("--overwrite", is_flag=True, help="Replace OUT if it exists."),
    click.option(
        "--max-unscored",
        type=click.IntRange(min=0),
        default=0,
        show_default=True,
        help="Exit with status 3 if more rows than this have no reward.",
    ),
    click.option(
        "--report",
        type=click.Path(path_type=Path),
        help="Also write an HTML report to this file, as `rlenv report` does.",
    ),
    click.option("--quiet", is_flag=True, help="Show no progress and no summary."),
)


def target_options(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command these options, which it takes as one ``target``."""

    @wraps(function)
    def command(**given: Any) -> None:
        made = Target(**{name: given.pop(name) for name in Target.__annotations__})
        function(target=made, **given)

    for option in reversed(OPTIONS):
        command = option(command)
    return command
