"""Batches: the rows that they take, and the order in which their verdicts come."""

import threading
from itertools import count

import pytest
from attrs import frozen
from hypothesis import given, settings
from hypothesis import strategies as st
from rlenv import Attempt, ConfigError, Environment, Outcome, Slot, Task, Trajectory
from rlenv.compose.equal import Equal
from rlenv.workers.items import LEAD

WARM = Task("Name a color.", answer="red", id="warm")
COLD = Task("Name a color.", answer="blue", id="cold")
SUM = Task("1 + 1?", answer="2", id="sum")
TASKS = [WARM, COLD, SUM]


class Broken(dict[str, object]):
    """A message of somebody's own class, which cannot be read."""

    def get(self, key, default=None):
        raise RuntimeError("no message")


@frozen
class Isolated:
    """Equality in a worker, which breaks on request."""

    phase = "diff"

    def check(self, attempt: Attempt) -> Outcome:
        if attempt.response == "break":
            raise ValueError("asked to")
        return Outcome(float(attempt.response == attempt.task.answer))


@pytest.fixture(scope="module")
def environments():
    inline = Environment("inline", [Slot("equal", Equal())], TASKS)
    isolated = Environment("isolated", [Slot("equal", Isolated())], TASKS)
    with inline, isolated:
        yield inline, isolated


def message(env, row):
    (verdict,) = env.evaluate_many([row])
    assert verdict.value is None
    assert verdict.fault.kind == "input"
    assert verdict.fingerprint == env.fingerprint
    return verdict.fault.message


def test_an_id_finds_the_task_where_several_share_a_prompt(environments):
    rows = [("warm", None, "red"), ("cold", "Name a color.", "red"), ["cold", None, "blue"]]
    for env in environments:
        assert [v.value for v in env.evaluate_many(rows)] == [1.0, 0.0, 1.0]


def test_a_pair_may_be_a_task_or_a_prompt_and_a_tuple_or_a_list(environments):
    rows = [(WARM, "red"), [COLD, "red"], ("1 + 1?", "2"), ["1 + 1?", "3"]]
    for env in environments:
        assert [v.value for v in env.evaluate_many(rows)] == [1.0, 0.0, 1.0, 0.0]


def test_a_response_may_be_a_trajectory_in_both_shapes_of_a_row(environments):
    said = [{"role": "user", "content": "Name a color."}, {"role": "assistant", "content": "red"}]
    rows = [(WARM, said), ("warm", None, Trajectory(said))]
    assert [v.value for v in environments[0].evaluate_many(rows)] == [1.0, 1.0]


def test_a_prompt_that_is_not_the_tasks_is_an_input_fault(environments):
    told = message(environments[0], ("warm", "name a color.", "red"))
    assert "not that of task 'warm'" in told
    assert "None" in told
    assert "not that of" in message(environments[0], ("warm", "", "red"))


def test_an_unknown_id_is_an_input_fault_with_the_nearest_one(environments):
    assert 'did you mean "warm"' in message(environments[0], ("warn", None, "red"))


def test_a_prompt_that_several_tasks_share_is_an_input_fault_that_names_them(environments):
    told = message(environments[0], ("Name a color.", "red"))
    assert "'warm', 'cold'" in told


@pytest.mark.parametrize(
    ("row", "wanted"),
    [
        ((7, None, "red"), "the id of a row is a text, not int"),
        (("warm", None, Trajectory(["red"])), "message dicts in a list or a Trajectory"),  # type: ignore[list-item]
        (("warm", None, [Broken()]), "no message"),
        ((WARM, Trajectory([Broken()])), "no message"),
        ((None, "1 + 1?", "2"), "the id of a row is a text, not NoneType"),
        ((["warm"], None, "red"), "the id of a row is a text, not list"),
        (("warm", 5, "red"), "the prompt of this row is not that"),
        ((WARM, None, "red"), "the id of a row is a text, not Task"),
        (("warm", None, 5), "a response is a text"),
        ((None, "red"), "a prompt is a text or a Task"),
        ("ab", "not str"),
        ({"prompt": 1, "response": 2}, "not dict"),
        ({"a", "b"}, "not set"),
        (None, "not NoneType"),
        ((), "not tuple of 0"),
        (["warm", None, "red", 4], "not list of 4"),
    ],
)
def test_a_row_that_is_neither_costs_no_other_row(environments, row, wanted):
    for env in environments:
        assert wanted in message(env, row)
        rows = [(WARM, "red"), row, ("sum", None, "2")]
        assert [v.value for v in env.evaluate_many(rows)] == [1.0, None, 1.0]
        found = sorted(env.evaluate_as_completed(rows))
        assert [(index, v.value) for index, v in found] == [(0, 1.0), (1, None), (2, 1.0)]


