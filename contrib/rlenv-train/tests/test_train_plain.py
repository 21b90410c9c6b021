"""Adapters for trainers that call a function by its signature: OpenRLHF, slime, AReaL, NeMo Gym."""

from __future__ import annotations

import asyncio
import inspect
import json
import math
import pickle
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from types import SimpleNamespace

import pytest
from rlenv import ConfigError, Environment, Slot, TaskError, VerifierFault, stage
from rlenv_train import areal_reward, nemo_gym_verify, openrlhf_reward, slime_reward, verl_score
from train_cases import GOLD, Longest, right


@stage(where="inline")
def is_digit(response):
    if response == "b":
        raise ConnectionError("a verifier that fails")
    return response.isdigit()


# -- OpenRLHF: reward_func(queries, prompts, labels) -> {"rewards", "scores", "extra_logs"} --------


@pytest.fixture
def torch(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(tensor=lambda value: value))


@pytest.mark.usefixtures("torch")
def test_openrlhf_gets_the_response_behind_its_prompt(env):
    found = openrlhf_reward(env, unscored=-1.0)(
        ["<s>1+1=2", "1+1=3", "1+1=break"], ["1+1="] * 3, ["2"] * 3
    )

    assert found["rewards"] == found["scores"] == [1.0, 0.0, -1.0]
    logs = found["extra_logs"]
    assert (logs["reward"], logs["stage/right"]) == (0.5, 0.5)
    assert logs["unscored"] == logs["fault/error"] == pytest.approx(1 / 3)


@pytest.mark.usefixtures("torch")
def test_openrlhf_logs_the_same_names_for_each_response():
    """OpenRLHF takes the names of the first sample for all: one more or less ends the run."""
    slots = [Slot("is_digit", is_digit, gate=1.0), Slot("right", right)]
    with Environment("gated", slots) as gated:
        reward = openrlhf_reward(gated, unscored=-1.0)
        logs = [reward([f"a:{t}"], ["a:"], ["2"])["extra_logs"] for t in ("2", "3", "two", "b")]

    assert len({frozenset(each) for each in logs}) == 1
    assert [each["stage/right"] for each in logs] == [1.0, 0.0, 0.0, 0.0]  # not run behind a gate
    assert [each["unscored"] for each in logs] == [0.0, 0.0, 0.0, 1.0]
    assert logs[-1]["reward"] == -1.0


@pytest.mark.usefixtures("torch")
def test_a_query_without_its_prompt_is_not_a_response(env):
    with pytest.raises(TaskError, match="lacks its prompt"):
        openrlhf_reward(env)(["1 + 1 = 2"], ["1+1="], ["2"])


@pytest.mark.usefixtures("torch")
def test_openrlhf_ends_without_any_score(env):
    reward = openrlhf_reward(env, patience=2)
    reward(["a:break"], ["a:"], ["2"])
    with pytest.raises(VerifierFault, match="error at right"):
        reward(["a:break"], ["a:"], ["2"])


# -- slime: await custom_rm(args, sample), or of a group -------------------------------------------


def sample(response, label="2", **metadata):
    return SimpleNamespace(
        prompt="1+1=", response=response, label=label, metadata=metadata, remove_sample=False
    )


def slime(reward, given):
    return asyncio.run(reward(None, given, evaluation=False))


def test_slime_removes_an_unscored_sample(env):
    broken = sample("break")
    good = sample("2")
    reward = slime_reward(env, unscored=-1.0)

    assert (slime(reward, good), good.remove_sample) == (1.0, False)
    assert (slime(reward, broken), broken.remove_sample) == (-1.0, True)


def test_in_a_group_of_slime_an_unscored_sample_does_not_move_the_mean(env):
    group = [sample(text) for text in ("2", "3", "break", "3")]

    assert slime(slime_reward(env), group) == pytest.approx([1.0, 0.0, 1 / 3, 0.0])
    assert [each.remove_sample for each in group] == [False, False, True, False]


def test_what_slime_removed_stays_removed(env):
    before = sample("2")
    before.remove_sample = True
    slime(slime_reward(env), before)

    assert before.remove_sample is True


