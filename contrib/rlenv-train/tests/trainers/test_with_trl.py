"""``trl_reward`` in TRL's own trainers: a random model and a tokenizer made here, no network, one
thread.
"""

from __future__ import annotations

import ast
import asyncio
import logging
from types import SimpleNamespace

import pytest
import rlenv
from page import run_program, write_files
from rlenv import ConfigError, Environment, Outcome
from rlenv_train import ScoringEngine, trl_reward

pytest.importorskip("trl", reason="TRL is not installed here: `make test-trainers` runs this")

from datasets import Dataset
from trl import GRPOConfig, GRPOTrainer
from trl_cases import model, tokenizer

GOLD = "gold-that-no-log-shows"


def trained(tmp_path, rewards, rows, steps=2, **settings):
    """A trainer after so many steps of 4 responses to each of 2 prompts, and what it did with each
    batch.
    """
    config = GRPOConfig(
        output_dir=str(tmp_path),
        max_steps=steps,
        per_device_train_batch_size=8,
        num_generations=4,
        max_completion_length=2,
        learning_rate=1e-3,
        report_to=[],
        use_cpu=True,
        logging_steps=1,
        save_strategy="no",
        disable_tqdm=True,
        seed=0,
        **settings,
    )
    trainer = GRPOTrainer(
        model(), rewards, config, Dataset.from_list(rows), processing_class=tokenizer()
    )
    trainer.train()
    return trainer


DIGITS = [{"prompt": f"{n}=", "answer": str(n), "gold": GOLD} for n in range(10)]
CHATS = [{"prompt": [{"role": "user", "content": f"{n}="}], "answer": str(n)} for n in range(10)]


@rlenv.stage(where="inline")
def copies(response, answer):
    return response[:1] == answer


@rlenv.stage(where="inline")
def third_is_broken(response, answer, info):
    """1, 0, broken, 0, … in the order of the responses."""
    third_is_broken.calls += 1
    if third_is_broken.calls % 4 == 3:
        raise RuntimeError(f"{info['gold']} cannot be read")
    return third_is_broken.calls % 4 == 1


@pytest.fixture
def broken():
    third_is_broken.calls = 0
    with Environment("broken", [third_is_broken]) as made:
        yield made


def advantages(trainer):
    return [pytest.approx(value, abs=0.01) for value in list(trainer._logs["advantages"])[:4]]


def ones(completions, **_):
    return [1.0 for _ in completions]


@pytest.mark.parametrize("rows", [DIGITS, CHATS], ids=["text", "chat"])
def test_two_steps_of_training_with_metrics_of_stages(tmp_path, rows):
    with Environment("copy", [copies]) as env:
        trainer = trained(tmp_path, trl_reward(env), rows)
    logged = trainer.state.log_history[0]

    assert {"rlenv/reward", "rlenv/stage/copies", "rlenv/unscored"} <= logged.keys()
    assert logged["rewards/rlenv/mean"] == pytest.approx(logged["rlenv/stage/copies"])


def test_a_second_run_finds_the_verdicts_of_the_first(tmp_path):
    """The same seed writes the same responses; observers see each step."""
    runs = []
    for _ in range(2):
        seen = []
        with ScoringEngine(
            Environment("copy", [copies]),
            cache=tmp_path / "verdicts.sqlite",
            observers=[seen.append],
        ) as engine:
            trainer = trained(tmp_path, trl_reward(engine), DIGITS)
        runs.append([step["rewards/rlenv/mean"] for step in trainer.state.log_history[:2]])
        assert [numbers["responses"] for numbers in seen] == [8, 8]
    assert [numbers["cached"] + numbers["repeated"] for numbers in seen] == [8, 8]
    assert runs[0] == runs[1]


def test_an_unscored_response_has_no_advantage(tmp_path, broken):
    trainer = trained(tmp_path, trl_reward(broken, info=["gold"], answer="answer"), DIGITS, 1)

    assert advantages(trainer) == [1.155, -0.577, 0.0, -0.577]
    assert trainer.state.log_history[0]["rlenv/unscored"] == 0.25


