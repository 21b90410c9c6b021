"""``trl_rollout``: TRL trains on exactly the ids that the policy sampled, in episodes of several
turns.
"""

from __future__ import annotations

import logging

import pytest
import rlenv
from hypothesis import given
from hypothesis import strategies as st
from page import run_program, write_files
from rlenv import ConfigError, Environment, Outcome, Tokens, Trajectory
from rlenv_train import token_sequences, trl_reward, trl_rollout

pytest.importorskip("trl", reason="TRL is not installed here: `make test-trainers` runs this")

import torch
from datasets import Dataset
from trl import GRPOConfig, GRPOTrainer
from trl.experimental.async_grpo.async_rollout_worker import TurnRecord, _chain_to_sequences
from trl_cases import model, tokenizer

PLUS = 13  # the id of what the environment says between two turns of the policy
PROMPTS = [{"prompt": f"{n}=", "digit": str(n)} for n in range(10)]


def sampled(trainer, ids):
    """One token of the policy behind these ids, with its logarithm of the probability."""
    with torch.no_grad():
        logits = trainer.model(torch.tensor([ids])).logits[0, -1].float().log_softmax(-1)
    one = int(torch.multinomial(logits.exp(), 1))
    return one, float(logits[one])


def episode(prompt, trainer, rewrite=False):
    """Two turns of one token.  A rewritten history has other ids, as some chat templates make
    it.
    """
    letters = trainer.processing_class
    ids = letters(prompt)["input_ids"]
    calls = []
    messages = [{"role": "user", "content": prompt}]
    for said in ("+", ""):
        one, logprob = sampled(trainer, ids)
        calls.append(Tokens(ids, [one], [logprob]))
        messages.append({"role": "assistant", "content": letters.decode([one])})
        if said:
            messages.append({"role": "user", "content": said})
        ids = [*([PLUS, *ids] if rewrite else [*ids, one]), PLUS]
    return Trajectory(messages, calls)


@rlenv.stage(where="inline")
def turns(trajectory, info):
    """1 for each turn that repeats the digit of the prompt."""
    said = [m["content"] for m in trajectory.messages if m["role"] == "assistant"]
    scores = [float(text == info["digit"]) for text in said]
    return Outcome(scores[-1], steps=[*enumerate(scores)])


class Keeping(GRPOTrainer):  # type: ignore[misc] # TRL has an environment of its own
    """Keeps what it trained on."""

    def _generate_and_score_completions(self, inputs):
        self.kept = super()._generate_and_score_completions(inputs)
        return self.kept


def trained(tmp_path, play, reward, **settings):
    config = GRPOConfig(
        output_dir=str(tmp_path),
        max_steps=1,
        per_device_train_batch_size=8,
        num_generations=4,
        learning_rate=1e-3,
        report_to=[],
        use_cpu=True,
        logging_steps=1,
        save_strategy="no",
        disable_tqdm=True,
        seed=0,
        **settings,
    )
    rows = Dataset.from_list(PROMPTS)
    trainer = Keeping(
        model(), reward, config, rows, processing_class=tokenizer(), rollout_func=trl_rollout(play)
    )
    trainer.train()
    return trainer


@pytest.fixture
def env():
    with Environment("turns", [turns]) as made:
        yield made


def test_trl_trains_on_the_sampled_ids_alone(tmp_path, env):
    episodes = []

    def play(prompts, trainer):
        episodes.extend(episode(prompt, trainer) for prompt in prompts)
        return episodes[-len(prompts) :]

    reward = trl_reward(env, info=["digit"], step_weight=0.5)
    kept = trained(tmp_path, play, reward).kept

    wanted = [[call.ids[0] for call in each.tokens] for each in episodes]
    mask = kept["completion_mask"] * kept["tool_mask"]
    found = [
        ids[keep.bool()].tolist() for ids, keep in zip(kept["completion_ids"], mask, strict=True)
    ]
    assert found == wanted
    assert kept["completion_ids"][:, 1].tolist() == [PLUS] * 8
    assert mask.tolist() == [[1, 0, 1]] * 8
    told = [[call.logprobs[0] for call in each.tokens] for each in episodes]
    assert kept["sampling_per_token_logps"][:, [0, 2]].tolist() == [
        pytest.approx(one) for one in told
    ]


def test_trl_gets_the_rewards_of_steps(tmp_path, env):
    """One policy that is right in its first turn alone, and one that is never."""
    right = Tokens([5, 14], [5], [-1.0]), Tokens([5, 14, 5, PLUS], [4], [-1.0])

    def play(prompts, trainer):
        for at, prompt in enumerate(prompts):
            said = prompt[0] if at % 2 else "+"
            talk = [("user", prompt), ("assistant", said), ("user", "+"), ("assistant", "+")]
            messages = [{"role": role, "content": content} for role, content in talk]
            yield Trajectory(messages, right)

    reward = trl_reward(env, info=["digit"], step_weight=0.5)
    trainer = trained(tmp_path, play, reward)

    assert [*trainer._logs["rewards"]["rlenv"]] == pytest.approx([0, 0.25] * 4)


def test_of_a_history_that_changed_the_last_sequence_is_trained_on(tmp_path, env, caplog):
    def play(prompts, trainer):
        return [episode(prompt, trainer, rewrite=True) for prompt in prompts]

    caplog.set_level(logging.WARNING, "rlenv_train")
    kept = trained(tmp_path, play, trl_reward(env, info=["digit"])).kept

    assert kept["completion_ids"].shape == (8, 1)
    assert kept["prompt_ids"][:, -1].tolist() == [PLUS] * 8
    assert "8 of 8 trajectories are more than one sequence" in caplog.text


def test_what_has_no_token_ids_is_an_error(tmp_path, env):
    def play(prompts, trainer):
        return [Trajectory([{"role": "assistant", "content": "1"}])] * len(prompts)

    with pytest.raises(ConfigError, match="no sampled token ids to train on"):
        trained(tmp_path, play, trl_reward(env, info=["digit"]))


def test_a_missing_trajectory_is_an_error(tmp_path, env):
    with pytest.raises(ValueError, match="0 trajectories were played for 8 prompts"):
        trained(tmp_path, lambda prompts, trainer: [], trl_reward(env))


few = st.lists(st.integers(0, 2), min_size=1, max_size=3)


@given(st.lists(st.tuples(st.booleans(), few, few), min_size=1, max_size=5))
def test_the_sequences_are_those_of_trl_s_asynchronous_trainer(made):
    """It joins calls by the same rule, if it is told to overwrite nothing."""
    calls = []
    for goes_on, prompt, ids in made:
        before = [*calls[-1].prompt_ids, *calls[-1].ids] if calls and goes_on else []
        calls.append(Tokens([*before, *prompt], ids, [-1.0] * len(ids)))
    records = [TurnRecord([*c.prompt_ids], [*c.ids], [*(c.logprobs or ())]) for c in calls]
    theirs, _ = _chain_to_sequences(records, "", fork_threshold=0)
    ours = token_sequences(Trajectory([{"role": "assistant", "content": ""}] * len(calls), calls))

    for mine, other in zip(ours, theirs, strict=True):
        given_ = len(mine.prompt_ids)
        assert [*mine.prompt_ids, *mine.ids] == other.input_ids
        assert [0] * given_ + mine.mask == other.completion_mask
        assert [0.0] * given_ + (mine.logprobs or []) == other.old_log_probs


def test_the_program_of_the_page_runs(tmp_path):
    for page in ("train-with-trl.md", "train-on-episodes.md"):
        write_files(page, tmp_path)

    assert "'rlenv/stage/repeats'" in run_program("train.py", tmp_path)
