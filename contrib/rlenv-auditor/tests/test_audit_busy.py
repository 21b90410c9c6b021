"""What a machine under load could not score says nothing of a verifier."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import pytest
from attrs import define, field
from rlenv.model.values import Task
from rlenv_auditor import Bench, OutOfBudget, Probe, Reply, Try
from rlenv_auditor.probes.base import expecting

TASKS = [Task("1 + 1?", answer="2", id="one"), Task("2 + 2?", answer="4", id="two")]
BUSY = Reply(None, "unscored", "unavailable: no processor", transient=True)
PROBE = Probe("test.any", "any text gets a reward", "high", "score it", "fault", tries=lambda _: [])


@define
class Told:
    """A bench that says what it is told to, of each task."""

    replies: dict[str | None, Reply]
    pass_mark: float = 1.0
    weights: dict[str, float] = field(factory=dict)
    asked: list[Any] = field(factory=list)

    def ask(self, pairs: Sequence[tuple[Task, str]]) -> None:
        self.asked += pairs

    def answered(self, pairs: Sequence[tuple[Task, str]]) -> list[tuple[int, Reply]]:
        return [(place, self.replies[task.id]) for place, (task, _) in enumerate(pairs)]

    def pays(self, reply: Reply) -> bool:
        return reply.reward is not None and reply.reward >= self.pass_mark


def tried(one: Reply, two: Reply, must: str) -> Any:
    bench = cast("Bench", Told({"one": one, "two": two}))
    return expecting(bench, PROBE, [Try(task, "x", must, "a text") for task in TASKS])


@pytest.mark.parametrize("must", ["score", "pass"])
def test_a_busy_machine_is_no_finding_and_leaves_the_probe_incomplete(must: str) -> None:
    made = tried(BUSY, Reply(1.0), must)

    assert made.status == "incomplete"
    assert not made.findings
    assert made.rate.trials == 1
    assert "want of the machine" in made.reason


def test_a_fault_of_the_verifier_is_a_finding_still() -> None:
    made = tried(BUSY, Reply(None, "error", "ValueError"), "score")

    assert made.status == "found"
    assert made.rate.hits == made.rate.trials == 1


def test_where_nothing_could_be_scored_nothing_was_measured() -> None:
    with pytest.raises(OutOfBudget):
        tried(BUSY, BUSY, "score")
