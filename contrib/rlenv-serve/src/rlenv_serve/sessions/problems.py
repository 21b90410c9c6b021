"""What a request about an episode is answered where it cannot be done."""

from __future__ import annotations

import logging

from rlenv_serve.http.problems import Problem
from rlenv_serve.state.journal import Begun

logger = logging.getLogger("rlenv_serve")
FINISHED, FULL = "episode_finished", "too_many_episodes"


def lost(why: str) -> Problem:
    """410."""
    return Problem(410, "episode_lost", f"the episode was interrupted and {why}: begin another")


def failed(begun: Begun, why: object) -> Problem:
    """503: the environment cannot begin an episode."""
    logger.warning("episode %s of %s, task %s: %s", begun.id, begun.environment, begun.task, why)
    return Problem(503, "environment_failed", "the episode cannot begin; the server's log says why", Retry_After="5")  # fmt: skip


def reused() -> Problem:
    """409: an idempotency key that was used for something else."""
    return Problem(409, "key_reused", "this Idempotency-Key was used for another request: draw a new one for each request")  # fmt: skip
