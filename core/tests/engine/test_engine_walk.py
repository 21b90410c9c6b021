"""The walk itself, with results that a table tells: what runs, for how long, and what comes of
it.
"""

import pytest
from attrs import frozen
from rlenv import Attempt, Environment, Pipeline, Slot, Task
from rlenv.compose.composites import Combined, Composite
from rlenv.engine.engine import GroupBarrier, evaluate
from rlenv.engine.plan import Plan
from rlenv.model.values import Fault, Outcome, StageResult

TASK = Task("p", id="t")


@frozen
class Named:
    phase = "diff"

    def check(self, attempt: Attempt) -> Outcome:
        raise AssertionError("the table says what comes of it")


@frozen
class Grouped:
    phase = "judge"
    where = "inline"

    def check_group(self, attempts: list[Attempt]) -> list[Outcome]:
        raise AssertionError("the table says what comes of it")


class Table:
    """An executor that says what each stage scored and how long it took, and notes how long it was
    given.

    Stages of ``away`` run elsewhere: the steps have to wait for them.
    """

    def __init__(self, rows, away=()):
        self.rows = rows
        self.away = away
        self.given = []

    def check(self, slot, attempt, seconds):
        assert type(attempt) is Attempt
        if slot.path in self.away:
            return self.wait(slot, seconds)
        self.given.append((slot.path, seconds))
        score, took = self.rows[slot.path]
        return StageResult(slot.path, Outcome(score), None, took)

    def wait(self, slot, seconds):
        got = yield slot.path, seconds
        return got


def walk(root, executor, known=(), *, grouped=False):
    """(verdict, what was waited for, the attempt)."""
    attempt = Attempt(TASK, "r")
    attempt.known = list(known)
    attempt.grouped = grouped
    steps = evaluate(Plan(root), attempt, executor, "fingerprint")
    waited = []
    try:
        asked = next(steps)
        while True:
            waited.append(asked)
            path = asked.slot.path if isinstance(asked, GroupBarrier) else asked[0]
            score, took = executor.rows[path]
            asked = steps.send(StageResult(path, Outcome(score), None, took))
    except StopIteration as stop:
        return stop.value, waited, attempt


def slots(*names, **more):
    return [Slot(name, Named(), 1.0, **more) for name in names]


def test_a_nested_verdict_holds_every_result_in_its_place():
    inner = Pipeline([Slot("run", Named(), gate=0.6), Slot("speed", Named())])
    executor = Table({"tests/run": (0.5, 1.0), "style": (1.0, 2.0)})

    said, _, attempt = walk(Pipeline([Slot("tests", inner), Slot("style", Named())]), executor)

    ran = StageResult("tests/run", Outcome(0.5))
    stopped = Outcome(0.0, "", {"raw": 0.0, "stopped_at": "tests/run"})
    assert said.results == (
        StageResult("tests", stopped, None, 0.0, (ran,)),
        StageResult("style", Outcome(1.0)),
    )
    assert (said.value, said.raw, said.stopped_at, said.fault) == (0.5, 0.5, None, None)
    assert said.fingerprint == "fingerprint"
    assert [r.seconds for r in said.results] == [1.0, 2.0]
    assert [r.stage for r in attempt.log] == ["tests/run", "style"]


def test_a_composite_that_runs_to_its_end_names_no_stage_that_stopped_it():
    said, _, _ = walk(
        Pipeline([Slot("in", Pipeline(slots("a", "b")))]),
        Table({"in/a": (1.0, 0.25), "in/b": (0.5, 0.5)}),
    )

    assert said.results[0].outcome == Outcome(0.75, "", {"raw": 0.75})
    assert said.results[0].seconds == 0.75


def test_an_open_composite_has_its_childs_fault_and_its_children():
    fault = Fault("error", "broken")
    inner = Pipeline(slots("a", "b"))
    known = [StageResult("in/a", None, fault, 3.0)]

    said, _, _ = walk(Pipeline([Slot("in", inner)]), Table({}), known)

    assert said.results == (StageResult("in", None, fault, 0.0, (known[0],)),)
    assert said.results[0].seconds == 3.0
    assert (said.value, said.raw, said.fault, said.stopped_at) == (None, None, fault, "in")


def test_a_composites_time_is_what_its_children_have_left():
    inner = Pipeline(slots("a", "b", "c"))
    executor = Table({"in/a": (1.0, 4.0), "in/b": (1.0, 6.0)})

    said, _, attempt = walk(Pipeline([Slot("in", inner, timeout=10.0)]), executor)

    assert executor.given == [("in/a", 10.0), ("in/b", 6.0)]
    late = said.results[0].children[2]
    assert late.fault == Fault(
        "timeout", "the time of the composite around this stage ran out", transient=False
    )
    assert late.stage == "in/c"
    assert [r.stage for r in attempt.log] == ["in/a", "in/b", "in/c"]


def test_an_inner_composite_has_no_more_time_than_the_outer_one_has_left():
    inner = Pipeline(slots("b"))
    outer = Pipeline([*slots("a"), Slot("in", inner, 1.0, timeout=60.0)])
    executor = Table({"out/a": (1.0, 4.0), "out/in/b": (1.0, 1.0)})

    walk(Pipeline([Slot("out", outer, timeout=10.0)]), executor)

    assert executor.given == [("out/a", 10.0), ("out/in/b", 6.0)]


