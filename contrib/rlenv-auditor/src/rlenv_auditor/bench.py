"""What probes share: the tasks of the audit, a target that is asked within a budget, and what it
said before.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from rlenv.model.values import Task

from .golds import Golds
from .model import Reply
from .target.process import OutOfBudget, Pair, Target

__all__ = ["Bench", "OutOfBudget"]


class Bench:
    """One audit's means.

    Args:
        target: what is asked.
        tasks: a sample of its tasks, drawn by the seed.
        deadline: of ``time.monotonic``, for all probes.
        right: known right responses by task id; else they are found from the answers.
        corpora: (name, build) of attacks that plugins know, ``build(task)`` returning a response or
            None.
        rewrites: (name, apply, keeps) that plugins know.
        second: another verifier, for its opinion.

    ``told`` holds the task and response of every finding so far.
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
        second: Target | None = None,
    ) -> None:
        self.target = target
        self.weights = target.weights
        self.tasks = tuple(tasks)
        self.seed = seed
        self.deadline = deadline
        self.corpora = tuple(corpora)
        self.rewrites = tuple(rewrites)
        self.archetypes = tuple(archetypes)
        self.pass_mark = pass_mark
        self.full = full
        self.told: set[tuple[str | None, str]] = set()
        # What solves nothing earned, by its kind and by task: the reward and the text.
        self.earned: dict[str, dict[str | None, tuple[float, str]]] = {}
        self.second = second
        self.grant(deadline)
        self._known: dict[tuple[str | None, str], Reply] = {}
        self.golds = Golds(self, right)

    def grant(self, until: float) -> None:
        """Let the next probe ask until this ``time.monotonic()``, at most until the deadline."""
        self.until = self.target.until = min(until, self.deadline)
        if self.second is not None:
            self.second.until = self.until

    def chance(self, *labels: object) -> random.Random:
        """Numbers for one purpose: the same for the same seed and labels."""
        return random.Random(f"{self.seed}/{labels!r}")  # noqa: S311 - no secret

    def left(self) -> float:
        """Seconds that the running probe may still take."""
        return self.until - time.monotonic()

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
            replies = self.target.some(part, "many", self.until)
            for place, reply in replies.items():
                task, text = part[place]
                # What a machine under load could not score says nothing of the response: once more,
                # by itself.
                again = reply.transient and self.left() > 0
                self._known[task.id, text] = self.target.ask(task, text) if again else reply
            if len(replies) < len(part):
                raise OutOfBudget
        return [self._known[task.id, text] for task, text in pairs]

    def answered(self, pairs: Sequence[Pair]) -> list[tuple[int, Reply]]:
        """(place, reply) of those pairs that were asked before."""
        found = [(n, self._known.get((task.id, text))) for n, (task, text) in enumerate(pairs)]
        return [(place, reply) for place, reply in found if reply is not None]

    def pays(self, reply: Reply) -> bool:
        """Whether this reply is a pass; NaN and numbers above 1 are none of that, but findings of
        their own.
        """
        return reply.reward is not None and reply.reward >= self.pass_mark

    def seen(self) -> Iterable[tuple[str | None, str, Reply]]:
        """Everything that the target was asked so far."""
        return ((task, text, reply) for (task, text), reply in self._known.items())
