"""``trl_reward`` without TRL: rewards, missing rewards, metrics, columns, groups and mistakes."""

from __future__ import annotations

import asyncio
import logging
import math
import pickle
import warnings

import pytest
import rlenv
from rlenv import ConfigError, Environment, Outcome, Task, VerifierFault
from rlenv.authoring import FAULT_KINDS
from rlenv_train import trl_reward
from train_cases import GOLD, Longest, right, short


class Trainer:
    """What a reward function sees of TRL's trainer."""

    num_generations = 2

    def __init__(self, *functions):
        self.reward_funcs = list(functions)
        self.logged = {}

    def log_metric(self, name, value):
        self.logged[name] = value


def call(reward, completions, trainer=None, **columns):
    prompts = columns.pop("prompts", ["1+1="] * len(completions))
    given = {"trainer_state": object(), "log_extra": print, **columns}
    if trainer is not None:
        given["log_metric"] = trainer.log_metric
    return asyncio.run(reward(prompts=prompts, completions=completions, completion_ids=[], **given))


def answers(*found):
    return {"answer": list(found)}


def test_an_unscored_response_has_no_reward(env):
    assert call(trl_reward(env), ["2", "3", "break"], **answers("2", "2", "2")) == [1.0, 0.0, None]


def test_conversations_are_judged_by_what_the_policy_said(env):
    prompts = [[{"role": "system", "content": "Add."}, {"role": "user", "content": "1+1="}]]
    completions = [[{"role": "assistant", "content": "2"}]]

    assert call(trl_reward(env), completions, prompts=prompts, **answers("2")) == [1.0]


def test_a_prompt_s_messages_reach_the_verifier():
    prompt = [{"role": "user", "content": "Go."}]

    def same(task):
        return task.prompt == "Go." and list(task.messages) == [{"role": "user", "content": "Go."}]

    with Environment("x", rlenv.stage(where="inline")(same)) as env:
        assert call(trl_reward(env), ["x"], prompts=[prompt]) == [1.0]


def test_any_column_is_the_answer_or_info():
    def both(response, answer, info):
        return response == f"{answer}{info['unit']}"

    with Environment("x", rlenv.stage(where="inline")(both)) as env:
        reward = trl_reward(env, answer="gold", info=["unit"])
        assert call(reward, ["2m", "2"], gold=["2", "2"], unit=["m", "m"]) == [1.0, 0.0]


def test_an_environment_finds_its_own_tasks_by_id_or_prompt():
    tasks = [Task("1+1=", answer="2", id="1"), Task("2+2=", answer="4", id="2")]
    with Environment("sums", [right], tasks) as env:
        assert call(trl_reward(env), ["2", "4"], prompts=["1+1=", "2+2="]) == [1.0, 1.0]
        assert call(trl_reward(env), ["2", "4"], id=[1, 2]) == [1.0, 1.0]
        assert call(trl_reward(env, id="key"), ["4"], key=["2"], id=["x"]) == [1.0]


def test_a_missing_column_is_reported_with_those_that_there_are(env):
    with pytest.raises(ConfigError, match="no column 'gold'; its columns are 'answer', 'level'"):
        call(trl_reward(env, answer="gold"), ["2"], answer=["2"], level=[1])
    with pytest.raises(
        ConfigError, match=r"task\.answer, which is missing; its columns are 'gold'"
    ):
        call(trl_reward(env), ["2"], gold=["2"])


def test_ids_that_no_task_has_are_reported_with_the_columns():
    wanted = r"no task has the id '7'.* its columns are 'id'"
    env = Environment("sums", [right], [Task("1+1=", answer="2", id="a")])
    with env, pytest.raises(ConfigError, match=wanted):
        call(trl_reward(env), ["2"], id=[7])


def test_a_row_without_a_task_is_unscored_next_to_others():
    with Environment("sums", [right], [Task("1+1=", answer="2", id="a")]) as env:
        assert call(trl_reward(env), ["2", "2"], id=["a", "b"]) == [1.0, None]


def test_of_an_episode_the_messages_are_judged_and_not_what_the_environment_said():
    @rlenv.stage(where="inline")
    def says(response, answer):
        return answer in response

    talk = [("user", "1+1="), ("assistant", "Tell me."), ("user", "2"), ("assistant", "Yes.")]
    messages = [{"role": role, "content": content} for role, content in talk]
    with Environment("x", [says]) as env:
        decoded = ["Tell me.2Yes."]
        assert call(trl_reward(env), decoded, rlenv_trajectory=[messages], **answers("2")) == [0.0]
        assert call(trl_reward(env), decoded, **answers("2")) == [1.0]


