"""A budget that cannot hold is an error at load, which names the values and says what to do."""

import pytest
from attrs import frozen
from rlenv import Attempt, ConfigError, Environment, Outcome, Slot, stage
from rlenv.compose.composites import Pipeline
from rlenv.engine.plan import Plan


class Plain:
    budget = 1.5

    def check(self, attempt: Attempt) -> Outcome:
        return Outcome(1.0)


class Inline(Plain):
    where = "inline"


class Async(Plain):
    async def check(self, attempt):
        return Outcome(1.0)


class Caller(Async):
    where = "caller"


class Group:
    budget = 1.5

    def check_group(self, attempts):
        return [Outcome(1.0) for _ in attempts]


@pytest.mark.parametrize("kind", [Inline, Async, Caller, Group])
def test_only_a_plain_check_in_a_worker_has_a_budget(kind):
    with pytest.raises(
        ConfigError, match=r"budget \(1.5 s\) is for a plain check in a worker.* drop it"
    ):
        Environment("e", kind())


def test_a_function_is_held_to_the_same():
    @stage(budget=1.5)
    async def score(response):
        return 1.0

    with pytest.raises(ConfigError, match=r"rlenv.workers.call does with seconds=1.5"):
        Environment("e", score)


@pytest.mark.parametrize("timeout", [0.5, 1.5, 2.9])
def test_a_deadline_that_ends_before_the_budget_is_an_error(timeout):
    said = (
        f"its timeout of {timeout:g} wall seconds contradicts its budget of 1.5 CPU seconds: give"
        " it 3 s"
    )
    with pytest.raises(ConfigError, match=said):
        Environment("e", [Slot("s", Plain(), timeout=timeout)])

    class Short(Plain):
        default_timeout = timeout

    with pytest.raises(ConfigError, match=said):
        Environment("e", Short())


def test_the_deadline_follows_from_the_budget():
    assert Plan(Pipeline([Slot("s", Plain())])).leaves[0].timeout == 20.0
    assert Plan(Pipeline([Slot("s", Plain(), timeout=4.0)])).leaves[0].timeout == 4.0


def test_an_option_of_an_async_stage_limits_what_it_starts():
    @frozen
    class Runs:
        budget: float = 25.0

        async def check(self, attempt):
            return Outcome(1.0)

    (leaf,) = Plan(Pipeline([Slot("s", Runs())])).leaves
    assert (leaf.budget, leaf.timeout) == (None, 30.0)


def test_an_option_of_a_plain_stage_sets_its_budget():
    @frozen
    class Checks:
        budget: float = 2.0

        def check(self, attempt):
            return Outcome(1.0)

    (leaf,) = Plan(Pipeline([Slot("s", Checks(3.0))])).leaves
    assert (leaf.budget, leaf.timeout) == (3.0, 35.0)


@pytest.mark.parametrize("value", [0, -1, "1", True, float("inf")])
def test_a_budget_is_a_positive_number(value):
    with pytest.raises(ConfigError, match="budget is a number of seconds > 0"):
        stage(budget=value)(lambda response: 1.0)


@pytest.mark.parametrize("nested", [False, True])
def test_a_composite_that_ends_before_the_budgets_in_it_is_an_error(nested):
    """A response could use up its time within the budgets, and make the stages after these a
    timeout.
    """
    inner = [Slot("a", Plain()), Slot("b", Plain())]
    within = [Slot("inner", Pipeline(inner))] if nested else inner
    said = "its timeout of 5 wall seconds contradicts its budget of 3 CPU seconds: give it 6 s"
    with pytest.raises(ConfigError, match=said):
        Environment("e", [Slot("outer", Pipeline(within), timeout=5.0)])
    Environment("e", [Slot("outer", Pipeline(within), timeout=6.0)]).close()
