"""TRL trains on rollouts of the agent plugin: the reward is that of the episode, whose state no
message tells.
"""

from __future__ import annotations

import math
import random

import pytest
from rlenv import Environment, Outcome, Task, Tokens, stage
from rlenv_train import trl_rollout

pytest.importorskip("trl", reason="TRL is not installed here: `make test-trainers` runs this")

from attrs import define
from datasets import Dataset
from rlenv_plugin_agent import End, EpisodeError, Harness, Reply, rollouts
from trl import GRPOConfig, GRPOTrainer
from trl_cases import model, tokenizer


@define
class Counter:
    """What an episode changes."""

    n: int = 0


def counting(action, context):
    if action is None:
        context.parts[Counter] = Counter()
        return None
    if action == "9":
        raise EpisodeError("the server of the operator is down")
    context.get(Counter).n += int(action)
    return "+" if context.turn == 0 else End()


@stage(where="inline", takes=(Counter,))
class Even:
    def check(self, attempt):
        return Outcome(float(attempt.get(Counter).n % 2 == 0))


def test_trl_gets_the_reward_of_the_final_state(tmp_path):
    tasks = [Task(f"{n}=", id=f"t{n}") for n in range(10)]
    env = Environment(
        "even", Even(), tasks, tables={"harness": Harness("multi-turn", user=counting)}
    )
    letters = tokenizer()
    draw = random.Random(1)
    kept = []

    def policy(messages, tools):
        """Digits at random, as ids of the model."""
        ids = letters("".join(each["content"] for each in messages))["input_ids"]
        text = draw.choice("01239")
        return Reply(text, Tokens(ids, letters(text)["input_ids"][:1], [-0.5]))

    def rollout_func(prompts, trainer):
        played = dict(rollouts(env, prompts, policy))
        played = [played[i] for i in range(len(prompts))]
        kept.extend(played)
        made = trl_rollout(lambda *_: [each.trajectory for each in played])(prompts, trainer)
        return {**made, "value": [each.verdict.value for each in played]}

    def reward(completions, value, **_):
        return value

    config = GRPOConfig(
        output_dir=str(tmp_path),
        max_steps=1,
        per_device_train_batch_size=8,
        num_generations=4,
        report_to=[],
        use_cpu=True,
        logging_steps=1,
        save_strategy="no",
        disable_tqdm=True,
        seed=0,
    )
    rows = Dataset.from_list([{"prompt": task.prompt} for task in tasks])
    trainer = GRPOTrainer(
        model(), reward, config, rows, processing_class=letters, rollout_func=rollout_func
    )
    trainer.train()

    values = [each.verdict.value for each in kept[:8]]
    assert None in values
    assert {0.0, 1.0} <= {*values}
    assert [each.stop == "error" for each in kept[:8]] == [value is None for value in values]
    scored = [value for value in values if value is not None]
    logged = trainer.state.log_history[0]["rewards/reward/mean"]
    assert math.isclose(logged, sum(scored) / len(scored), abs_tol=1e-6)
