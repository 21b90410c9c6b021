"""``agent/turns``: process rewards, by stages that judge the conversation as it was after every Nth turn."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from statistics import fmean

from attrs import define, field
from rlenv import Attempt, ConfigError, Environment, Outcome, Trajectory
from rlenv.authoring import Safe


@define(slots=False)
class Turns:
    """A score for every Nth turn and the last, in ``Outcome.steps``; their mean for all.  Of more than 64, the last are judged.

    Args:
        stages: tables as of ``[[stage]]``, as ``judge/rubric``; they judge the conversation up to a turn.
        every: turns from one judgment to the next, 1 or more.
    """

    stages: Safe[Sequence[Mapping[str, object]]]
    every: int = field(default=1, kw_only=True)
    phase, where, default_timeout = "judge", "caller", 600.0

    def __attrs_post_init__(self) -> None:
        if self.every < 1:
            raise ConfigError(f"every is an integer ≥ 1, not {self.every!r}")
        self._judges = Environment.from_dict({"name": "turns", "stage": [*self.stages]})
        self.uses = tuple(path for slot in self._judges.slots for path in getattr(slot.stage, "uses", ()))  # fmt: skip

    async def check(self, attempt: Attempt) -> Outcome:
        """Judge each prefix.

        Raises:
            VerifierFault: a stage could not judge one.
        """
        said = attempt.trajectory.messages if attempt.trajectory else ({"role": "assistant", "content": attempt.response},)  # fmt: skip
        ends = [i for i, each in enumerate(said, 1) if each.get("role") == "assistant"]
        turns = [t for t in range(len(ends)) if (t + 1) % self.every == 0 or t + 1 == len(ends)][-64:]  # fmt: skip
        scores = await asyncio.gather(*(self._judges.averify(attempt.task, Trajectory(said[: ends[t]])) for t in turns))  # fmt: skip
        return Outcome(fmean(scores or [0.0]), f"mean of {len(turns)} judged turns", steps=zip(turns, scores, strict=True))  # fmt: skip
