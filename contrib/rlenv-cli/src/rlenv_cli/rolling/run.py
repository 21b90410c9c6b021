"""One run of ``rlenv rollout``: many rollouts at once, each on the disk as soon as it has its
verdict.
"""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import aclosing
from itertools import takewhile
from typing import Any

from attrs import define, field
from rlenv.model.errors import RlenvError
from rlenv.model.values import Task

from rlenv_cli.needed import plugin
from rlenv_cli.scores.file import Header
from rlenv_cli.scores.items import Good
from rlenv_cli.scores.tally import Tally
from rlenv_cli.scoring import output
from rlenv_cli.scoring.lines import encoded, line
from rlenv_cli.scoring.progress import Silent, progress
from rlenv_cli.scoring.run import Run

from .policies import Chosen, PolicyFailed, told
from .wanted import Wanted, drop_unscored, held, same_policy

HOPELESS = 20  # rollouts that fail in a row, beyond those that run at once: no others are begun


@define(kw_only=True)
class Rolling(Run):
    """One run, which begins, and ends early, as one of ``rlenv score`` does.

    Args:
        policy: who plays.
        tasks: what is played.
        samples: rollouts of each task.
        concurrent: how many run at once.
        seed: of the run.
        failed: rollouts without a row, by who failed (policy or environment) and why.
    """

    policy: Chosen
    tasks: Sequence[Task]
    samples: int
    concurrent: int
    seed: int
    failed: Counter[tuple[str, str]] = field(factory=Counter)
    in_a_row: int = 0

    @property
    def hopeless(self) -> bool:
        """Whether rollouts only fail."""
        return self.in_a_row >= self.concurrent + HOPELESS

    def begin(self, header: Header) -> None:
        """Take the file up where it ends, or begin it.

        Raises:
            RlenvError: when its rollouts are of something else, or it is damaged.
        """
        resume = self.wishes.resume and self.out.regular and os.fstat(self.out.fd).st_size > 0
        if resume:
            same_policy(self.out.path, header)
            output.start(self.out, header, Tally(), {}, resume=True)  # it can be gone on with
        if resume and self.wishes.retry:
            drop_unscored(self.out)
        Run.begin(self, header)

    def _retry(self, header: Header) -> None:
        """Rollouts have no lines that wait beside the file."""

    def score(self) -> None:
        """Play what is missing."""
        every = (Wanted(task, sample) for task in self.tasks for sample in range(self.samples))
        kept = held(self.out.path) if self.before else set()
        todo = [each for each in every if (each.task.id, each.sample) not in kept]
        with progress(len(kept) + len(todo), len(kept), quiet=self.wishes.quiet) as bar:
            asyncio.run(self._play(todo, bar))

    async def _play(self, todo: Iterable[Wanted], bar: Silent) -> None:
        """Play what is wanted, so many at once; a rollout that the policy fails has no row."""
        begun = takewhile(lambda _: not self.hopeless, todo)
        work = plugin("agent", "rollouts").as_completed(
            ((each, self._one(each)) for each in begun), self.concurrent
        )
        async with aclosing(work) as ended:
            async for wanted, job in ended:
                self._record(wanted, job)
                bar.advance(self.tally.rows, self.tally.mean, self.tally.unscored)

    async def _one(self, wanted: Wanted) -> Any:
        seed = wanted.seed(self.seed)
        arollout = plugin("agent", "rollouts").arollout
        sampling = getattr(self.env.tables.get("config"), "sampling", {})
        return await arollout(self.env, wanted.task, self.policy.make(seed, sampling), seed)

    def _record(self, wanted: Wanted, job: asyncio.Task[Any]) -> None:
        try:
            rollout = job.result()
        except RlenvError:
            raise
        except Exception as error:  # noqa: BLE001 - of one rollout, whose policy wrote it
            failed = isinstance(error, (PolicyFailed, plugin("agent", "messages").ActionError))
            why = ("policy", str(error)) if failed else ("environment", told(error))
            self.failed[why] += 1
            self.in_a_row += 1
            return
        self.in_a_row = 0
        row = self._row(wanted, rollout)
        self.out.append(self.chain.link(encoded(row)))
        self.tally.add(row, wanted.task.split)

    def _row(self, wanted: Wanted, rollout: Any) -> Any:
        task = wanted.task
        made = rollout.trajectory
        trace = rollout.trace
        item = Good(self.tally.rows + 1, task.id, list(made.messages), task, made)
        told = all(turn.exact for turn in trace)
        exact = told and all(each.exact for each in made.tokens)
        calls = plugin("agent", "rollouts.records").tokens_rows(made.tokens) if told else []
        tokens = {"sampled": sum(turn.tokens for turn in trace), "exact": exact, "calls": calls}
        return {
            **line(self.env, item, rollout.verdict),
            "sample": wanted.sample,
            "seed": rollout.seed,
            "start": rollout.start,
            "stop": rollout.stop,
            "turns": len(trace),
            "tokens": tokens,
            "seconds": round(rollout.seconds, 6),
            "fingerprint": rollout.verdict.fingerprint,
        }
