"""``agent/turns`` and the credit of turns."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rlenv import ConfigError, Environment, Task, TaskError, Trajectory
from rlenv.authoring import StageTables
from rlenv_plugin_agent.rollouts.credit import returns, reward_to_go
from rlenv_plugin_agent.stages.turns import Turns

SCORES = st.lists(st.floats(0, 1), min_size=1, max_size=12)
TASK = Task("p", "right", id="t")
EQUAL = StageTables([{"use": "core/equal"}])


def talk(*said: str) -> Trajectory:
    messages: list[dict[str, object]] = [{"role": "user", "content": "p"}]
    for each in said:
        messages += [
            {"role": "assistant", "content": each},
            {"role": "tool", "content": "right", "tool_call_id": "a"},
        ]
    return Trajectory(messages)


def steps(stage: Turns, *said: str) -> tuple[float | None, object]:
    with Environment("turns", stage) as env:
        verdict = env.evaluate(TASK, talk(*said))
        outcome = verdict.results[0].outcome
        return verdict.value, None if outcome is None else outcome.steps


def test_every_turn_is_judged_as_the_conversation_was_then() -> None:
    assert steps(Turns(EQUAL), "wrong", "right", "right") == (2 / 3, ((0, 0.0), (1, 1.0), (2, 1.0)))


def test_every_nth_turn_and_the_last_are_judged() -> None:
    said = ["wrong", "right", "wrong", "right", "wrong"]

    assert steps(Turns(EQUAL, every=2), *said) == (2 / 3, ((1, 1.0), (3, 1.0), (4, 0.0)))
    assert steps(Turns(EQUAL, every=9), *said) == (0.0, ((4, 0.0),))


def test_a_long_conversation_is_judged_at_its_last_turns() -> None:
    _, found = steps(Turns(EQUAL), *["wrong"] * 200)

    assert isinstance(found, tuple)
    assert [turn for turn, _ in found] == [*range(136, 200)]


def test_a_conversation_without_turns_earns_nothing() -> None:
    assert steps(Turns(EQUAL)) == (0.0, ())


def test_a_judge_judges_every_turn() -> None:
    judge = {"use": "judge/reference", "options": {"judge": {"transport": "judge/scripted"}}}
    with Environment("turns", Turns(StageTables([judge]))) as env:
        verdict = env.evaluate(Task("Capital of Peru?", "Lima"), talk("I think.", "Lima"))
        outcome = verdict.results[0].outcome

    assert outcome is not None
    assert outcome.steps is not None
    assert [turn for turn, _ in outcome.steps] == [0, 1]
    assert outcome.steps[0][1] < outcome.steps[1][1]


def test_a_task_without_what_the_stages_use_is_rejected() -> None:
    with Environment("turns", Turns(EQUAL)) as env, pytest.raises(TaskError, match=r"task\.answer"):
        env.evaluate(Task("p", None), talk("x"))


def test_a_judge_that_breaks_is_no_zero() -> None:
    judge = {
        "use": "judge/reference",
        "options": {
            "judge": {
                "base_url": "http://127.0.0.1:9/v1",
                "model": "m",
                "key_env": "",
                "timeout": 1,
                "retries": {"times": 0},
            }
        },
    }
    with Environment("turns", Turns(StageTables([judge]))) as env:
        assert env.evaluate(TASK, talk("right, I think")).value is None


@pytest.mark.parametrize(
    "options", [{"every": 0}, {"stages": []}, {"stages": [{"use": "core/none"}]}]
)
def test_options_that_make_no_sense_are_told(options: dict[str, object]) -> None:
    table = {"use": "agent/turns", "options": {"stages": EQUAL, **options}}

    with pytest.raises(ConfigError):
        Environment.from_dict({"name": "x", "stage": [table]})


@given(SCORES, st.floats(0, 1))
def test_returns_are_the_sums_of_what_follows(scores: list[float], gamma: float) -> None:
    found = returns([*enumerate(scores)], len(scores), gamma)

    for t in range(len(scores)):
        assert found[t] == pytest.approx(sum(gamma**k * r for k, r in enumerate(scores[t:])))


@given(SCORES, st.floats(0, 1))
def test_a_reward_to_go_is_a_score(scores: list[float], gamma: float) -> None:
    found = reward_to_go([*enumerate(scores)], len(scores), gamma)

    assert all(-1e-9 <= each <= 1 + 1e-9 for each in found)
    assert min(scores) - 1e-9 <= found[0] <= max(scores) + 1e-9


def test_env_toml_names_the_stages() -> None:
    table = {"use": "agent/turns", "options": {"stages": EQUAL, "every": 2}}
    with Environment.from_dict(json.loads(json.dumps({"name": "x", "stage": [table]}))) as env:
        assert env.evaluate(TASK, talk("wrong", "right")).value == 1.0


# -- stages of files -------------------------------------------------------------------------------

OF_FILE = """
name = "turns"
[[stage]]
use = "agent/turns"
options = { stages = [{ use = "./own.py:good" }] }
"""


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An env.toml with a stage of a file next to it, and a working directory that has another file
    of that name.
    """
    for name, score in (("env", 1.0), ("cwd", 0.0)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "own.py").write_text(f"def good(visible):\n    return {score}\n")
    (tmp_path / "env" / "env.toml").write_text(OF_FILE)
    monkeypatch.chdir(tmp_path / "cwd")
    return tmp_path / "env" / "env.toml"


def test_stages_of_files_are_those_next_to_the_env_toml(elsewhere: Path) -> None:
    with Environment.from_file(elsewhere) as env:
        assert env.evaluate(TASK, talk("x")).value == 1.0
        before = env.fingerprint
    (elsewhere.parent / "own.py").write_text("def good(visible):\n    return 0.5\n")
    with Environment.from_file(elsewhere) as env:
        assert env.fingerprint != before


def test_a_stage_of_a_missing_file_is_told_with_its_place(elsewhere: Path) -> None:
    (elsewhere.parent / "own.py").unlink()
    with pytest.raises(ConfigError, match=r"stage\[0\]\.options.*own\.py: there is no"):
        Environment.from_file(elsewhere)


def test_a_stranger_names_no_code_in_the_stages_of_a_stage(elsewhere: Path) -> None:
    with pytest.raises(ConfigError, match="code=False"):
        Environment.from_file(elsewhere, code=False)
    elsewhere.write_text(OF_FILE.replace("./own.py:good", "core/equal"))
    with Environment.from_file(elsewhere, code=False) as env:
        assert env.evaluate(TASK, talk("right")).value == 1.0
