"""Problems of requests about episodes."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from rlenv_plugin_agent.errors import UnreachableTask

from rlenv_serve.http.problems import Problem
from rlenv_serve.state.journal import EpisodeStart

logger = logging.getLogger("rlenv_serve")
FINISHED = "episode_finished"
FULL = "too_many_episodes"
LOST = "episode_lost"
UNREACHABLE = "task_unreachable"


class EpisodeLost(Problem):
    """410: an episode that cannot go on.

    Args:
        why: as a client is told, behind "the episode was interrupted and".
        final: no server can go on with it, also none that has another version of the environment.
    """

    def __init__(self, why: str, *, final: bool = False) -> None:
        super().__init__(410, LOST, f"the episode was interrupted and {why}: begin another")
        self.why = why
        self.final = final


def full(limit: int, oldest: Sequence[str], count: int) -> Problem:
    """429: a tenant has as many open episodes as it may have.

    Args:
        limit: how many it may have.
        oldest: ids of open ones, the oldest first.
        count: how many there are.
    """
    more = f" and {count - len(oldest):,} more" if count > len(oldest) else ""
    told = (
        f"a tenant has at most {limit:,} open episodes: end or DELETE some (the oldest are"
        f" {', '.join(oldest)}{more}), or start the server with --limit episodes=NUMBER"
    )
    return Problem(429, FULL, told, Retry_After="5")


def begin_failed(begun: EpisodeStart, why: object) -> Problem:
    """Make 503: the environment cannot begin an episode.

    Args:
        begun: the episode.
        why: for the log.
    """
    if isinstance(why, UnreachableTask):
        logger.info("episode %s of %s, task %s: %s", begun.id, begun.environment, begun.task, why)
        return unreachable()
    logger.warning("episode %s of %s, task %s: %s", begun.id, begun.environment, begun.task, why)
    return Problem(
        503,
        "environment_failed",
        "the episode cannot begin; the server's log says why",
        Retry_After="5",
    )


def unreachable(count: int = 1) -> Problem:
    """503: what earlier episodes left in a persistent world makes tasks impossible.

    Args:
        count: how many tasks were tried.
    """
    what = "the task" if count == 1 else f"each of the {count} tasks that were drawn"
    told = (
        f"{what} is impossible in the world that earlier episodes left: ask for another task; the"
        " operator can put back a copy of the world"
    )
    return Problem(503, UNREACHABLE, told, Retry_After="5")
