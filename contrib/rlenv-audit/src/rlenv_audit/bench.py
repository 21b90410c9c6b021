"""What probes share: the tasks of the audit, a target that is asked within a budget, and what it said before."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from rlenv.values import Task

from .golds import Golds
from .model import Reply
from .target.process import Pair, Target

__all__ = ["Bench", "OutOfBudget"]


class OutOfBudget(Exception):
    """The probe's share of the budget is spent."""


class Bench:
    """One audit's means.

    Args:
        target: what is asked.
        tasks: a sample of its tasks, drawn by the seed.
        deadline: of ``time.monotonic``, for all probes.
        right: known right responses by task id; else they are found from the answers.
        corpora: (name, build) of attacks that plugins know, ``build(task)`` returning a response or None.
        rewrites: (name, apply, keeps) that plugins know.
    """

    def __init__(
        self,
        target: Target,
        tasks: Sequence[Task],
        *,
        seed: int,
        deadline: float,
        right: Mapping[str, Sequence[str]],
        corpora: Sequence[tuple[str, Callable[[Task], Any]]],
        rewrites: Sequence[tuple[str, Callable[[Task, str], Any], bool]],
        archetypes: Sequence[str],
        pass_mark: float,
        full: bool,
    ) -> None:
        self.target = target
        self.tasks = tuple(tasks)
        self.seed = seed
        self.deadline = deadline
        self.corpora, self.rewrites = tuple(corpora), tuple(rewrites)
        self.archetypes = tuple(archetypes)
        self.pass_mark = pass_mark
        self.full = full
        self.until = deadline
        self._known: dict[tuple[str | None, str], Reply] = {}
        self.golds = Golds(self, right)

    def chance(self, *labels: object) -> random.Random:
        """Numbers for one purpose: the same for the same seed and labels."""
        return random.Random(f"{self.seed}/{labels!r}")  # noqa: S311 - no secret

    def left(self) -> float:
        """Seconds that the running probe may still take."""
        return min(self.until, self.deadline) - time.monotonic()

    def ask(self, pairs: Sequence[Pair]) -> list[Reply]:
        """What the target says of each; what it was asked before is not asked again.

        Raises:
            OutOfBudget: before the first pair that there is no time for.
        """
        fresh = list(
            {
                (task.id, text): (task, text)
                for task, text in pairs
                if (task.id, text) not in self._known
            }.values()
        )
        for start in range(0, len(fresh), 64):
            if self.left() <= 0:
                raise OutOfBudget
            part = fresh[start : start + 64]
            for (task, text), reply in zip(part, self.target.score(part, "many"), strict=True):
                self._known[task.id, text] = reply
        return [self._known[task.id, text] for task, text in pairs]

    def pays(self, reply: Reply) -> bool:
        """Whether this reply is a pass; NaN and numbers above 1 are none of that, but findings of their own."""
        return reply.reward is not None and reply.reward >= self.pass_mark

    def seen(self) -> Iterable[tuple[str | None, str, Reply]]:
        """Everything that the target was asked so far."""
        return ((task, text, reply) for (task, text), reply in self._known.items())
