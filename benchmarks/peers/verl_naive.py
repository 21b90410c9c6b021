"""verl's naive reward manager, with verl's own function for Math-Verify."""

from typing import Any

import numpy as np
import torch
from rollout_rewards import TIMEOUT, code, constraints, serve
from verl import DataProto
from verl.utils.reward_score.math_verify import compute_score
from verl.workers.reward_manager.naive import NaiveRewardManager


class Characters:
    """The cheapest tokenizer: a token is a character."""

    def decode(self, ids: Any, **_: object) -> str:
        return "".join(map(chr, ids.tolist()))


def score(
    data_source: str, solution_str: str, ground_truth: Any, extra_info: dict[str, Any]
) -> float:
    if data_source == "math":
        return compute_score(solution_str, ground_truth)
    if data_source == "constraints":
        return constraints(extra_info["info"], solution_str)
    return code(extra_info["prompt"], extra_info["info"], solution_str)


def ids(texts: list[str]) -> tuple[torch.Tensor, torch.Tensor]:
    longest = max(map(len, texts))
    tokens = torch.zeros(len(texts), longest, dtype=torch.long)
    mask = torch.zeros(len(texts), longest, dtype=torch.long)
    for at, text in enumerate(texts):
        tokens[at, : len(text)] = torch.tensor(list(map(ord, text)))
        mask[at, : len(text)] = 1
    return tokens, mask


def prepare(rows: list[dict[str, Any]]) -> Any:
    responses, mask = ids([row["response"] for row in rows])
    prompts = torch.full((len(rows), 1), ord("?"))
    tensors = {
        "prompts": prompts,
        "responses": responses,
        "attention_mask": torch.cat([torch.ones_like(prompts), mask], 1),
    }
    others = {
        "data_source": [row["kind"] for row in rows],
        "reward_model": [{"ground_truth": row["answer"]} for row in rows],
        "extra_info": [{"info": row["info"], "prompt": row["prompt"]} for row in rows],
    }
    data = DataProto.from_dict(
        tensors, {name: np.array(values, dtype=object) for name, values in others.items()}
    )
    manager = NaiveRewardManager(Characters(), 0, score, compute_score_timeout=2 * TIMEOUT)
    return lambda: manager(data).sum(-1).tolist()


if __name__ == "__main__":  # verl's pool imports this file in its processes
    torch.set_num_threads(1)
    serve(prepare)
