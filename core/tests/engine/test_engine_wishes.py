"""What a stage may ask for: artifacts, company, a look at all tasks."""

import asyncio

import pytest
from engine_stages import Count, Split, Waits, Words
from rlenv import ConfigError, Environment, Fault, Outcome, Slot, Task, VerifierFault

TASK = Task("Say yes", answer="yes", id="t")


class Other(Waits):
    phase = "execute"


class Surveys(Waits):
    def survey(self, tasks):
        return [f"{len(tasks)} tasks"] if tasks[0].prompt != "broken" else [1 / 0]


def test_what_a_stage_finds_worth_a_warning_in_its_tasks_is_one_of_the_environment():
    env = Environment("e", [Slot("a", Surveys())], [Task("p"), Task("q")])

    assert [w.split(": ")[1] for w in env.warnings] == ["2 tasks"]
    assert env.warnings[0].startswith("a (")


class Lonely(Surveys):
    survey_if_alone = True


def test_a_stage_may_warn_only_where_it_decides_alone():
    alone = Environment("e", [Slot("a", Lonely()), Slot("b", Lonely())], [Task("p")])
    free = Environment("e", [Slot("a", Lonely()), Slot("b", Other(), 0.0)], [Task("p")])
    helped = Environment("e", [Slot("a", Lonely()), Slot("b", Other(), bonus=0.1)], [Task("p")])

    said = ["\n".join(env.warnings).count("1 tasks") for env in (alone, free, helped)]
    assert said == [2, 1, 0]


def test_a_survey_that_breaks_names_its_stage():
    with pytest.raises(
        ConfigError, match=r"^a .* broke while surveying the tasks: ZeroDivisionError"
    ):
        Environment("e", [Slot("a", Surveys())], [Task("broken")])


class Lost(Split):
    def check(self, attempt):
        raise VerifierFault(Fault("unavailable", "no machine", transient=True))


def test_a_fault_of_a_stage_that_weighs_nothing_ends_what_lives_on_its_artifact():
    env = Environment("e", [Slot("split", Lost("inline"), 0.0), Slot("count", Count("inline"))])

    found = env.evaluate(TASK, "yes")

    assert found.fault == Fault("unavailable", "no machine", transient=True)
    assert found.stopped_at == "split"
    assert [result.stage for result in found.results] == ["split"]


class Guesses(Count):
    needs = ()  # type: ignore[assignment]
    takes = (Words,)

    def check(self, attempt):
        return Outcome(1.0 if attempt.find(Words) is not None else 0.5)


@pytest.mark.parametrize("place", ["inline", "worker"])
def test_a_stage_takes_what_an_earlier_one_made_and_does_without_elsewhere(place):
    with Environment(
        "e", [Slot("split", Split("worker"), 0.0), Slot("guess", Guesses(place))]
    ) as env:
        assert env.verify(TASK, "yes") == 1.0
    with Environment("e", [Slot("guess", Guesses(place))]) as env:
        assert env.verify(TASK, "yes") == 0.5


class Narrow(Waits):
    """Three at most at a time; each says how many there were."""

    at_once = 3
    inside = 0

    async def check(self, attempt):
        type(self).inside += 1
        there = type(self).inside
        await asyncio.sleep(0.4)
        type(self).inside -= 1
        return Outcome(1.0, data={"there": there})


def test_a_stage_that_limits_itself_keeps_the_others_waiting_without_their_clocks():
    pairs = [(TASK, str(i)) for i in range(24)]
    with Environment("e", [Slot("narrow", Narrow("worker"), timeout=2.0)]) as env:
        found = list(env.evaluate_many(pairs, workers=1))

    assert all(verdict.scored for verdict in found)
    assert max(v.results[0].outcome.data["there"] for v in found) == 3


def test_loading_refuses_a_stage_that_lets_nobody_in():
    class Closed(Waits):
        at_once = 0

    with pytest.raises(ConfigError, match="at_once is an integer ≥ 1, not 0"):
        Environment("e", [Slot("closed", Closed("worker"))])
