"""What stages, callers and their objects do that no contract allows."""

import pytest
from attrs import frozen
from rlenv import Attempt, Environment, Outcome, ScoreError, Slot, Task

TASK = Task("p", answer="gold", id="t")


class Rude:
    """Cannot even be shown."""

    def __repr__(self) -> str:
        raise RuntimeError("no")


@frozen
class Returns:
    """Returns what it was given."""

    what: object
    phase = "diff"
    where = "inline"

    def check(self, attempt: Attempt) -> Outcome:
        return self.what


@frozen
class ReturnsRude(Returns):
    def check(self, attempt: Attempt) -> Outcome:
        return Rude()


def test_what_cannot_be_shown_is_a_fault_all_the_same():
    verdict = Environment("e", [Slot("s", ReturnsRude(1))]).evaluate(TASK, "r")

    assert verdict.fault.kind == "contract"
    assert "not Rude" in verdict.fault.message


def test_a_row_that_cannot_be_shown_costs_no_other_row():
    env = Environment("e", [Slot("s", Returns(Outcome(1.0)))])

    found = list(env.evaluate_many([(TASK, Rude()), (Rude(), "r"), Rude(), (TASK, "r")]))

    assert [v.fault.kind for v in found[:3]] == ["input"] * 3
    assert found[3].reward == 1.0


def test_messages_about_misuse_tell_types_and_never_answers_or_responses():
    env = Environment("e", [Slot("s", Returns(TASK))])

    rows = [(TASK, b"my response"), ({"answer": "gold"}, "r"), TASK, (TASK, "my response")]
    for verdict in env.evaluate_many(rows):
        assert "gold" not in verdict.fault.message
        assert "my response" not in verdict.fault.message


@pytest.mark.parametrize(
    "steps", [((0, float("nan")),), ((0, 7.5),), ((0, True),), (0.5,), 3, (("0", 0.5),), "ab"]
)
def test_scores_of_steps_are_as_strict_as_scores(steps):
    with pytest.raises(ScoreError):
        Outcome(1.0, steps=steps)


def test_steps_become_plain_pairs():
    assert Outcome(1.0, steps=[[0, 1], [2, 0.5]]).steps == ((0, 1.0), (2, 0.5))


def test_what_one_outcome_holds_no_other_does():
    Outcome(1.0).data["mine"] = 1
    Task("p").info["mine"] = 1

    assert Outcome(1.0).data == {}
    assert Task("p").info == {}
