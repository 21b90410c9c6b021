"""verl: the advantages of a group whose third score is odd, from its reward managers and its
GRPO.
"""

from __future__ import annotations

import logging
import warnings

import numpy as np
import torch
from conformance_cases import CASES, GROUP, environment, native, numbers, show, versions
from omegaconf import OmegaConf
from rlenv_train import verl_score
from rlenv_train.verl_grpo import rlenv_grpo
from verl import DataProto
from verl.experimental.reward_loop.reward_manager.limited import RateLimitedRewardManager
from verl.experimental.reward_loop.reward_manager.naive import NaiveRewardManager
from verl.trainer.ppo.core_algos import compute_grpo_outcome_advantage

warnings.simplefilter("ignore")
logging.disable()


class Tokenizer:
    """One id is one response."""

    def decode(self, ids, skip_special_tokens=True):
        return GROUP[int(ids[0])]


def batch(case):
    many = len(GROUP)
    columns = {
        "data_source": ["x"] * many,
        "reward_model": [{"ground_truth": ""}] * many,
        "extra_info": [{"case": case} for _ in GROUP],
    }
    return DataProto.from_dict(
        tensors={
            "prompts": torch.zeros(many, 1, dtype=torch.long),
            "responses": torch.arange(many).reshape(many, 1),
            "attention_mask": torch.ones(many, 2, dtype=torch.long),
        },
        non_tensors={key: np.array(value, dtype=object) for key, value in columns.items()},
    )


def step(kind, score, case, estimator=compute_grpo_outcome_advantage):
    config = OmegaConf.create({"reward": {"timeout": 1.0, "max_concurrent": 4}})
    if kind is RateLimitedRewardManager:
        kind._class_initialized = False
        kind.init_class(config, Tokenizer())
    manager = kind(config, Tokenizer(), score)
    data = batch(case)

    async def all_of_them():
        return [await manager.run_single(data[at : at + 1]) for at in range(len(GROUP))]

    found = manager.loop.run_until_complete(all_of_them())
    keys = found[0]["reward_extra_info"].keys()
    same = all(one["reward_extra_info"].keys() == keys for one in found)
    scores = kind.assemble_rm_scores(data, [one["reward_score"] for one in found])
    advantages, _ = estimator(scores, torch.ones(4, 1), np.array(["g"] * 4))
    marked = [one["reward_extra_info"].get("unscored") for one in found]
    extras = f"; unscored {numbers(marked)}" if None not in marked else ""
    return f"advantages {numbers(advantages[:, 0])}{extras}{'' if same else '; extras differ'}"


def plain(solution_str, extra_info, **_):
    return native(solution_str, extra_info["case"])


def ours(case, **estimator):
    with environment() as env:
        return step(NaiveRewardManager, verl_score(env), case, **estimator)


versions("verl", "torch")
for case in CASES:
    show(case, "native, manager naive", lambda case=case: step(NaiveRewardManager, plain, case))
    show(
        case,
        "native, manager rate_limited",
        lambda case=case: step(RateLimitedRewardManager, plain, case),
    )
    show(case, "rlenv, manager naive", lambda case=case: ours(case))
    show(case, "rlenv, estimator rlenv_grpo", lambda case=case: ours(case, estimator=rlenv_grpo))
