"""`ScoringEngine` as an environment: the same verdicts, equal rows once, and numbers of what it
did.
"""

from __future__ import annotations

import asyncio
import gc
import os
import weakref
from threading import Lock, Thread

import pytest
import rlenv
from hypothesis import given, settings
from hypothesis import strategies as st
from rlenv import ConfigError, Environment, Outcome, Task, UnknownTask
from rlenv.workers import usable_cpus
from rlenv_train import EnvironmentGroup, ScoringEngine, trl_reward
from rlenv_train.scoring import engine as scoring
from rlenv_train.scoring.budget import advice

TASKS = [Task(f"{n}?", answer=str(n), id=f"t{n}") for n in range(4)]


class Counting:
    """Equality with the answer, and a list of what was asked; "break" breaks, and "once" only the
    first time.
    """

    where = "inline"

    def __init__(self):
        self.asked = []

    def check(self, attempt):
        self.asked.append((attempt.task.prompt, attempt.response))
        if attempt.response == "break":
            raise RuntimeError("broken")
        if attempt.response == "once" and self.asked.count((attempt.task.prompt, "once")) == 1:
            raise RuntimeError("broken once")
        return Outcome(
            float(attempt.response == attempt.task.answer),
            "compared",
            {"n": [1]},
            private={"gold": attempt.task.answer},
        )


class Drawn(Counting):
    deterministic = False


@rlenv.stage(where="inline")
def longest(attempts):
    raise NotImplementedError


class Longest:
    """Only the longest of a group passes."""

    where = "inline"

    def check_group(self, attempts):
        most = max(len(attempt.response) for attempt in attempts)
        return [Outcome(float(len(attempt.response) == most)) for attempt in attempts]


@pytest.fixture
def stage():
    return Counting()


@pytest.fixture
def engine(stage):
    with ScoringEngine(Environment("sums", stage, TASKS)) as engine:
        yield engine


def test_an_engine_is_the_environment_to_whoever_asks(engine):
    env = engine.env
    assert isinstance(engine, Environment)
    assert (engine.name, engine.tasks, engine.slots) == (env.name, env.tasks, env.slots)
    assert engine.fingerprint == env.fingerprint
    assert (
        engine.verify("1?", "1")
        == engine(TASKS[1], "1")
        == asyncio.run(engine.averify("1?", "1"))
        == 1.0
    )
    with pytest.raises(UnknownTask):
        engine.verify("7?", "1")
    with pytest.raises(AttributeError):
        engine.no_such_thing  # noqa: B018 - it raises


def test_equal_rows_of_a_batch_are_verified_once(engine, stage):
    rows = [("1?", "1"), (TASKS[1], "1"), ("t1", None, "1"), ("t1", "1?", "0"), ("0?", "1")] * 3

    assert [v.value for v in engine.evaluate_many(rows)] == [1.0, 1.0, 1.0, 0.0, 0.0] * 3
    assert sorted(stage.asked) == [("0?", "1"), ("1?", "0"), ("1?", "1")]
    found = engine.metrics()
    assert [found[name] for name in ("verified", "repeated", "responses", "batches")] == [
        3,
        12,
        15,
        1,
    ]


def test_a_row_that_makes_no_sense_is_unscored_by_itself(engine):
    rows = [("7?", "1"), 7, ("1?", 5), ("t1", "0?", "1"), ("t9", None, "1"), ("1?", "1"), ()]
    alone = list(engine.env.evaluate_many(rows))

    assert list(engine.evaluate_many(rows)) == alone
    assert [v.value for v in alone] == [None, None, None, None, None, 1.0, None]


class Slow(Counting):
    """The same, when all rows have been read."""

    where = "caller"

    async def check(self, attempt):
        await asyncio.sleep(0.05)
        return Counting.check(self, attempt)


@pytest.mark.parametrize("kind", [Counting, Slow])
def test_what_breaks_is_shared_with_nobody(kind):
    stage = kind()
    with ScoringEngine(Environment("sums", stage, TASKS)) as engine:
        rows = [("1?", "once")] * 4 + [("1?", "1")] * 4 + [("1?", "break")] * 2
        values = [v.value for v in engine.evaluate_many(rows)]
        metrics = engine.metrics()

    assert values == [None, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, None, None]
    assert stage.asked.count(("1?", "1")) == 1
    assert stage.asked.count(("1?", "break")) == 2
    assert (metrics["responses"], metrics["unscored"]) == (10, 3)


def test_stages_that_are_not_deterministic_judge_every_row_unless_they_are_named():
    rows = [("1?", "1")] * 4
    for reuse, asked in ((), 4), (("drawn",), 1):
        stage = Drawn()
        with ScoringEngine(Environment("drawn", stage, TASKS), reuse=reuse) as engine:
            assert [v.value for v in engine.evaluate_many(rows)] == [1.0] * 4
        assert len(stage.asked) == asked


