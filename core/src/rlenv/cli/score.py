"""``rlenv score``: every response of a file gets its reward."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

import click
from attrs import define, frozen

from rlenv.errors import RlenvError

from . import environments, output, responses
from .durable import DurableFile, reason
from .mistakes import Mistake
from .progress import progress
from .scores_file import Header
from .tally import Tally
from .text import console, unread_is_no_failure, visible

if TYPE_CHECKING:
    from rlenv.environment import Environment


@frozen
class Wishes:
    """The options that shape a run."""

    workers: int | None
    grouped: bool
    limit: int | None
    resume: bool
    quiet: bool


@define
class Run:
    """One run: what it reads, where it writes, and how far it is."""

    env: Environment
    source: responses.Source
    out: DurableFile
    wishes: Wishes
    tally: Tally
    done: int = 0
    before: int = 0
    headed: bool = False

    @property
    def safe(self) -> int:
        return self.before + max(0, self.out.lines - self.headed)

    def begin(self, header: Header) -> None:
        """Take the file up where it ends, or begin it."""
        splits = {task.id: task.split for task in self.env.tasks if task.id is not None}
        begun = output.start(self.out, header, self.tally, splits, resume=self.wishes.resume)
        self.out.start_at(begun.size)
        self.done = self.before = begun.done
        if begun.size == 0:
            self.headed = True
            self.out.append(header.line())

    def score(self) -> None:
        """Score what is left; every row is appended as soon as it and those before it are known."""
        from .scoring import encoded, line, verdicts

        wishes, tally = self.wishes, self.tally
        end = self.source.count if wishes.limit is None else min(wishes.limit, self.source.count)
        first = 1 if wishes.grouped else self.done + 1
        rows = responses.items(self.source, self.env.tasks, first, end)
        found = verdicts(
            self.env, rows, workers=wishes.workers, grouped=wishes.grouped, done=self.done
        )
        with progress(end, self.done, quiet=wishes.quiet) as bar:
            for item, verdict in found:
                row = line(self.env, item, verdict)
                self.out.append(encoded(row))
                tally.add(row, item.split if isinstance(item, responses.Bad) else item.task.split)
                self.done += 1
                bar.advance(self.done, tally.mean, tally.unscored)


class Stopped(KeyboardInterrupt):
    """A signal asked the run to end."""

    def __init__(self, number: int) -> None:
        self.number = number
        super().__init__()


@contextmanager
def stoppable() -> Iterator[None]:
    """SIGINT, SIGTERM and SIGHUP end the run in order; a second one ends it at once."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    old = {n: signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}

    def stop(number: int, _: FrameType | None) -> None:
        for n in old:
            signal.signal(n, signal.SIG_DFL)
        raise Stopped(number)

    for n, handler in old.items():
        if handler is not signal.SIG_IGN:
            signal.signal(n, stop)
    try:
        yield
    finally:
        for n, handler in old.items():
            signal.signal(n, handler)


def run(run_: Run, header: Header) -> None:
    """Score until the end; whatever ends it early, what was scored is on the disk and the message says so.

    Raises:
        Mistake: with the number of rows that are safe and how to go on.
    """
    with stoppable():
        try:
            run_.begin(header)
            try:
                run_.score()
            except RlenvError as error:
                run_.out.close()
                safe = output.safe(run_.out.path, run_.safe)
                raise Mistake(f"{error}\n{safe}") from error
            finally:
                run_.out.close()
        except Stopped as stopped:
            message = f"interrupted; {output.safe(run_.out.path, run_.safe)}"
            raise Mistake(message, 128 + stopped.number) from None
        except OSError as error:
            raise Mistake(_lost(run_, error)) from error


def _lost(run_: Run, error: OSError) -> str:
    shown = visible(str(run_.out.path))
    if isinstance(error, FileNotFoundError):
        return f"{shown}: {reason(error)}, so its rows are lost; run the command again"
    return f"{shown}: cannot be written: {reason(error)}. Make room or mend the disk: {output.safe(run_.out.path, run_.safe)}"


@click.command("score")
@click.argument("env", metavar="ENV")
@click.argument("file", metavar="RESPONSES")
@click.option(
    "-o",
    "--out",
    required=True,
    type=click.Path(path_type=Path),
    help="The file of scores to write.",
)
@click.option(
    "--workers", type=click.IntRange(min=1), help="Worker processes; one per core by default."
)
@click.option("--resume", is_flag=True, help="Go on with OUT where an earlier run ended.")
@click.option("--overwrite", is_flag=True, help="Start OUT anew when it exists.")
@click.option("--isolate", is_flag=True, help="Run inline stages in workers too.")
@click.option(
    "--group",
    is_flag=True,
    help="Judge the responses to one task together; they stand together in the file.",
)
@click.option(
    "--max-unscored",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="More rows without a reward than this end with status 3.",
)
@environments.set_option
@click.option("--limit", type=click.IntRange(min=0), help="Score only the first so many rows.")
@click.option("--quiet", is_flag=True, help="No progress and no summary.")
def command(
    *,
    env: str,
    file: str,
    out: Path,
    workers: int | None,
    resume: bool,
    overwrite: bool,
    isolate: bool,
    group: bool,
    max_unscored: int,
    settings: tuple[str, ...],
    limit: int | None,
    quiet: bool,
) -> None:
    """Score the RESPONSES of a file with the environment ENV.

    ENV is a path to an env.toml or the name of an installed environment. RESPONSES is .jsonl, .csv or
    .parquet (also .gz), or - for JSON lines on standard input; every row has "task" (an id) or "prompt",
    and "response" (a text or a list of messages).

    OUT gets one JSON line per response, in order. Exit status: 0; 2 for a mistake; 3 when more than
    --max-unscored responses could not be scored; 130 after Ctrl-C.

    Example: rlenv score env.toml responses.jsonl -o scores.jsonl
    """
    if resume and overwrite:
        raise click.UsageError("--resume goes on and --overwrite starts anew: give one of them")
    if str(out) == "-":
        raise click.UsageError("-o needs the name of a file, so that a run can be resumed")
    read = [
        ("the environment", Path(env)),
        *([] if file == "-" else [("the responses", Path(file))]),
    ]
    output.refuse_inputs(out, read)
    output.check_free(out, resume=resume, overwrite=overwrite)
    started = time.monotonic()
    wishes = Wishes(workers, group, limit, resume, quiet)
    with (
        environments.load(env, settings, isolate=isolate) as loaded,
        responses.spooled(file) as (path, shown),
    ):
        source = responses.survey(path, shown, grouped=group)
        tally = _scored(loaded, source, out, wishes, overwrite=overwrite)
    if not quiet:
        _show(tally, loaded, time.monotonic() - started)
    if tally.unscored > max_unscored:
        raise click.exceptions.Exit(3)


def _scored(
    env: Environment, source: responses.Source, out: Path, wishes: Wishes, *, overwrite: bool
) -> Tally:
    file = DurableFile(out)
    try:
        output.check_free(
            out, resume=wishes.resume, overwrite=overwrite
        )  # again: now nobody else writes it
        header = Header(env.name, env.fingerprint, env.tasks.sha256, source.sha256)
        work = Run(env, source, file, wishes, Tally())
        run(work, header)
    finally:
        file.close()
    return work.tally


def _show(tally: Tally, env: Environment, wall: float) -> None:
    from .summary import show

    with unread_is_no_failure():
        show(console(), tally, title=visible(env.name), pass_mark=env.pass_mark, wall=wall)
        sys.stdout.flush()