def test_the_mean_of_the_scores_of_steps_is_added():
    @rlenv.stage(where="inline")
    def steps(response):
        if response == "break":
            raise RuntimeError("broken")
        return Outcome(1.0, steps=[(at, float(sign == "1")) for at, sign in enumerate(response)])

    with Environment("steps", [steps]) as env:
        responses = ["1100", "1" * 9, "", "break"]
        assert call(trl_reward(env, step_weight=0.5), responses) == [1.25, 1.5, 1.0, None]
        assert call(trl_reward(env), responses) == [1.0, 1.0, 1.0, None]


@pytest.mark.parametrize("weight", [-0.1, math.nan, math.inf, 1e39])
def test_a_weight_of_steps_is_a_finite_number(env, weight):
    with pytest.raises(ConfigError, match="step_weight is a finite number, 0 or more"):
        trl_reward(env, step_weight=weight)


# -- other functions ---------------------------------------------------------------------------


def lengths(completions, **_):
    return [float(len(text)) for text in completions]


async def halves(completions, **_):
    return [0.5 for _ in completions]


def test_other_functions_are_added_with_their_weights(env):
    reward = trl_reward(env, also=[lengths, halves], weights=[2, 0.1, 1])

    assert call(reward, ["2", "33"], **answers("2", "2")) == pytest.approx([2.6, 0.7])


def test_unscored_stays_unscored_next_to_another_function(env):
    reward = trl_reward(env, also=[lengths])

    assert call(reward, ["break", "2"], **answers("2", "2")) == [None, 2.0]


@pytest.mark.parametrize("odd", [None, math.nan, math.inf, -math.inf, 1e39])
def test_what_is_not_a_number_of_a_trainer_leaves_the_row_unscored(env, odd):
    reward = trl_reward(env, also=[lambda completions, **_: [odd, 1.0]])

    assert call(reward, ["2", "2"], **answers("2", "2")) == [None, 2.0]


def test_a_function_of_weight_0_is_not_asked_whether_a_row_is_scored(env):
    reward = trl_reward(env, also=[lambda completions, **_: [None, math.nan]], weights=[1, 0])

    assert call(reward, ["2", "3"], **answers("2", "2")) == [1.0, 0.0]


def test_a_sum_too_large_for_a_trainer_is_unscored(env):
    reward = trl_reward(env, also=[lambda completions, **_: [3e38]], weights=[1, 10])

    assert call(reward, ["2"], **answers("2")) == [None]


def test_other_functions_get_what_trl_gives(env):
    seen = {}

    def other(prompts, completions, completion_ids, level, trainer_state, log_metric, **rest):
        seen.update(prompts=prompts, level=level, log=log_metric, rest=sorted(rest))
        return [0.0]

    trainer = Trainer()
    call(trl_reward(env, also=[other]), ["2"], trainer, level=[3], **answers("2"))

    assert seen == {
        "prompts": ["1+1="],
        "level": [3],
        "log": trainer.log_metric,
        "rest": ["answer", "log_extra"],
    }


@pytest.mark.parametrize("weights", [[1], [1, 2, 3], [1, math.nan]])
def test_wrong_weights_are_an_error_at_construction(env, weights):
    with pytest.raises(ConfigError, match="weights are 2 finite numbers"):
        trl_reward(env, also=[lengths], weights=weights)


def test_a_function_that_returns_too_few_rewards_is_named(env):
    def one(completions, **_):
        return [1.0]

    with pytest.raises(ValueError, match="one returned 1 rewards for 2 responses"):
        call(trl_reward(env, also=[one]), ["2", "2"], **answers("2", "2"))


# -- metrics -------------------------------------------------------------------------------------


def test_means_of_stages_and_the_share_without_a_score_are_logged(env):
    with Environment("x", [right, short]) as both:
        trainer = Trainer()
        call(
            trl_reward(both, name="r"),
            ["2", "seven", "break", "seventy"],
            trainer,
            **answers(*"2222"),
        )

    assert trainer.logged == {
        **{f"r/fault/{kind}": 0.0 for kind in FAULT_KINDS},
        "r/reward": pytest.approx((1 + 0.5 + 0) / 3),
        "r/stage/right": pytest.approx(1 / 3),
        "r/stage/short": pytest.approx(2 / 3),
        "r/unscored": 0.25,
        "r/fault/error": 0.25,
    }


def test_no_metric_is_a_nan_where_nothing_has_a_score(env):
    trainer = Trainer()
    call(trl_reward(env), ["break"], trainer, **answers("2"))

    logged = {name: value for name, value in trainer.logged.items() if value}
    assert logged == {"rlenv/unscored": 1.0, "rlenv/fault/error": 1.0}


def test_shares_of_faults_are_logged_where_there_is_none(env):
    """TRL averages a name over the batches and ranks that logged it."""
    trainer = Trainer()
    call(trl_reward(env), ["2"], trainer, **answers("2"))

    shares = {name for name in trainer.logged if name.startswith("rlenv/fault/")}
    assert shares == {f"rlenv/fault/{kind}" for kind in FAULT_KINDS}


