"""``judge/panel``: several judges, one score."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from statistics import fmean, median
from typing import Any, Literal

from attrs import field, frozen
from rlenv import Attempt, ConfigError, Outcome, Task, VerifierFault
from rlenv.authoring import File, Safe

from rlenv_plugin_judge.families import count, families
from rlenv_plugin_judge.judging import Judge, Judging, judge_of, readable
from rlenv_plugin_judge.transport.errors import unavailable

from .checklist import Checklist
from .reference import Reference
from .rubric import Rubric

__all__ = ["Panel"]

_STAGES: Mapping[str, type[Judging]] = {
    "rubric": Rubric,
    "checklist": Checklist,
    "reference": Reference,
}


@frozen(kw_only=True, slots=False)
class Panel(Judging):
    """Several judges answer the same question.

    Models of several makers have fewer faults in common.

    Args:
        members: tables like ``judge``, one per member; ``judge`` itself is not asked.
        ask: the stage that every member runs: "rubric", "checklist" or "reference".
        options: its options.
        rubric: its option ``rubric``, a file that is found beside the env.toml.
        aggregate: "median", "mean", "min", or "majority": the share is 1 when more than half are at
            0.5 or above, 0 when more than half are below, else 0.5.
        quorum: so many members must have answered; all when 0.
        min_families: so many different families must be among those that answered; see
            ``judge.family``.
    """

    members: tuple[Judge, ...] = ()
    ask: Literal["rubric", "checklist", "reference"] = "rubric"
    options: Safe[Mapping[str, Any]] = field(factory=dict)  # judged by the stage that takes them
    rubric: File = field(factory=File)
    aggregate: Literal["median", "mean", "min", "majority"] = "median"
    quorum: int = 0
    min_families: int = 1
    _stages: tuple[Any, ...] = field(init=False, default=(), repr=False, eq=False)

    def __attrs_post_init__(self) -> None:
        super().__attrs_post_init__()
        if len(self.members) < 2:
            raise ConfigError("members: a panel has at least two judges")
        known = count(families(judge.family, judge.model) for judge in self.members)
        if self.min_families > 1 and known < self.min_families:
            raise ConfigError(
                f"min_families is {self.min_families}, and the members are of {known} known"
                " families"
            )
        if not 0 <= self.quorum <= len(self.members):
            raise ConfigError(
                f"quorum lies in 0 to {len(self.members)}, the number of members, not at"
                f" {self.quorum}"
            )
        object.__setattr__(self, "_stages", tuple(self._stage(judge) for judge in self.members))

    def _resolve(self) -> None:
        members = [judge_of(value, f"members[{n}]") for n, value in enumerate(self.members)]
        object.__setattr__(self, "members", tuple(judge.resolved() for judge in members))

    def judges(self) -> Sequence[Judge]:
        return self.members

    def _stage(self, judge: Judge) -> Any:
        from rlenv.authoring import Problems, build

        problems = Problems()
        given: dict[str, Any] = {"judge": judge, "attempts": self.attempts}
        if self.rubric:
            given["rubric"] = self.rubric
        made = build(_STAGES[self.ask], self.options, "options", problems, **given)
        problems.check()
        return made

    @property
    def uses(self) -> tuple[str, ...]:
        """What it needs of a task."""
        found: tuple[str, ...] = self._stages[0].uses
        return found

    def validate(self, task: Task) -> None:
        """As the stage that the members run."""
        self._stages[0].validate(task)

    @readable
    async def check(self, attempt: Attempt) -> Outcome:
        """Ask all; too few answers are a fault.

        Raises:
            VerifierFault: no quorum, or too few families.
        """
        said = await asyncio.gather(
            *[stage.check(attempt) for stage in self._stages], return_exceptions=True
        )
        found: list[tuple[Judge, Outcome]] = []
        faults: list[VerifierFault] = []
        for judge, outcome in zip(self.members, said, strict=True):
            if isinstance(outcome, Outcome):
                found.append((judge, outcome))
            elif isinstance(outcome, VerifierFault):
                faults.append(outcome)
            else:
                raise outcome
        self._check_quorum(found, faults)
        return self._outcome(attempt, found)

    def _check_quorum(
        self, found: Sequence[tuple[Judge, Outcome]], faults: Sequence[VerifierFault]
    ) -> None:
        needed = self.quorum or len(self.members)
        known = count(families(judge.family, judge.model) for judge, _ in found)
        short = len(found) < needed
        if short or (self.min_families > 1 and known < self.min_families):
            why = (
                f"{len(found)} of {needed} members"
                if short
                else f"{known} of {self.min_families} families"
            )
            last = f"; {faults[-1]}" if faults else ""
            message = f"the panel has no quorum: {why} answered{last}"[:400]
            raise unavailable(message, transient=True)

    def _outcome(self, attempt: Attempt, found: Sequence[tuple[Judge, Outcome]]) -> Outcome:
        scores = [outcome.score for _, outcome in found]
        score, done = self.applied(_aggregated(self.aggregate, scores), attempt.visible)
        rows = [
            {
                "model": judge.model or judge.transport,
                "family": judge.family,
                "score": round(outcome.score, 6),
            }
            for judge, outcome in found
        ]
        data = {"members": rows, "spread": round(max(scores) - min(scores), 6), **done}
        private = {"members": [dict(outcome.private) for _, outcome in found]}
        return Outcome(score, f"{self.aggregate} of {len(scores)} judges", data, private=private)


def _aggregated(how: str, scores: Sequence[float]) -> float:
    if how == "majority":
        high = sum(score >= 0.5 for score in scores)
        low = len(scores) - high
        if high == low:
            return 0.5
        return 1.0 if high > low else 0.0
    if how == "min":
        return min(scores)
    return median(scores) if how == "median" else fmean(scores)