def test_a_stage_that_compares_needs_a_group_of_slime():
    with Environment("longest", [Longest()]) as env:
        assert slime(slime_reward(env), [sample("a"), sample("aa")]) == [0.0, 1.0]
        with pytest.raises(ConfigError, match="the batch holds 1"):
            slime(slime_reward(env), sample("a"))


def test_a_sample_of_slime_without_a_task_is_raised_first_and_unscored_later(env):
    reward = slime_reward(env)
    with pytest.raises(ConfigError, match=r"task\.answer, which is missing"):
        slime(reward, sample("2", None))
    slime(reward, sample("2"))
    lost = sample("2", None)

    assert (slime(reward, lost), lost.remove_sample) == (0.0, True)


# -- AReaL: reward_fn(prompt, completions, prompt_ids, completion_ids, **data) in a process pool
# ------

TOML = """
name = "exact"
[[stage]]
use = "./reward.py:right"
"""
CODE = """
def right(response, answer, info):
    if response == "break":
        raise RuntimeError("broken")
    return response == answer and info["level"] == 3
"""


@pytest.fixture
def path(tmp_path):
    (tmp_path / "env.toml").write_text(TOML)
    (tmp_path / "reward.py").write_text(CODE)
    return str(tmp_path / "env.toml")


def test_areal_calls_it_in_another_process(path):
    reward = areal_reward(path, answer="gold", unscored=-1.0)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        rows = [
            partial(reward, "1+1=", text, [1], [2], gold="2", level=3)
            for text in ("2", "3", "break")
        ]
        assert [pool.submit(row).result(timeout=60) for row in rows] == [1.0, 0.0, -1.0]


def test_areal_s_copies_in_one_process_are_one(path):
    reward = areal_reward(path)

    assert pickle.loads(pickle.dumps(reward)) is reward


def test_areal_needs_a_path(env):
    with pytest.raises(ConfigError, match="give its path"):
        areal_reward(env)


def test_the_signatures_are_those_that_the_trainers_call(env, path):
    names = {
        "queries prompts labels _": openrlhf_reward(env),
        "args sample _": slime_reward(env),
        "prompt completions prompt_ids completion_ids data": areal_reward(path),
    }

    assert {" ".join(inspect.signature(f).parameters): f for f in names.values()} == names
    assert inspect.iscoroutinefunction(slime_reward(env))


@pytest.mark.parametrize("make", [openrlhf_reward, slime_reward, nemo_gym_verify, verl_score])
@pytest.mark.parametrize("unscored", [math.nan, math.inf, -math.inf, 1e39])
def test_a_number_that_spoils_a_group_cannot_mean_unscored(env, make, unscored):
    with pytest.raises(ConfigError, match="unscored is a finite number"):
        make(env, unscored=unscored)


# -- NeMo Gym: POST /verify ------------------------------------------------------------------------


def body(text, **more):
    output = [
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": GOLD}]},
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": text, "annotations": []}],
        },
    ]
    asked = {"input": [{"role": "user", "content": "1+1="}]}
    return {"responses_create_params": asked, "response": {"output": output}, **more}


def verified(env, text, **more):
    given = body(text, **more)
    found = asyncio.run(nemo_gym_verify(env)(given))
    assert {key: found[key] for key in given} == given  # it echoes the request
    json.dumps(found)
    return {key: value for key, value in found.items() if key not in given}


def test_nemo_gym_gets_a_reward_and_its_components(env):
    assert verified(env, "2", expected_answer="2") == {
        "reward": 1.0,
        "mask_sample": False,
        "failure_reason": None,
        "reward_components": {"right": 1.0},
    }


def test_nemo_gym_masks_an_unscored_sample_and_says_why(env):
    found = verified(env, "break", expected_answer=GOLD)

    assert found == {
        "reward": 0.0,
        "mask_sample": True,
        "failure_reason": "error at right",
        "reward_components": {},
    }


def test_a_response_of_nemo_gym_without_a_message_is_empty(env):
    given = {**body("2"), "response": {"output": []}, "expected_answer": "2"}

    assert asyncio.run(nemo_gym_verify(env)(given))["reward"] == 0.0
