"""One run of ``rlenv score``: begun or taken up, ended in order whatever ends it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from attrs import define, field
from rlenv.model.errors import RlenvError

from rlenv_cli.console import reason, visible
from rlenv_cli.mistakes import Mistake
from rlenv_cli.scores.chain import Chain
from rlenv_cli.scores.file import Header, ScoresReader, same
from rlenv_cli.scores.items import Bad, Changed, items
from rlenv_cli.scores.responses import Source
from rlenv_cli.scores.tally import Tally
from rlenv_cli.signals import Stopped, stoppable

from . import output, retry
from .durable import DurableFile
from .progress import progress
from .wishes import Wishes

if TYPE_CHECKING:
    from rlenv.environment import Environment


@define
class Run:
    """One run: what it reads, where it writes, and how far it is."""

    env: Environment
    source: Source
    out: DurableFile
    wishes: Wishes
    tally: Tally
    done: int = 0
    before: int = 0
    headed: bool = False
    chain: Chain = field(factory=lambda: Chain(b"", named=False))

    @property
    def safe(self) -> int:
        return self.before + max(0, self.out.lines - self.headed)

    def begin(self, header: Header) -> None:
        """Take the file up where it ends, or begin it."""
        if self.wishes.resume and self.out.regular:
            self._retry(header)
        else:
            retry.forget(self.out.path)
        if self.wishes.resume and self.out.regular:
            retry.extend(self.out, header)
        splits = {task.id: task.split for task in self.env.tasks if task.id is not None}
        begun = output.start(self.out, header, self.tally, splits, resume=self.wishes.resume)
        self.out.start_at(begun.size)
        self.done = self.before = begun.done
        self.chain = begun.chain
        if begun.size == 0:
            self.headed = True
            self.out.append(header.line())

    def _retry(self, header: Header) -> None:
        """Put in what an earlier retry left, then ask again what has no reward."""
        wishes = self.wishes
        shown = self.out.path
        with ScoresReader(shown) as reader:
            if reader.header is None:
                return
            same(shown, reader.header, header, output.ANEW)
        retry.absorb(self.out, header)
        if not wishes.retry:
            return
        most = self.source.count if wishes.limit is None else wishes.limit
        with ScoresReader(shown) as reader:
            unscored = frozenset(
                r["row"] for r in reader.rows() if r["reward"] is None and r["row"] <= most
            )
            self.before = reader.count
        if unscored:
            job = self.env, self.source, self.out, wishes
            retry.ask(*job, header=header, unscored=unscored, last=self.before)
            retry.absorb(self.out, header)

    def score(self) -> None:
        """Score what is left; every row is appended as soon as it and those before it are known."""
        from .lines import encoded, line, verdicts

        wishes = self.wishes
        tally = self.tally
        end = self.source.count if wishes.limit is None else min(wishes.limit, self.source.count)
        first = 1 if wishes.grouped else self.done + 1
        rows = items(self.source, self.env.tasks, first, end)
        found = verdicts(self.env, rows, wishes, self.done)
        with progress(end, self.done, quiet=wishes.quiet) as bar:
            for item, verdict in found:
                row = line(self.env, item, verdict)
                self.out.append(self.chain.link(encoded(row)))
                tally.add(row, item.split if isinstance(item, Bad) else item.task.split)
                self.done += 1
                bar.advance(self.done, tally.mean, tally.unscored)


def run(run_: Run, header: Header) -> None:
    """Score until the end; whatever ends it early, what was scored is on the disk and the message
    says so.

    Raises:
        Mistake: with the number of rows that are safe and how to go on.
    """
    with stoppable():
        try:
            run_.begin(header)
            _score(run_)
        except Stopped as stopped:
            message = f"interrupted; {output.safe(run_.out.path, run_.safe)}"
            raise Mistake(message, 128 + stopped.number) from None
        except OSError as error:
            if error is not run_.out.error:
                raise
            raise Mistake(_lost(run_, error)) from error


def _score(run_: Run) -> None:
    try:
        run_.score()
    except Exception as error:
        if error is run_.out.error:
            raise
        run_.out.close()
        safe = output.safe(run_.out.path, run_.safe, same=not isinstance(error, Changed))
        if isinstance(error, RlenvError):
            raise Mistake(f"{error}\n{safe}") from error
        print(f"rlenv: {safe}", file=sys.stderr)
        raise
    finally:
        run_.out.close()


def _lost(run_: Run, error: OSError) -> str:
    shown = visible(str(run_.out.path))
    if isinstance(error, FileNotFoundError):
        return f"{shown}: {reason(error)}, so its rows are lost; run the command again"
    return (
        f"{shown}: cannot be written: {reason(error)}. Make room or mend the disk:"
        f" {output.safe(run_.out.path, run_.safe)}"
    )