@pytest.mark.parametrize(("own", "given"), [(3.0, 3.0), (60.0, 6.0)])
def test_a_stage_elsewhere_gets_its_own_time_but_no_more_than_there_is(own, given):
    inner = Pipeline([*slots("a"), *slots("b", timeout=own)])
    executor = Table({"in/a": (1.0, 4.0), "in/b": (1.0, 1.0)}, away={"in/b"})

    said, waited, attempt = walk(Pipeline([Slot("in", inner, timeout=10.0)]), executor)

    assert waited == [("in/b", given)]
    assert said.value == 1.0
    assert [r.stage for r in attempt.log] == ["in/a", "in/b"]


def test_a_stage_elsewhere_runs_in_the_last_moment_that_is_left():
    executor = Table({"in/a": (1.0, 9.5), "in/b": (1.0, 0.25)}, away={"in/b"})

    _, waited, _ = walk(Pipeline([Slot("in", Pipeline(slots("a", "b")), timeout=10.0)]), executor)

    assert waited == [("in/b", 0.5)]


def test_what_is_known_is_replayed_and_the_walk_goes_on_behind_it():
    known = [StageResult("a", Outcome(0.5), None, 1.0)]
    executor = Table({"b": (1.0, 1.0), "c": (0.0, 1.0)})

    said, _, attempt = walk(Pipeline(slots("a", "b", "c")), executor, known)

    assert executor.given == [("b", 30.0), ("c", 30.0)]
    assert said.results[0] is known[0]
    assert said.value == 0.5
    assert [r.stage for r in attempt.log] == ["a", "b", "c"]


def test_a_group_stage_is_waited_for_in_a_group_and_its_plain_neighbors_are_not():
    executor = Table({"a": (1.0, 1.0), "g": (0.5, 1.0)})

    said, waited, attempt = walk(
        Pipeline([*slots("a"), Slot("g", Grouped(), 1.0)]), executor, grouped=True
    )

    assert [(w.slot.path, w.attempt) for w in waited] == [("g", attempt)]
    assert [path for path, _ in executor.given] == ["a"]
    assert said.value == 0.75


class Ends(Composite):
    """Somebody's own composite, which ends as it is told."""

    def __init__(self, end):
        super().__init__(slots("a"))
        self.end = end

    def fold(self):
        yield 0
        if isinstance(self.end, Exception):
            raise self.end
        return self.end


EXECUTOR = Table({"a": (1.0, 1.0)})


@pytest.mark.parametrize("value", [0.0, 0.5, 1.0])
def test_a_composite_of_ones_own_may_say_any_value_in_the_unit_interval(value):
    said, _, _ = walk(Ends(Combined(value, 7.0, None, "a")), EXECUTOR)

    assert (said.value, said.raw, said.fault, said.stopped_at) == (value, 7.0, None, "a")


def test_a_composite_of_ones_own_may_leave_it_open_with_a_fault():
    fault = Fault("error", "undecided")

    assert walk(Ends(Combined(None, None, fault)), EXECUTOR)[0].fault == fault


@pytest.mark.parametrize(
    "end", [None, 0.5, Combined(-0.5), Combined(1.5), Combined(1), Combined(None)]
)
def test_any_other_end_of_a_composite_is_its_fault(end):
    said, _, _ = walk(Ends(end), EXECUTOR)

    message = "Ends.fold returns a Combined with a value in [0, 1] or a fault, and did not"
    assert said.fault == Fault("contract", message, transient=False)
    assert (said.value, said.raw, said.stopped_at) == (None, None, None)
    assert said.results == (StageResult("a", Outcome(1.0)),)


class Asks(Composite):
    """Asks for a child that it does not have."""

    def fold(self):
        yield self.asked
        raise AssertionError("there is none")


@pytest.mark.parametrize("asked", [1, -1, True, "a", None])
def test_a_composite_that_asks_for_no_child_of_its_own_is_a_fault(asked):
    root = Asks(slots("a"))
    root.asked = asked

    said, _, _ = walk(root, EXECUTOR)

    assert (said.value, said.fault.kind, said.results) == (None, "contract", ())


def test_a_composite_that_raises_is_told_like_a_stage_that_does():
    said, _, _ = walk(Ends(ValueError("no")), EXECUTOR)

    assert said.fault.kind == "error"
    assert said.fault.message.startswith("ValueError: no (engine/test_engine_walk.py:")
    assert (said.value, said.raw, said.stopped_at) == (None, None, None)


@frozen
class Both(Named):
    where = "inline"

    def check_group(self, attempts: list[Attempt]) -> list[Outcome]:
        raise AssertionError("nobody else is there")


def test_a_stage_that_can_judge_a_group_judges_a_lonely_response_alone():
    steps = evaluate(Plan(Pipeline([Slot("a", Both())])), Attempt(TASK, "r"), EXECUTOR, "")

    with pytest.raises(StopIteration) as stop:
        next(steps)
    assert stop.value.value.value == 1.0


def test_an_environment_names_all_its_stages_by_path() -> None:
    inner = Pipeline([Slot("left", Named()), Slot("right", Named())])
    env = Environment("e", [Slot("first", Named()), Slot("both", inner)])

    assert list(env.stages) == ["first", "both/left", "both/right", "both"]
    assert env.stages["both"].stage is inner