def test_the_share_without_a_score_counts_other_functions_too(env):
    trainer = Trainer()
    call(
        trl_reward(env, also=[lambda completions, **_: [None, 1]]),
        ["2", "2"],
        trainer,
        **answers("2", "2"),
    )

    assert trainer.logged["rlenv/unscored"] == 0.5


# -- what goes wrong -----------------------------------------------------------------------------


def broken_later():
    calls = []

    def other(completions, **_):
        calls.append(1)
        if len(calls) > 1:
            raise KeyError(GOLD)
        return [0.0 for _ in completions]

    return other


def test_what_fails_at_the_first_call_is_raised(env):
    def other(completions, **_):
        raise KeyError("level")

    with pytest.raises(KeyError):
        call(trl_reward(env, also=[other]), ["2"], **answers("2"))


def test_what_fails_later_leaves_its_batch_unscored(env, caplog):
    reward = trl_reward(env, also=[broken_later()])
    call(reward, ["2"], **answers(GOLD))

    assert call(reward, ["2", "2"], Trainer(), **answers(GOLD, GOLD)) == [None, None]
    assert "KeyError" in caplog.text
    assert GOLD not in caplog.text


def test_a_run_without_any_score_ends(env):
    reward = trl_reward(env, patience=3)
    for _ in range(2):
        assert call(reward, ["break"], **answers("2")) == [None]
    with pytest.raises(VerifierFault, match=r"last 3 that were judged.*error at right"):
        call(reward, ["break"], **answers("2"))


def test_one_score_renews_the_patience(env):
    reward = trl_reward(env, patience=2)
    for response in ("break", "2", "break", "3"):
        call(reward, [response], **answers("2"))


@pytest.mark.parametrize("patience", [0, -1, 1.5, True])
def test_patience_is_a_number_of_batches(env, patience):
    with pytest.raises(ConfigError, match="1 or more"):
        trl_reward(env, patience=patience)


def test_no_log_shows_an_answer(env, caplog):
    caplog.set_level(logging.DEBUG)
    call(trl_reward(env), ["break"], Trainer(), **answers(GOLD))

    assert "error at right" in caplog.text
    assert GOLD not in caplog.text


def test_other_functions_of_the_trainer_are_warned_about(env):
    reward = trl_reward(env)
    with pytest.warns(RuntimeWarning, match=r"other reward functions \(lengths\).*also="):
        call(reward, ["2"], Trainer(reward, lengths), **answers("2"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        call(reward, ["2"], Trainer(reward, lengths), **answers("2"))  # once is enough
        call(trl_reward(env), ["2"], Trainer(), **answers("2"))


# -- groups ----------------------------------------------------------------------------------------


@pytest.fixture
def best():
    with Environment("best", [Longest()]) as made:
        yield made


def test_stages_that_compare_get_whole_groups(best):
    prompts = ["a", "a", "b", "b"]

    assert call(trl_reward(best), ["x", "xx", "xxx", "x"], Trainer(), prompts=prompts) == [
        0,
        1,
        1,
        0,
    ]


def test_groups_of_one_prompt_that_follow_each_other_are_two_groups(best):
    assert call(trl_reward(best), ["x", "xx", "xxx", "xxxx"], Trainer(), prompts=["a"] * 4) == [
        0,
        1,
        0,
        1,
    ]


@pytest.mark.parametrize("trainer", [Trainer(), None])
def test_a_part_of_a_group_is_an_error_at_the_first_call(best, trainer):
    with pytest.raises(ConfigError, match="the batch holds 1 of them"):
        call(trl_reward(best), ["x", "xx", "xxx"], trainer, prompts=["a", "a", "b"])


def test_a_batch_that_is_cut_in_the_middle_of_a_group_is_an_error(best):
    with pytest.raises(ConfigError, match="the batch holds 3 of them"):
        call(trl_reward(best), ["x", "xx", "xxx"], Trainer(), prompts=["a"] * 3)


# -- to another process ----------------------------------------------------------------------------

TOML = """
name = "exact"
[[stage]]
use = "core/equal"
"""


def test_a_reward_of_a_file_travels_to_another_process(tmp_path):
    (tmp_path / "env.toml").write_text(TOML)
    reward = pickle.loads(pickle.dumps(trl_reward(tmp_path / "env.toml", also=[lengths])))

    assert call(reward, ["2"], **answers("2")) == [2.0]


def test_a_reward_of_an_object_says_why_it_does_not_travel(env):
    with pytest.raises(TypeError, match="give trl_reward the path"):
        pickle.dumps(trl_reward(env))


def test_a_mistake_in_the_file_is_an_error_at_construction(tmp_path):
    (tmp_path / "env.toml").write_text(TOML.replace("equal", "equall"))
    with pytest.raises(ConfigError, match="core/equal"):
        trl_reward(tmp_path / "env.toml")
