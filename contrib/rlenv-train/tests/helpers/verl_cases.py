"""What the tests with verl share: a stage, a batch as verl makes it, and its reward loop without
Ray.
"""

from __future__ import annotations

import numpy as np
import rlenv
import torch
from omegaconf import OmegaConf
from rlenv_train import verl_manager, verl_score
from verl import DataProto
from verl.experimental.reward_loop.reward_loop import RewardLoopManager
from verl.experimental.reward_loop.reward_manager.naive import NaiveRewardManager

SIGNS = "0123456789"


class Tokenizer:
    """Decodes ids to digits."""

    def decode(self, ids, skip_special_tokens=True):
        return "".join(SIGNS[int(at)] for at in ids)


@rlenv.stage(where="inline")
def right(response, prompt, answer):
    if response == "9":
        raise RuntimeError("broken")
    return prompt == "2=" and response == answer


def batch(responses):
    """Responses of one digit, padded to two tokens."""
    many = len(responses)
    rows = {
        "data_source": ["x"] * many,
        "reward_model": [{"ground_truth": "2"} for _ in responses],
        "extra_info": [{"prompt": "2="} for _ in responses],
        "raw_prompt": [[{"role": "user", "content": "2="}] for _ in responses],
    }
    return DataProto.from_dict(
        tensors={
            "prompts": torch.zeros(many, 1, dtype=torch.long),
            "responses": torch.tensor([[int(digit), 0] for digit in responses]),
            "attention_mask": torch.tensor([[1, 1, 0]] * many),
        },
        non_tensors={key: np.array(value, dtype=object) for key, value in rows.items()},
    )


async def scored(manager, data):
    return [await manager.run_single(data[at : at + 1]) for at in range(len(data))]


def managers(env):
    config = OmegaConf.create({})
    yield lambda: NaiveRewardManager(config, Tokenizer(), verl_score(env))
    yield lambda: verl_manager(env)(config, Tokenizer(), None, reward_router_address=None)


class Worker:
    """A worker of the reward loop, without Ray."""

    def __init__(self, manager):
        self.compute_score_batch = self
        self._manager = manager()

    def remote(self, chunk):
        return self._manager.loop.run_until_complete(scored(self._manager, chunk))


def rewarded(manager, responses, monkeypatch):
    """What verl's reward loop makes of these responses."""
    loop = RewardLoopManager.__new__(RewardLoopManager)
    loop.reward_model_manager = None
    loop.reward_manager_cls = NaiveRewardManager
    loop.reward_loop_workers = [Worker(manager)]
    monkeypatch.setattr("ray.get", lambda outputs: outputs)
    return loop.compute_rm_score(batch(responses))
