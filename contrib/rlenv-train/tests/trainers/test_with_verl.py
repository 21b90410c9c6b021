"""``verl_score`` and ``verl_manager`` in verl's own reward loop."""

from __future__ import annotations

import pytest
from page import run_program, write_files
from rlenv import Environment

pytest.importorskip("verl", reason="verl is not installed here: `make test-trainers` runs this")

import numpy as np
import torch
from verl.trainer.ppo.core_algos import compute_grpo_outcome_advantage
from verl_cases import managers, rewarded, right


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
    assert set(result.meta_info["reward_extra_keys"]) == {"score", "unscored", "fault", "stage/right"}  # fmt: skip


def test_verl_has_no_advantage_for_a_missing_score():
    """What the page says of NaN: it spoils its whole group, so it cannot mean unscored."""
    scores = torch.tensor([[1.0], [0.0], [float("nan")], [0.0]])
    found, _ = compute_grpo_outcome_advantage(scores, torch.ones(4, 1), np.array(["g"] * 4))

    assert torch.isnan(found).all()


def test_the_program_of_the_page_runs(tmp_path):
    write_files("train-with-verl.md", tmp_path)

    assert run_program("try.py", tmp_path).splitlines()[-2:] == ["1.0 0.0", "-0.0 1.0"]
