"""One episode in memory."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence

from attrs import define, field
from rlenv_plugin_agent import Episode, Rollout

from rlenv_serve.catalog import Served
from rlenv_serve.http.problems import Problem, key_reused
from rlenv_serve.http.watch import Watch
from rlenv_serve.state.journal import EpisodeEnd, EpisodeStart, JournaledStep
from rlenv_serve.trajectories.episode import finished_episode
from rlenv_serve.verdicts import encode_verdict

from .actions import Action
from .answers import Answer

logger = logging.getLogger("rlenv_serve")
CLOSE = 30.0  # seconds for an environment to give back what it holds


@define(eq=False)
class Session:
    """One episode in memory; ``Sessions`` makes it and plays it.

    Args:
        begun: as the journal has it.
        served: its environment.
        episode: which it plays.
        first: what the policy was given at its start.

    Who plays or closes it holds ``lock``.
    """

    begun: EpisodeStart
    served: Served
    episode: Episode
    first: Answer = field(factory=Answer)
    taken: list[JournaledStep] = field(factory=list)
    lock: asyncio.Lock = field(factory=asyncio.Lock)
    used: float = field(factory=time.monotonic)

    @property
    def id(self) -> str:
        """Of the episode."""
        return self.begun.id

    async def play(self, action: Action, deadline: float) -> Answer:
        """Take a step, and return its answer; the episode is then ahead of the journal.

        Args:
            action: of the policy.
            deadline: in seconds.

        Raises:
            Problem: 504 after so many seconds.
        """
        episode = self.episode
        acting = (
            episode.atruncate("done") if action.kind == "end" else episode.astep(action.as_step())
        )
        try:
            with Watch(None, deadline):
                step = await acting
        except TimeoutError:
            raise Problem(
                504, "deadline", f"the step took more than {deadline:g} s; it was not taken"
            ) from None
        return Answer.of(len(self.taken) + 1, step, episode.verdict, episode.stop)

    @property
    def end(self) -> EpisodeEnd:
        """The end of the episode, for the journal."""
        episode = self.episode
        assert episode.verdict is not None
        assert episode.task is not None
        assert episode.trajectory is not None
        seconds = max(0.0, time.time() - self.begun.created)
        made = Rollout(
            task=episode.task,
            trajectory=episode.trajectory,
            trace=tuple(episode.trace),
            verdict=episode.verdict,
            stop=episode.stop or "error",
            seconds=seconds,
            seed=self.begun.seed,
            children=(),
            start=episode.start,
        )
        return EpisodeEnd(
            made.stop, encode_verdict(made.verdict), finished_episode(self.begun, made).to_json()
        )

    async def close(self) -> None:
        """Give back what the episode holds; an environment that cannot, or hangs, is reported and
        left.
        """
        try:
            await asyncio.wait_for(self.episode.aclose(), CLOSE)
        except Exception as error:  # noqa: BLE001 - whatever an environment raises, the server goes on
            logger.warning(
                "episode %s of %s cannot be closed: %r", self.id, self.begun.environment, error
            )


def asked_for(begun: EpisodeStart) -> tuple[object, ...]:
    """Return what a client asked for when it began an episode; the same for a request that is sent
    again.
    """
    return begun.environment, begun.task, begun.seed, begun.agent


def find_answer(steps: Sequence[JournaledStep], action: Action, key: str) -> Answer | None:
    """Return the answer to the same step, where a request with this idempotency key took it before.

    Args:
        steps: of the episode, as the journal has them.
        action: of the request.
        key: its idempotency key, "" without.

    Raises:
        Problem: 409 when the key was that of another step.
    """
    taken = next((each for each in steps if key and each.key == key), None)
    if taken is None:
        return None
    if taken.action != action.to_json():
        raise key_reused()
    return Answer.from_json(taken.answer)
