"""``verl_score`` without verl: the same keys for each response, and what it does without a
score.
"""

from __future__ import annotations

import asyncio
import inspect
import logging

import pytest
import rlenv
from rlenv import ConfigError, Environment, Slot, Task, TaskError, VerifierFault
from rlenv_train import EnvironmentGroup, verl_score
from train_cases import GOLD, Longest, right, short

KEYS = {"score", "unscored", "fault", "stage/right", "stage/short"}


@pytest.fixture
def env():
    with Environment("sums", [Slot("right", right, gate=1), Slot("short", short)]) as made:
        yield made


def call(score, solution, gold="2", **info):
    return asyncio.run(
        score(
            data_source="x",
            solution_str=solution,
            ground_truth=gold,
            extra_info=info,
            reward_router_address=None,
        )
    )


def test_every_response_has_the_same_keys(env):
    score = verl_score(env, unscored=-1.0)

    assert call(score, "2") == {
        "score": 1.0,
        "unscored": 0.0,
        "fault": "",
        "stage/right": 1.0,
        "stage/short": 1.0,
    }
    assert call(score, "3") == {
        "score": 0.0,
        "unscored": 0.0,
        "fault": "",
        "stage/right": 0.0,
        "stage/short": 0.0,
    }
    assert call(score, "break") == {
        "score": -1.0,
        "unscored": 1.0,
        "fault": "error",
        "stage/right": 0.0,
        "stage/short": 0.0,
    }


def test_the_keys_of_a_group_are_the_stages_of_its_members(env):
    task = Task("Go.", info={"environment": "b"})
    both = EnvironmentGroup({"a": env, "b": Environment("b", [Slot("other", short)], [task])})

    assert call(verl_score(both), "2", prompt="Go.") == {
        "score": 1.0,
        "unscored": 0.0,
        "fault": "",
        "stage/right": 0.0,
        "stage/short": 0.0,
        "stage/other": 1.0,
    }


def test_it_is_a_function_that_verl_awaits(env):
    assert inspect.iscoroutinefunction(verl_score(env))


def test_the_environment_s_own_tasks_are_found_by_id_or_prompt():
    with Environment("sums", [right], [Task("1+1=", answer="2", id="a")]) as env:
        assert call(verl_score(env), "2", None, id="a")["score"] == 1.0
        assert call(verl_score(env), "2", None, prompt="1+1=")["score"] == 1.0
        chat = [{"role": "user", "content": "1+1="}]
        assert call(verl_score(env, prompt="question"), "2", None, question=chat)["score"] == 1.0


def test_the_extra_info_is_the_task_s_info():
    @rlenv.stage(where="inline")
    def known(response, prompt, info):
        return (prompt, info["level"]) == ("Go.", 3)

    with Environment("x", [known]) as env:
        assert call(verl_score(env), "2", prompt="Go.", level=3)["score"] == 1.0


def test_a_row_without_a_task_is_raised_first_and_unscored_later(env):
    score = verl_score(env)
    with pytest.raises(TaskError, match=r"task\.answer, which is missing"):
        call(score, "2", None)
    call(score, "2")

    assert call(score, "2", None)["fault"] == "input"


def test_a_response_of_several_turns_is_an_error_that_names_the_remedy(env):
    assert call(verl_score(env), "2", num_turns=2)["score"] == 1.0
    with pytest.raises(ConfigError, match="use verl_rollout in the agent loop"):
        call(verl_score(env), "2", num_turns=4)


def test_a_run_without_any_score_ends(env):
    score = verl_score(env, patience=2)
    call(score, "break")
    with pytest.raises(VerifierFault, match="last 2"):
        call(score, "break")


def test_no_log_and_no_extra_shows_the_answer(env, caplog):
    caplog.set_level(logging.DEBUG)
    assert GOLD not in str(call(verl_score(env), "break", GOLD)) + caplog.text


def test_a_stage_that_compares_is_an_error_at_construction():
    wanted = r"longest: compares .* verl gives one at a time"
    with Environment("best", [Longest()]) as env, pytest.raises(ConfigError, match=wanted):
        verl_score(env)


@pytest.mark.parametrize("name", ["unscore", "groups", "takes_groups", "who", "env"])
def test_an_option_that_it_does_not_have_raises(env, name):
    with pytest.raises(TypeError, match=name):
        verl_score(env, **{name: True})
