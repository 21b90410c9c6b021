"""``agent/turns``: process rewards, by stages that judge the conversation as it was after every Nth
turn.
"""

from __future__ import annotations

import asyncio
from statistics import fmean

from attrs import define, field
from rlenv import Attempt, ConfigError, Environment, Outcome, Trajectory
from rlenv.authoring import Safe, StageTables

MOST = 64  # turns that are judged
SECONDS = 600.0  # of wall time, for stages without limits of their own


@define(slots=False)
class Turns:
    """Scores every Nth turn and the last, in ``Outcome.steps``; their mean for all.  Of more than
    64, the last are judged.

    As the reward, the mean pays a policy that repeats a right answer, more than one that stops at
    it.  So it belongs at weight 0, where its steps reach the trainer and it adds nothing to the
    reward of the episode.

    Args:
        stages: tables as of ``[[stage]]``, as ``judge/rubric``; they judge the conversation up to a
            turn.  Files in them are relative to the folder of the env.toml.
        every: turns from one judgment to the next, 1 or more.
    """

    stages: Safe[StageTables]
    every: int = field(default=1, kw_only=True)
    phase = "judge"
    where = "caller"

    def __attrs_post_init__(self) -> None:
        if self.every < 1:
            raise ConfigError(f"every is an integer ≥ 1, not {self.every!r}")
        self.stages = StageTables(self.stages)
        self._judges = Environment.from_dict(
            {"name": "turns", "stage": [*self.stages]},
            base_dir=self.stages.base,
            code=self.stages.code,
        )
        self.uses = tuple(
            path for slot in self._judges.slots for path in getattr(slot.stage, "uses", ())
        )

    @property
    def least_timeout(self) -> float | None:
        """Return the wall seconds that the limits of its stages may take on a busy machine, over
        all turns.
        """
        of_stages = [getattr(slot.stage, "least_timeout", None) for slot in self._judges.slots]
        return MOST * sum(filter(None, of_stages)) or None

    @property
    def default_timeout(self) -> float:
        """Return the wall seconds: enough for every turn that is judged."""
        return max(SECONDS, self.least_timeout or 0.0)

    async def check(self, attempt: Attempt) -> Outcome:
        """Judge each prefix.

        Raises:
            VerifierFault: a stage could not judge one.
        """
        said = (
            attempt.trajectory.messages
            if attempt.trajectory
            else ({"role": "assistant", "content": attempt.response},)
        )
        ends = [i for i, each in enumerate(said, 1) if each.get("role") == "assistant"]
        turns = [t for t in range(len(ends)) if (t + 1) % self.every == 0 or t + 1 == len(ends)][
            -MOST:
        ]
        scores = await asyncio.gather(
            *(self._judges.averify(attempt.task, Trajectory(said[: ends[t]])) for t in turns)
        )
        return Outcome(
            fmean(scores or [0.0]),
            f"mean of {len(turns)} judged turns",
            steps=zip(turns, scores, strict=True),
        )