@pytest.mark.parametrize("weights", [[1, 1], [1, 0]])
def test_an_unscored_response_has_no_advantage_next_to_another_function(tmp_path, broken, weights):
    reward = trl_reward(broken, info=["gold"], answer="answer", also=[ones], weights=weights)
    trainer = trained(tmp_path, reward, DIGITS, 1)

    assert advantages(trainer) == [1.155, -0.577, 0.0, -0.577]


def test_functions_next_to_it_in_the_trainer_are_warned_about(tmp_path, broken):
    reward = trl_reward(broken, info=["gold"], answer="answer")
    with pytest.warns(RuntimeWarning, match="other reward functions"):
        trainer = trained(tmp_path, [reward, ones], DIGITS, 1)

    assert advantages(trainer) == [1.5, -0.5, -0.5, -0.5]  # None has become 0, as the warning says


def test_no_log_of_the_trainer_shows_an_answer(tmp_path, broken, caplog, capfd):
    caplog.set_level(logging.DEBUG)
    logging.getLogger("trl").propagate = True
    trained(tmp_path, trl_reward(broken, info=["gold"], answer="answer"), DIGITS, 1)
    out, err = capfd.readouterr()

    assert "rlenv hides its columns" in caplog.text
    assert GOLD not in caplog.text + out + err


class Longest:
    phase = "judge"
    where = "inline"

    def check_group(self, attempts):
        self.sizes = [*getattr(self, "sizes", []), len(attempts)]
        return [Outcome(float(at == 0)) for at, _ in enumerate(attempts)]


def test_a_stage_that_compares_sees_whole_groups(tmp_path):
    stage = Longest()
    with Environment("longest", [stage]) as env:
        trainer = trained(tmp_path, trl_reward(env), DIGITS, 1)

    assert set(stage.sizes) == {4}
    assert advantages(trainer) == [1.5, -0.5, -0.5, -0.5]


def test_a_wrong_column_ends_training_at_the_first_step(tmp_path, broken):
    with pytest.raises(ConfigError, match="no column 'golden'; its columns are 'answer', 'gold'"):
        trained(tmp_path, trl_reward(broken, answer="golden"), DIGITS, 1)


def test_the_asynchronous_trainer_leaves_an_unscored_row_out(broken):
    """Its scoring alone: the trainer itself samples from a vLLM server."""
    worker = pytest.importorskip("trl.experimental.async_grpo.async_rollout_worker")
    kind = next(kind for kind in vars(worker).values() if hasattr(kind, "_score_group"))
    texts = list("1234")
    sampled = SimpleNamespace(input_ids=[3], completion_mask=[1], old_log_probs=[0.0])
    group = worker.RolloutGroup(
        prompts=["1="] * 4,
        reward_kwargs={"answer": texts, "gold": [GOLD] * 4},
        completions=texts,
        completions_ids=[[3]] * 4,
        completions_sequences=[[sampled]] * 4,
        tool_call_counts=[0] * 4,
        tool_failure_counts=[0] * 4,
        model_version=0,
        group_id=0,
        env_rewards=[None] * 4,
        rollout_rewards=[None] * 4,
    )
    reward = trl_reward(broken, answer="answer", info=["gold"], also=[ones])
    loop = SimpleNamespace(
        reward_funcs=[reward],
        reward_func_names=["rlenv"],
        _env_reward_types=[],
        _provides_rollout_reward=False,
    )
    samples = asyncio.run(kind._score_group(loop, group))

    assert [one.advantage for one in samples] == pytest.approx(
        [1.414, -0.707, 0.0, -0.707], abs=0.01
    )


def test_the_program_of_the_page_learns(tmp_path):
    write_files("train-with-trl.md", tmp_path)
    printed = run_program("train.py", tmp_path).splitlines()[-1]
    metrics = ast.literal_eval(printed)

    assert metrics.keys() == {
        "rlenv/reward",
        "rlenv/stage/copies",
        "rlenv/stage/is_short",
        "rlenv/unscored",
    }
    assert metrics["rlenv/unscored"] == 0
