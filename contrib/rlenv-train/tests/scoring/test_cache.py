"""The cache of verdicts: a hit is the miss, and what may differ next time is verified again."""

from __future__ import annotations

import asyncio
from functools import partial
from threading import Event

import pytest
import rlenv
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rlenv import AnyOf, ConfigError, Environment, Outcome, Task
from rlenv_cli.scores import verdict_to_dict
from rlenv_train import EnvironmentGroup, ScoringEngine
from scoring_runs import ASKED, TASK, run, scored, stored, whole


def test_the_next_run_finds_the_verdicts_of_this_one(path):
    first, before = run(path, ["1", "half", "0", "1"])
    again, after = run(path, ["1", "half", "0", "2"])

    assert [whole(v) for v in again[:3]] == [whole(v) for v in first[:3]]
    assert again[0].results[0].outcome.private == {"gold": "1"}
    assert (before["cached"], after["cached"], after["verified"]) == (0, 3, 1)
    assert after["hit_rate"] == 0.75
    assert ASKED == ["1", "half", "0", "2"]


def test_all_ways_of_asking_share_the_file(path):
    with ScoringEngine(Environment("e", scored, [TASK]), cache=path) as engine:
        one = engine.evaluate(TASK, "1")
        assert asyncio.run(engine.aevaluate("1?", "1")) == one
        assert engine.submit(TASK, "1").result() == one
        assert list(engine.evaluate_many([("t", None, "1")])) == [one]
        assert engine.metrics()["cached"] == 3
    with ScoringEngine(Environment("e", scored), cache=path) as engine:
        assert asyncio.run(engine.aevaluate(TASK, "1")) == one
    assert ASKED == ["1"]


texts = st.text(st.characters(exclude_categories=[]), max_size=5)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda v: st.lists(v) | st.dictionaries(texts, v),
    max_leaves=5,
)


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    return tmp_path_factory.mktemp("cache") / "verdicts.sqlite"


@rlenv.stage(where="inline")
def mirrored(response, info):
    return Outcome(info["score"], response, {"said": info["data"]}, private={"kept": info["data"]})


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(texts, values, st.floats(0, 1), texts)
def test_a_hit_is_the_miss(shared, prompt, data, score, response):
    rows = [(Task(prompt, info={"score": score, "data": data}), response)]
    env = Environment("m", mirrored)
    alone = [repr(verdict_to_dict(evolved(v))) for v in env.evaluate_many(rows)]
    for _ in range(2):
        with ScoringEngine(env, cache=shared) as engine:
            assert [repr(verdict_to_dict(evolved(v))) for v in engine.evaluate_many(rows)] == alone


def evolved(verdict):
    """Without what the clock says."""
    import attrs

    results = tuple(attrs.evolve(result, seconds=0.0) for result in verdict.results)
    return attrs.evolve(verdict, results=results)


def test_a_verdict_is_stored_as_it_was_given(path):
    def changed(engine, response):
        """A verdict that its caller changes; ``kept`` is what it was."""
        verdict = engine.evaluate(TASK, response)
        kept = whole(verdict)
        outcome = verdict.results[0].outcome
        outcome.data["x"].append("more")
        outcome.private.clear()
        return kept

    with ScoringEngine(Environment("e", scored), cache=path) as engine:
        gate = Event()
        engine._file._thread.submit(gate.wait, 20)  # nothing is written yet
        kept = [changed(engine, response) for response in ("1", "1", "0")]
        assert engine.metrics()["cached"] == 1
        gate.set()
    again, numbers = run(path, ["1", "0"])

    assert kept == [whole(again[0]), *map(whole, again)]
    assert numbers["cached"] == 2


def test_a_conversation_is_found_again(path):
    talk = [{"role": "user", "content": "1?"}, {"role": "assistant", "content": "1"}]
    first, _ = run(path, [talk])
    again, numbers = run(path, [rlenv.Trajectory(talk), [*talk, talk[1]]])

    assert again[0] == first[0]
    assert numbers["cached"] == 1


def test_what_may_differ_next_time_is_not_stored(path):
    @rlenv.stage(where="inline")
    def undecided(response):
        data = {"near": {"cpu_seconds": 0.9, "budget": 1.0}, "how": {"how": "undecided"}}
        return Outcome(
            0.0, "undecided: takes more" if response == "spent" else "", data.get(response, {})
        )

    for verifier, responses in (
        (scored, ["break", "later"]),
        (AnyOf([scored, lambda response: 1.0]), ["break"]),
        (undecided, ["spent", "near", "how"]),
    ):
        first, _ = run(path, responses, verifier)
        again, numbers = run(path, responses, verifier)
        assert [v.value for v in again] == [v.value for v in first]
        assert (numbers["cached"], numbers["verified"]) == (0, len(responses))


