"""``train/verl``: a ``compute_score`` alone, and through a stage and ``verl_score``, gives verl the
same reward.
"""

from __future__ import annotations

import pytest
from rlenv import Environment
from rlenv_train import verl_score
from rlenv_train.imports.verl import Verl

pytest.importorskip("verl", reason="verl is not installed here: `make test-trainers` runs this")

import numpy as np
import torch
from omegaconf import OmegaConf
from verl import DataProto
from verl.experimental.reward_loop.reward_manager.naive import NaiveRewardManager
from verl.utils.reward_score import default_compute_score
from verl.utils.reward_score.gsm8k import compute_score as gsm8k

TEXTS = ["2", "#### 2", "2 #### 3", "", "The answer is 2."]


class Tokenizer:
    """Decodes the number of a text to it."""

    def decode(self, ids, skip_special_tokens=True):
        return TEXTS[int(ids[0])]


def exact(data_source, solution_str, ground_truth, extra_info=None):
    assert extra_info["level"] == 3
    return {"score": float(solution_str == ground_truth), "pred": solution_str}


async def later(data_source, solution_str, ground_truth, extra_info=None, **kwargs):
    return np.float32(len(solution_str) / 20)


def tensor(data_source, solution_str, ground_truth, extra_info=None):
    return torch.tensor(solution_str == ground_truth)


def gsm(data_source, solution_str, ground_truth, extra_info=None):
    return gsm8k(solution_str, ground_truth, method="flexible")


def rewards(compute_score):
    manager = NaiveRewardManager(OmegaConf.create({}), Tokenizer(), compute_score)
    many = len(TEXTS)
    rows = {
        "data_source": ["openai/gsm8k"] * many,
        "reward_model": [{"ground_truth": "2"} for _ in TEXTS],
        "extra_info": [{"prompt": "1+1=", "level": 3} for _ in TEXTS],
    }
    data = DataProto.from_dict(
        tensors={
            "prompts": torch.zeros(many, 1, dtype=torch.long),
            "responses": torch.arange(many)[:, None],
            "attention_mask": torch.ones(many, 2, dtype=torch.long),
        },
        non_tensors={key: np.array(value, dtype=object) for key, value in rows.items()},
    )

    async def scored():
        return [(await manager.run_single(data[at : at + 1]))["reward_score"] for at in range(many)]

    return [float(score) for score in manager.loop.run_until_complete(scored())]


@pytest.mark.parametrize("function", [exact, later, tensor, gsm, default_compute_score])
def test_a_function_gives_the_rewards_that_verl_takes_from_it(function):
    with Environment("x", Verl(function, data_source="openai/gsm8k")) as env:
        assert rewards(verl_score(env)) == pytest.approx(rewards(function))