def test_a_stage_that_may_be_reused_is_named_as_it_is(stage):
    with pytest.raises(ConfigError, match="reuse: nothing: not a stage; they are counting"):
        ScoringEngine(Environment("sums", stage), reuse=("nothing",))


def test_values_that_are_equal_and_of_different_types_are_different(engine, stage):
    tasks = [Task("x", answer) for answer in ("1", 1, 1.0, True, [1], (1,), None, "None", b"1")]
    tasks += [
        Task("x", "1", info) for info in ({"a": 1, "b": 2}, {"b": 2, "a": 1}, {"a": float("nan")})
    ]
    tasks += [Task("x", "1", id="1"), Task("x", "1", split="test")]
    list(engine.evaluate_many([(task, "1") for task in tasks]))

    assert len(stage.asked) == len(tasks)


def test_texts_that_look_alike_are_different(engine, stage):
    texts = [
        "é",
        "e\u0301",
        "a\0",
        "a",
        "a\ud800",
        "a\\ud800",
        "', '",
        '", "',
        "\u2028",
        " ",
        "1\n",
        "1",
    ]
    list(engine.evaluate_many([(TASKS[1], text) for text in texts] * 2))
    list(
        engine.evaluate_many([(Task("a', 'b"), "c"), (Task("a"), "b', 'c"), (Task("a', 'b"), "c")])
    )

    assert len(stage.asked) == len(texts) + 2


def test_messages_are_compared_whole(engine, stage):
    def say(text, **more):
        return [{"role": "user", "content": "1?"}, {"role": "assistant", "content": text, **more}]

    rows = [say("1"), say("1"), rlenv.Trajectory(say("1")), say("1", name="x"), say("1")[1:], "1"]
    verdicts = list(engine.evaluate_many([("1?", row) for row in rows]))

    assert [v.value for v in verdicts] == [1.0] * 6
    assert len(stage.asked) == 4


class Sneaky(str):
    __slots__ = ()

    def __repr__(self):
        return "'1'"


def test_what_is_of_somebodys_own_class_is_verified_each_time(engine, stage):
    loop = []
    loop.append(loop)
    for info in {"x": Sneaky("2")}, {"x": {1, 2}}, {"x": object()}, {"x": loop}:
        list(engine.evaluate_many([(Task("1?", "1", info), "1")] * 2))
    own = list(engine.evaluate_many([("1?", Sneaky("1")), ("1?", "1"), ("1?", Sneaky("2"))]))

    assert [v.value for v in own] == [1.0, 1.0, 0.0]
    assert len(stage.asked) == 4 * 2 + 2


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(["0?", "1?", "x?"]), st.sampled_from("01x"))),
    st.integers(1, 3),
)
def test_a_batch_is_that_of_the_environment(rows, held):
    env = Environment("sums", Counting(), TASKS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scoring, "CHUNK", held)
        assert list(ScoringEngine(env).evaluate_many(rows)) == list(env.evaluate_many(rows))


def test_rows_are_read_as_they_are_needed(engine, monkeypatch):
    monkeypatch.setattr(scoring, "CHUNK", 100)

    def endless():
        while True:
            yield "1?", "1"

    verdicts = engine.evaluate_many(endless())
    assert [next(verdicts).value for _ in range(250)] == [1.0] * 250


def test_workers_of_the_engine_verify_its_batches():
    env = Environment.from_dict({"name": "e", "stage": [{"use": "core/equal"}]})
    with ScoringEngine(env, workers=2) as engine:
        rows = [(task, answer) for task in TASKS for answer in "01"]
        values = [v.value for v in engine.evaluate_many(rows)]
        assert values == [v.value for v in engine.env.evaluate_many(rows)]
        assert engine.metrics()["workers"] == 2
        assert engine.submit(TASKS[1], "1").result().value == 1.0


def test_a_group_of_environments_is_scored_as_one(stage):
    members = {"a": Environment("a", stage, TASKS), "b": Environment("b", Drawn(), TASKS)}
    with ScoringEngine(EnvironmentGroup(members), reuse=("drawn",)) as engine:
        rows = [(name, None, "1") for name in ("a/t1", "a/t1", "b/t1", "a/t0")]
        assert [v.value for v in engine.evaluate_many(rows)] == [1.0, 1.0, 1.0, 0.0]
        assert engine.metrics()["verified"] == 3
        assert engine.diversity()


def test_an_engine_may_be_a_member_of_a_group(engine, stage):
    group = EnvironmentGroup({"a": engine})
    assert [v.value for v in group.evaluate_many([("a/t1", None, "1")] * 3)] == [1.0] * 3
    assert len(stage.asked) == 1


def test_a_stage_that_compares_sees_the_whole_group():
    with ScoringEngine(Environment("g", Longest(), TASKS)) as engine:
        reward = trl_reward(engine)
        scores = asyncio.run(reward(["1?"] * 3 + ["2?"] * 2, ["a", "bb", "bb", "a", "a"]))
        assert scores == [0.0, 1.0, 1.0, 1.0, 1.0]
        assert engine.metrics()["batches"] == 2
        with pytest.raises(ConfigError, match="side by side"):
            engine.submit("1?", "a")
        with pytest.raises(ConfigError, match="side by side"):
            engine.evaluate_many([("1?", "a")])


