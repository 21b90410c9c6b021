"""rlenv in what verl's trainers make of rewards: advantages, and the sequences that they train on."""

from __future__ import annotations

import tomllib
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from rlenv import ConfigError, Environment

pytest.importorskip("verl", reason="verl is not installed here: `make test-trainers` runs this")

import numpy as np
import torch
from rlenv_train.verl_grpo import is_unscored, rlenv_grpo
from verl import DataProto
from verl.trainer.config import AlgoConfig
from verl.trainer.ppo.core_algos import compute_grpo_outcome_advantage, get_adv_estimator_fn
from verl.trainer.ppo.ray_trainer import compute_advantage
from verl.trainer.ppo.v1.utils import compute_advantage_for_multi_trajectories
from verl_cases import managers, rewarded, right


@pytest.fixture
def env():
    with Environment("copy", [right]) as made:
        yield made


def data_of(rm_scores, groups):
    """A batch as verl's trainers give it to an estimator."""
    ones = torch.ones_like(rm_scores)
    ids = np.array(list(groups), dtype=object)
    return DataProto.from_dict({"token_level_rewards": rm_scores, "response_mask": ones}, {"uid": ids})  # fmt: skip


def advantages(data, **settings):
    config = AlgoConfig(adv_estimator="rlenv_grpo", **settings)
    return compute_advantage(data, config.adv_estimator, config=config).batch["advantages"]


@pytest.mark.parametrize("which", [0, 1], ids=["naive", "own"])
def test_the_estimator_leaves_out_what_the_reward_loop_has_no_score_for(env, which, monkeypatch):
    scores = rewarded(list(managers(env))[which], "2193", monkeypatch).batch["rm_scores"]
    nested = torch.nested.as_nested_tensor(list(scores), layout=torch.jagged)  # as verl stores them
    found = advantages(data_of(nested.to_padded_tensor(0.0), ["g"] * 4))

    assert found[:, 0].tolist() == pytest.approx([1.155, -0.577, 0, -0.577], abs=1e-3)
    assert torch.equal(found[:, 0], found[:, 1])


def test_without_a_missing_score_the_estimator_is_that_of_verl():
    scores = torch.rand(12, 3)
    groups = np.array(list("aaabbbbbcdaa"), dtype=object)
    for by_std in (True, False):
        wanted, _ = compute_grpo_outcome_advantage(scores, torch.ones(12, 3), groups, norm_adv_by_std_in_grpo=by_std)  # fmt: skip
        config = {"norm_adv_by_std_in_grpo": by_std}
        assert torch.equal(rlenv_grpo(scores, torch.ones(12, 3), groups, config)[0], wanted)


def test_a_response_that_is_scored_alone_has_nothing_to_be_compared_with():
    scores = torch.tensor([[1.0], [-0.0], [-0.0], [-0.0], [-0.0], [0.7]])

    assert advantages(data_of(scores, "ggghhi"))[:, 0].tolist() == pytest.approx([0] * 5 + [0.7])
    assert advantages(data_of(-torch.zeros(2, 3), "gg")).tolist() == [[0.0] * 3] * 2


def test_a_zero_is_a_score():
    rows = torch.tensor([[0.0, 0.0], [0.0, -0.0], [1.0, -0.0], [-0.0, -1.0]])

    assert is_unscored(rows).tolist() == [False, True, False, False]


def test_the_estimator_rejects_what_hides_a_missing_score():
    with pytest.raises(ConfigError, match="use_kl_in_reward"):
        advantages(data_of(torch.ones(2, 1), "gg"), use_kl_in_reward=True)


def test_the_trainer_of_verl_0_9_takes_the_estimator():
    data = data_of(torch.tensor([[1.0], [0.0], [-0.0], [0.0]]), "gggg")
    keys = [f"g_{session}_0" for session in range(4)]
    config = AlgoConfig(adv_estimator="rlenv_grpo")
    found = compute_advantage_for_multi_trajectories(data, keys, "rlenv_grpo", config=config)

    assert found.batch["advantages"][:, 0].tolist() == pytest.approx([1.155, -0.577, 0, -0.577], abs=1e-3)  # fmt: skip


def test_verl_finds_the_estimator_as_a_plugin():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))
    ((name, value),) = project["project"]["entry-points"]["verl.plugins"].items()
    EntryPoint(name, value, "verl.plugins").load()

    assert get_adv_estimator_fn("rlenv_grpo") is rlenv_grpo
