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
from rlenv_serve.state.journal import Begun, Ended, Taken
from rlenv_serve.trajectories.finished import finished
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

    begun: Begun
    served: Served
    episode: Episode
    first: Answer = field(factory=Answer)
    taken: list[Taken] = field(factory=list)
    lock: asyncio.Lock = field(factory=asyncio.Lock)
    used: float = field(factory=time.monotonic)

    @property
    def id(self) -> str:
        """Of the episode."""
        return self.begun.id

    async def play(self, action: Action, deadline: float) -> Answer:
        """What the policy is answered; the episode is then ahead of the journal.

        Raises:
            Problem: 504 after so many seconds.
        """
        episode = self.episode
        acting = (
            episode.atruncate("done") if action.kind == "end" else episode.astep(action.played())
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
    def end(self) -> Ended:
        """How it ended, for the journal."""
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
        return Ended(made.stop, encode_verdict(made.verdict), finished(self.begun, made).encoded())

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


def asked_for(begun: Begun) -> tuple[object, ...]:
    """What a client asked for when it began an episode; the same for a request that is sent
    again.
    """
    return begun.environment, begun.task, begun.seed, begun.agent


def answered(steps: Sequence[Taken], action: Action, key: str) -> Answer | None:
    """The answer to the same step, where a request with this idempotency key took it before.

    Raises:
        Problem: 409 when the key was that of another step.
    """
    taken = next((each for each in steps if key and each.key == key), None)
    if taken is None:
        return None
    if taken.action != action.encoded():
        raise key_reused()
    return Answer.decoded(taken.answer)
