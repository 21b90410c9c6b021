"""Verdicts that must not be used again: of another member, of chance, of a budget, and of what has
no fingerprint.
"""

from __future__ import annotations

import json

import attrs
import pytest
import rlenv
from hypothesis import given
from hypothesis import strategies as st
from rlenv import ConfigError, Environment, Outcome, Task, Trajectory
from rlenv_train import EnvironmentGroup, ScoringEngine
from rlenv_train.scoring.reuse import key_of
from scoring_runs import run

TASK = Task("1?", answer="1", id="t")
SAID = {"role": "assistant", "content": "1"}


class Short:
    """Passes a response of less than so many characters."""

    where = "inline"

    def __init__(self, limit):
        self._limit = limit

    def check(self, attempt):
        return Outcome(float(len(attempt.response) < self._limit))


class Slotted(Short):
    __slots__ = ("_limit",)


class Sampled:
    """Another score each time."""

    where = "inline"
    deterministic = False

    def __init__(self):
        self.asked = 0

    def check(self, attempt):
        self.asked += 1
        return Outcome(1 / self.asked)


class Opaque:
    pass


def iter_of_a_generator():
    yield 1


@attrs.frozen
class Held:
    part: object
    where = "inline"

    def check(self, attempt):
        return Outcome(1.0)


def test_a_member_of_a_group_gets_no_verdict_of_another():
    members = {f"at-{n}": Environment("e", Short(n), [TASK]) for n in (1, 100)}
    with ScoringEngine(EnvironmentGroup(members)) as engine:
        rows = [("at-1/t", None, "long"), ("at-100/t", None, "long"), ("at-100/t", None, "long")]
        assert [v.value for v in engine.evaluate_many(rows)] == [0.0, 1.0, 1.0]
        assert engine.metrics()["repeated"] == 1


@pytest.mark.parametrize(
    "wrap",
    [
        lambda env: EnvironmentGroup({"o": EnvironmentGroup({"a": env})}),
        lambda env: ScoringEngine(EnvironmentGroup({"a": env})),
    ],
)
def test_stages_in_a_group_of_groups_are_asked_whether_they_vary(wrap, tmp_path):
    env = wrap(Environment("e", Sampled(), [TASK]))
    with ScoringEngine(env) as engine:
        rows = [(env.tasks[0], "1")] * 3
        assert [v.value for v in engine.evaluate_many(rows)] == [1.0, 1 / 2, 1 / 3]
    with pytest.raises(ConfigError, match="sampled is not deterministic"):
        ScoringEngine(env, cache=tmp_path / "verdicts.sqlite")


def test_a_verdict_that_may_come_out_otherwise_is_not_repeated():
    asked = []

    @rlenv.stage(where="inline")
    def spent(response):
        asked.append(response)
        return Outcome(0.0, "undecided: takes more") if len(asked) == 1 else Outcome(1.0)

    with ScoringEngine(Environment("e", spent)) as engine:
        assert [v.value for v in engine.evaluate_many([(TASK, "1")] * 3)] == [0.0, 1.0, 1.0]


def test_token_ids_make_no_other_response(path):
    told = [rlenv.Trajectory([SAID], [rlenv.Tokens([1], [at])]) for at in range(3)]
    verdicts, numbers = run(path, [[SAID], *told, rlenv.Trajectory([SAID, SAID])])
    assert [v.value for v in verdicts] == [1.0] * 5
    assert numbers["repeated"] == 3
    assert run(path, told)[1]["cached"] == 3


def test_what_is_no_row_or_response_shares_no_verdict():
    rows = [(TASK, [SAID]), (TASK, iter([SAID])), (TASK, {"role": 1}), ("1", "1"), "11"]
    env = Environment("e", rlenv.stage(where="inline")(lambda response: 1.0), [Task("1")])
    with ScoringEngine(env) as engine:
        values = [v.value for v in engine.evaluate_many(rows)]
    assert values == [1.0, None, None, 1.0, None]


@pytest.mark.parametrize("make", [Short, Slotted], ids=["private", "slots"])
def test_verdicts_of_two_settings_are_kept_apart_whatever_attribute_holds_them(path, make):
    for limit, value in ((1, 0.0), (9, 1.0)):
        verdicts, _ = run(path, ["four"], rlenv.Slot("it", make(limit)))
        assert [v.value for v in verdicts] == [value]
    assert run(path, ["four"], rlenv.Slot("it", make(9)))[1]["cached"] == 1


def test_a_stage_that_holds_an_object_whose_state_cannot_be_seen_has_no_cache(path):
    with pytest.raises(ConfigError, match=r"it\.part is an object of"):
        run(path, ["1"], rlenv.Slot("it", Held(iter_of_a_generator())))
    run(path, ["1"], Held(("plain", 1, None, Opaque)))


def test_a_stage_of_a_function_in_a_file_is_cached_by_the_file(path, tmp_path):
    stage = {"use": "train/verl", "options": {"function": "./reward.py:score"}}
    for score in (1.0, 0.5, 1.0):
        named = "data_source, solution_str, ground_truth, extra_info"
        (tmp_path / "reward.py").write_text(f"def score({named}):\n    return {score}\n")
        env = Environment.from_dict({"name": "e", "stage": [stage]}, base_dir=tmp_path)
        with ScoringEngine(env, cache=path) as engine:
            assert engine.verify(TASK, "1") == score
            numbers = engine.metrics()
    assert numbers["cached"] == 1


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
        lambda v: st.lists(v) | st.dictionaries(st.text(), v),
        max_leaves=6,
    )
)
def test_a_copy_of_a_task_has_its_key(value):
    """However the copy shares its parts: here each part is an object of its own."""
    info = {"a": value, "b": [value, value]}
    copy = json.loads(json.dumps(info))
    keys = {key_of("f", "k", Task("p", "p", each), "p") for each in (info, copy)}
    assert len(keys) == 1
    assert keys != {None}
    assert key_of("f", "k", Task("p", "p", info), "q") not in keys


def test_a_trajectory_with_artifacts_has_no_key() -> None:
    assert key_of("f", "k", Task("p"), Trajectory([SAID])) is not None
    assert key_of("f", "k", Task("p"), Trajectory([SAID], artifacts=(Task("p"),))) is None