def test_a_budget_that_ran_out_is_not_stored(path):
    @rlenv.stage(budget=0.05, default_timeout=2)
    def spin(response):
        while response == "spin":
            pass
        return 1.0

    assert [v.value for v in run(path, ["spin", "stop"], spin)[0]] == [0.0, 1.0]
    assert len(stored(path)) == 1


def test_a_stage_that_varies_is_cached_only_by_name(path):
    @rlenv.stage(where="inline", deterministic=False)
    def sampled(response):
        ASKED.append(response)
        return len(ASKED) / 10

    with pytest.raises(
        ConfigError, match=r"cache: sampled is not deterministic; reuse=\('sampled',\)"
    ):
        run(path, ["1"], sampled)
    first, _ = run(path, ["1"], sampled, reuse=("sampled",))
    again, _ = run(path, ["1"], sampled, reuse=("sampled",))
    assert first == again


class Least:
    def __init__(self, length):
        self.length = length

    def check(self, attempt):
        return Outcome(float(len(attempt.response) >= self.length))


def longer(least):
    def long_enough(response):
        return len(response) >= least.length

    return long_enough


def more(response, least=Least(3)):  # noqa: B008 - nothing changes it
    return len(response) >= least.length


class Callable:
    def __init__(self, length):
        self._length = length

    def __call__(self, response):
        return len(response) >= self._length


HOLDERS = {
    "closure": lambda length: longer(Least(length)),
    "default": lambda length: partial(more, least=Least(length)),
    "object": Callable,
    "method": lambda length: Callable(length).__call__,
}


HELD = pytest.mark.slow  # three runs each with workers, as for a closure


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=[HELD] * (kind != "closure")) for kind in HOLDERS]
)
def test_functions_that_hold_objects_are_cached_by_what_these_hold(path, kind):
    for length, value in ((1, 1.0), (5, 0.0)):
        stage = rlenv.Slot("mine", HOLDERS[kind](length))
        assert [v.value for v in run(path, ["abc"], stage)[0]] == [value]
    stage = rlenv.Slot("mine", HOLDERS[kind](5))
    assert run(path, ["abc"], stage)[1]["cached"] == 1


def at_least(length):
    def long_enough(response):
        return len(response) >= length

    return rlenv.stage(where="inline")(long_enough)


def test_plain_values_that_a_function_holds_are_in_its_fingerprint(path):
    for length, value in ((1, 1.0), (5, 0.0)):
        assert [v.value for v in run(path, ["abc"], at_least(length))[0]] == [value]
    assert run(path, ["abc"], at_least(5))[1]["cached"] == 1


def test_another_configuration_finds_nothing(path):
    stage = {"use": "core/equal", "options": {"strip": True}}
    other = {"use": "core/equal", "options": {"strip": False}}
    for stages, more in (
        ([stage], {}),
        ([other], {}),
        ([stage], {"pass_mark": 0.5}),
        ([stage, other], {}),
    ):
        env = Environment.from_dict({"name": "e", "stage": stages, **more})
        with ScoringEngine(env, cache=path) as engine:
            assert engine.verify(TASK, "1") == 1.0
            assert engine.metrics()["cached"] == 0


def test_an_edited_function_is_asked_again(path, tmp_path):
    (tmp_path / "env.toml").write_text('name = "e"\n[[stage]]\nuse = "./reward.py:reward"\n')
    for score in (1.0, 0.5, 1.0):
        (tmp_path / "reward.py").write_text(f"def reward(response):\n    return {score}\n")
        with ScoringEngine(tmp_path / "env.toml", cache=path) as engine:
            assert engine.verify(TASK, "1") == score
            numbers = engine.metrics()
    assert numbers["cached"] == 1


def test_another_secret_finds_nothing(path, monkeypatch):
    monkeypatch.setenv("RLENV_SECRET", "one" * 20)
    run(path, ["1"])
    monkeypatch.setenv("RLENV_SECRET", "two" * 20)
    assert run(path, ["1"])[1]["cached"] == 0
    monkeypatch.setenv("RLENV_SECRET", "one" * 20)
    assert run(path, ["1"])[1]["cached"] == 1


def test_the_task_of_a_member_decides_in_a_group(path):
    """A group gives a member its own task, whatever answer the caller's has."""
    for answer, value in (("1", 1.0), ("2", 0.0)):

        @rlenv.stage(where="inline")
        def equal(response, answer):
            return response == answer

        own = Environment("a", equal, [Task("1?", answer, id="t")])
        with ScoringEngine(EnvironmentGroup({"a": own}), cache=path) as engine:
            given = Task("1?", "any", {"environment": "a"}, id="a/t")
            assert engine.verify(given, "1") == value