def test_a_trainers_adapter_takes_an_engine(engine, stage):
    scores = asyncio.run(trl_reward(engine)(["1?", "1?", "0?"], ["1", "1", "break"]))

    assert scores == [1.0, 1.0, None]
    assert len(stage.asked) == 2


def test_observers_get_the_numbers_of_each_batch(stage):
    seen = []
    lock = Lock()

    def broken(metrics):
        raise RuntimeError(metrics)

    def note(metrics):
        with lock:
            seen.append(metrics)

    with ScoringEngine(Environment("s", stage, TASKS), observers=[broken, note]) as engine:
        list(engine.evaluate_many([("1?", "1"), ("1?", "1"), ("1?", "break")]))
        list(engine.evaluate_many([("1?", "0")]))
        whole = engine.metrics()
    names = ("batches", "verified", "repeated", "unscored", "queued", "verifier_bound")
    assert [[numbers[name] for name in names] for numbers in seen] == [
        [1, 2, 1, 1, 0, 0], [1, 1, 0, 0, 0, 0]
    ]  # fmt: skip
    assert (seen[0]["unscored_share"], seen[0]["hit_rate"]) == (1 / 3, 0.0)
    assert whole["responses"] == 4
    assert whole["per_second"] == 4 / whole["seconds"]
    assert 0 < whole["busy"] == whole["stage_seconds/counting"] / whole["seconds"] < 1
    assert seen[0].keys() == seen[1].keys() == whole.keys()
    assert all(isinstance(value, (int, float)) for value in whole.values())


def test_an_observer_may_ask_the_engine():
    told = []

    def ask(numbers):
        told.append(numbers["batches"])
        if len(told) == 1:
            told.extend(v.value for v in engine.evaluate_many([(TASKS[1], "other")]))

    passes = rlenv.stage(where="inline")(lambda response: 1.0)
    with ScoringEngine(Environment("e", passes), observers=[ask]) as engine:
        thread = Thread(target=lambda: list(engine.evaluate_many([(TASKS[1], "1")])), daemon=True)
        thread.start()
        thread.join(20)
    assert told == [1, 1, 1.0]


def test_stages_in_a_composite_are_counted_by_themselves():
    both = rlenv.AllOf([rlenv.Slot("a", Counting()), rlenv.Slot("b", Counting())])
    with ScoringEngine(Environment("e", [rlenv.Slot("tests", both)])) as engine:
        engine.verify(TASKS[1], "1")
        names = [name for name in engine.metrics() if name.startswith("stage_seconds/")]
    assert names == ["stage_seconds/tests/a", "stage_seconds/tests/b"]


def test_an_engine_leaves_no_hook_behind(stage, monkeypatch):
    hooks = []
    monkeypatch.setattr(os, "register_at_fork", lambda **given: hooks.append(given))
    gc.freeze()  # what other tests left behind, as open sockets, is not collected here
    try:
        engine = ScoringEngine(Environment("sums", stage, TASKS))
        assert (hooks, engine in scoring.ENGINES) == ([], True)

        known = weakref.ref(engine)
        del engine
        gc.collect()
        assert known() is None
    finally:
        gc.unfreeze()


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="needs an affinity mask")
def test_an_engine_counts_the_processors_that_it_may_use(stage):
    with ScoringEngine(Environment("sums", stage)) as engine:
        assert engine.metrics()["workers"] == usable_cpus()
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(allowed)})
    try:
        with ScoringEngine(Environment("sums", stage)) as engine:
            assert engine.metrics()["workers"] == 1
        assert "on 1 cores" in advice(9.0, {"s": 8.0}, ["s"], 1, 5.0)
    finally:
        os.sched_setaffinity(0, allowed)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_scores_by_itself(engine):
    list(engine.evaluate_many([("1?", "1")]))
    engine.submit("1?", "1").result()
    with engine._recorder._lock:
        if (child := os.fork()) == 0:
            scored = [v.value for v in engine.evaluate_many([("1?", "1")])]
            os._exit(7 if [*scored, engine.submit("1?", "0").result(20).value] == [1.0, 0.0] else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7


class Elsewhere:
    """Evaluates rows in this process, as an executor of a cluster would on another machine."""

    def evaluate(self, env, rows):
        return enumerate(env.evaluate(row.task, row.response) for row in rows)


def test_the_workers_of_an_engine_take_no_part_where_a_call_evaluates_elsewhere():
    with ScoringEngine(Environment("sums", Counting(), TASKS), workers=2) as engine:
        task = TASKS[1]
        assert [v.value for v in engine.evaluate_many([(task, task.answer)], on=Elsewhere())] == [
            1.0
        ]
        with pytest.raises(ConfigError, match="None beside on="):
            list(engine.evaluate_many([(task, "1")], workers=1, on=Elsewhere()))
