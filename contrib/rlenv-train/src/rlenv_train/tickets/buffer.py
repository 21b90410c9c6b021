"""``LateRewards``: rollouts of a trainer that wait for their verdicts."""

from __future__ import annotations

import logging
from time import time
from typing import Generic, TypeVar

from rlenv import ConfigError, Verdict

from .tickets import Ticket

R = TypeVar("R")
logger = logging.getLogger("rlenv_train")


class LateRewards(Generic[R]):
    """Joins verdicts to the rollouts that they are for, and drops what is too old to train on.

    Example:
        late = LateRewards(max_age=4)  # steps
        late.add(tickets.submit(task, response), rollout, now=step)
        for rollout, verdict in late.ready(now=step):
            ...

    Args:
        max_age: a rollout that is older is dropped and its ticket cancelled, in the unit of
            ``now``: steps, or seconds where no call gives it.

    Attributes:
        dropped: how many were too old.
        lost: how many tickets were cancelled, or belong to an environment that has changed since.

    Raises:
        ConfigError: when ``max_age`` is not a number from 0.
    """

    def __init__(self, max_age: float) -> None:
        if not max_age >= 0:
            raise ConfigError(f"max_age is a number from 0, not {max_age!r}")
        self._max_age = max_age
        self.dropped = 0
        self.lost = 0
        self._waiting: dict[str, tuple[Ticket, R, float]] = {}

    def __len__(self) -> int:
        """Number of rollouts that wait."""
        return len(self._waiting)

    def add(self, ticket: Ticket, rollout: R, now: float | None = None) -> None:
        """Keep a rollout until the verdict of its ticket comes.

        Args:
            ticket: of the rollout.
            rollout: comes back with the verdict.
            now: its step or time; by default the time in seconds.
        """
        self._waiting[ticket.id] = ticket, rollout, time() if now is None else now

    def ready(self, now: float | None = None) -> list[tuple[R, Verdict]]:
        """The rollouts whose verdicts came, in the order in which they were added; each comes once.

        Unscored verdicts come too. A warning says how many were dropped.
        """
        found = list[tuple[R, Verdict]]()
        before = (self.dropped, self.lost)
        when = time() if now is None else now
        for name, (ticket, rollout, since) in list(self._waiting.items()):
            if when - since > self._max_age:
                ticket.cancel()
                self.dropped += 1
            elif ticket.poll() == "waiting":
                continue
            elif verdict := ticket.verdict:
                found.append((rollout, verdict))
            else:
                self.lost += 1
            del self._waiting[name]
        if before != (self.dropped, self.lost):
            told = "late rewards: %d rollouts were too old, %d tickets ended without a verdict"
            logger.warning(told, self.dropped - before[0], self.lost - before[1])
        return found
