"""``judge/checklist``: questions with yes and no."""

from __future__ import annotations

from typing import Literal

from attrs import field, frozen
from rlenv import Attempt, ConfigError, Outcome
from rlenv.authoring import Safe

from rlenv_plugin_judge.judging import blank, facts, readable, reason
from rlenv_plugin_judge.rubric.criterion import Criterion

from .rubric import Rubric

__all__ = ["Checklist"]


def _texts(values: object) -> tuple[str, ...]:
    return tuple(values) if isinstance(values, (list, tuple)) else ()


@frozen(kw_only=True, slots=False)
class Checklist(Rubric):
    """Items that a response has or has not; the score is the share that it has, or 1 only for all.

    Args:
        items: statements, one each; or ``source`` for each task's own list of texts.
        score: "fraction" or "all".
    """

    items: Safe[tuple[str, ...]] = field(default=(), converter=_texts)
    score: Literal["fraction", "all"] = "fraction"

    def __attrs_post_init__(self) -> None:
        if self.items:
            if self.criteria or self.rubric or self.source:
                raise ConfigError("name items, or where tasks have them (source); not both")
            tables = tuple({"id": f"i{n}", "text": text} for n, text in enumerate(self.items, 1))
            object.__setattr__(self, "criteria", tables)
        super().__attrs_post_init__()

    @readable
    async def check(self, attempt: Attempt) -> Outcome:
        """Judge the items.

        Raises:
            VerifierFault: one of them got no verdict.
        """
        if nothing := blank(attempt.visible):
            return nothing
        criteria: tuple[Criterion, ...] = self._of(attempt.task).criteria
        judged = await self.judged(attempt, criteria)
        shares = [judged.shares[criterion.id] for criterion in criteria]
        raw = sum(shares) / len(shares) if self.score == "fraction" else float(min(shares) >= 0.5)
        score, done = self.applied(raw, attempt.visible)
        rows = [
            {"id": c.id, "has": share >= 0.5} for c, share in zip(criteria, shares, strict=True)
        ]
        data = {"items": rows, **done, "judge": facts(judged.verdicts[0])}
        detail = f"{sum(share >= 0.5 for share in shares)} of {len(shares)} items"
        return Outcome(
            score, detail, data, private={"reasons": [reason(v) for v in judged.verdicts]}
        )
