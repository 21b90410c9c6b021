"""``verl_score`` and ``verl_manager`` in verl's own reward loop."""

from __future__ import annotations

import pytest
from page import run_program, write_files
from rlenv import ConfigError, Environment

pytest.importorskip("verl", reason="verl is not installed here: `make test-trainers` runs this")

import numpy as np
import torch
from verl.trainer.ppo.core_algos import compute_grpo_outcome_advantage
from verl_cases import batch, managers, rewarded, right, scored


@pytest.fixture
def env():
    with Environment("copy", [right]) as made:
        yield made


@pytest.mark.parametrize("which", [0, 1], ids=["naive", "own"])
@pytest.mark.parametrize("order", ["2391", "9321"])
def test_the_reward_loop_keeps_scores_and_extras_in_any_order(env, which, order, monkeypatch):
    result = rewarded(list(managers(env))[which], order, monkeypatch)

    assert result.batch["rm_scores"].sum(dim=-1).tolist() == [float(d == "2") for d in order]
    assert result.non_tensor_batch["unscored"].tolist() == [float(d == "9") for d in order]
    assert result.non_tensor_batch["fault"].tolist() == ["error" if d == "9" else "" for d in order]
    assert set(result.meta_info["reward_extra_keys"]) == {
        "score",
        "unscored",
        "fault",
        "stage/right",
    }


# The policy says 3, a tool answers 2, and the policy says 4: the answer is 2, which it never said.
@pytest.mark.parametrize(
    ("ids", "mask", "score"),
    [
        ("324", "101", 0.0),
        ("342", "101", 1.0),
        ("342", "110", 0.0),
        ("2", "0", 0.0),
        ("2", "1", 1.0),
    ],
)
def test_the_manager_judges_what_the_mask_says_the_policy_sampled(env, ids, mask, score):
    data = batch("2")
    data.batch = type(data.batch)(
        {
            "prompts": torch.zeros(1, 1, dtype=torch.long),
            "responses": torch.tensor([[*map(int, ids), 0]]),
            "attention_mask": torch.tensor([[1, *[1] * len(ids), 0]]),
            "response_mask": torch.tensor([[*map(int, mask), 0]]),
        },
        batch_size=1,
    )
    manager = list(managers(env))[1]()
    (found,) = manager.loop.run_until_complete(scored(manager, data))

    assert found["reward_score"] == score


@pytest.mark.parametrize("which", [0, 1], ids=["naive", "own"])
def test_several_turns_without_a_mask_are_an_error_that_names_the_remedy(env, which):
    data = batch("2")
    manager = list(managers(env))[which]()
    data.non_tensor_batch["__num_turns__"] = np.array([4])
    with pytest.raises(ConfigError, match="use verl_rollout"):
        manager.loop.run_until_complete(scored(manager, data))

    data.non_tensor_batch["__num_turns__"] = np.array([2])
    (found,) = manager.loop.run_until_complete(scored(manager, data))
    assert found["reward_score"] == 1.0


def test_verl_has_no_advantage_for_a_missing_score():
    """What the page says of NaN: it spoils its whole group, so it cannot mean unscored."""
    scores = torch.tensor([[1.0], [0.0], [float("nan")], [0.0]])
    found, _ = compute_grpo_outcome_advantage(scores, torch.ones(4, 1), np.array(["g"] * 4))

    assert torch.isnan(found).all()


def test_the_program_of_the_page_runs(tmp_path):
    write_files("train-with-verl.md", tmp_path)

    assert run_program("try.py", tmp_path).splitlines()[-2:] == ["1.0 0.0", "-0.0 1.0"]