def test_rows_are_read_as_needed(environments):
    def endless():
        while True:
            yield WARM, "red"

    for env in environments:
        verdicts = env.evaluate_many(endless())
        assert next(verdicts).value == 1.0
        verdicts.close()


def test_rows_without_a_task_do_not_pile_up(environments):
    read = count()
    rows = ((WARM, "red") if i < 2 else None for i in read)
    verdicts = environments[1].evaluate_many(rows)
    found = [next(verdicts) for _ in range(10)]
    verdicts.close()

    assert [v.scored for v in found] == [True] * 2 + [False] * 8
    assert next(read) <= 2 * LEAD  # as far ahead of the slowest row as with other rows


def test_an_inline_stage_that_cannot_travel_is_told_whenever_workers_are_asked_for():
    class Holds:
        where = "inline"

        def __init__(self, handle):
            self.handle = handle

        def check(self, attempt):
            return Outcome(1.0)

    with Environment("held", [Slot("holds", Holds(threading.Lock()))]) as env:
        for _ in range(2):
            with pytest.raises(ConfigError, match="runs in a worker, and the attribute handle"):
                env.evaluate_many([(WARM, "red")], workers=1)


named = st.sampled_from(TASKS)
responses = st.sampled_from(["red", "blue", "2", "break", ""])
good = st.one_of(
    st.tuples(named, responses),
    st.tuples(named.map(lambda task: task.id), st.none(), responses),
    named.flatmap(lambda task: st.tuples(st.just(task.id), st.just(task.prompt), responses)),
)
bad = st.sampled_from(
    [None, "ab", ("nobody", None, "red"), ("warm", "1 + 1?", "red"), (WARM, 1), ("sum",)]
)


@settings(max_examples=30, deadline=None)
@given(st.lists(good | bad, max_size=12), st.sampled_from([None, 2]))
def test_in_order_as_completed_and_one_by_one_are_the_same(environments, rows, workers):
    for env in environments:
        in_order = list(env.evaluate_many(rows, workers))
        completed = list(env.evaluate_as_completed(rows, workers))

        assert sorted(index for index, _ in completed) == list(range(len(rows)))
        assert [verdict for _, verdict in sorted(completed)] == in_order
        for row, verdict in zip(rows, in_order, strict=True):
            assert [verdict] == list(env.evaluate_many([row]))
            if isinstance(row, tuple) and len(row) == 2 and isinstance(row[1], str):
                assert env.evaluate(*row) == verdict
            elif isinstance(row, tuple) and len(row) == 3 and verdict.results:
                assert env.evaluate(env.tasks.by_id(row[0]), row[-1]) == verdict


class Elsewhere:
    """Evaluates rows in this process, as an executor of a cluster would on another machine."""

    def evaluate(self, env, rows):
        return enumerate(env.evaluate(row.task, row.response) for row in rows)


def test_workers_of_this_machine_are_an_error_where_rows_are_evaluated_elsewhere():
    with Environment("e", Equal(), TASKS) as env:
        assert [v.value for v in env.evaluate_many([(SUM, "2")], on=Elsewhere())] == [1.0]
        for evaluate in (env.evaluate_many, env.evaluate_as_completed):
            with pytest.raises(ConfigError, match="None beside on="):
                evaluate([(SUM, "2")], workers=2, on=Elsewhere())
