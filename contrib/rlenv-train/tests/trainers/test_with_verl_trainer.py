"""rlenv in what verl's trainers make of rewards: advantages, and the sequences that they train
on.
"""

from __future__ import annotations

import asyncio
import tomllib
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
import rlenv
from page import run_program, write_files
from rlenv import ConfigError, Environment, Outcome, Tokens, Trajectory
from rlenv_train import verl_rollout

pytest.importorskip("verl", reason="verl is not installed here: `make test-trainers` runs this")

import numpy as np
import torch
from rlenv_train.verl_grpo import is_unscored, rlenv_grpo
from verl import DataProto
from verl.trainer.config import AlgoConfig
from verl.trainer.ppo.core_algos import (
    compute_gae_advantage_return,
    compute_grpo_outcome_advantage,
    get_adv_estimator_fn,
)
from verl.trainer.ppo.ray_trainer import compute_advantage
from verl.trainer.ppo.v1.agent_loop_tq import AgentLoopWorkerTQ
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
    return DataProto.from_dict(
        {"token_level_rewards": rm_scores, "response_mask": ones}, {"uid": ids}
    )


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


@pytest.mark.parametrize("kind", [torch.float32, torch.bfloat16, torch.float16, torch.float64])
@pytest.mark.parametrize("mask", [torch.float32, torch.int64])
def test_without_a_missing_score_the_estimator_is_that_of_verl(kind, mask):
    scores = torch.rand(12, 3).to(kind)
    sampled = torch.ones(12, 3).to(mask)
    groups = np.array(list("aaabbbbbcdaa"), dtype=object)
    for by_std in (True, False):
        wanted, _ = compute_grpo_outcome_advantage(
            scores, sampled, groups, norm_adv_by_std_in_grpo=by_std
        )
        found, _ = rlenv_grpo(scores, sampled, groups, {"norm_adv_by_std_in_grpo": by_std})
        assert torch.equal(found, wanted)
        assert found.dtype == wanted.dtype


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

    assert found.batch["advantages"][:, 0].tolist() == pytest.approx(
        [1.155, -0.577, 0, -0.577], abs=1e-3
    )


def test_verl_finds_the_estimator_as_a_plugin():
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text("utf-8"))
    ((name, value),) = project["project"]["entry-points"]["verl.plugins"].items()
    EntryPoint(name, value, "verl.plugins").load()

    assert get_adv_estimator_fn("rlenv_grpo") is rlenv_grpo


# -- trajectories ----------------------------------------------------------------------------------


@rlenv.stage(where="inline")
def turns(trajectory, answer):
    """1 for each turn that is right, and as a whole for the last."""
    said = [each["content"] for each in trajectory.messages if each["role"] == "assistant"]
    if "9" in said:
        raise RuntimeError("broken")
    scores = [float(text == answer) for text in said]
    return Outcome(scores[-1], steps=[*enumerate(scores)])


ROW = {
    "raw_prompt": [{"role": "user", "content": "2="}],
    "reward_model": {"ground_truth": "2"},
    "extra_info": {},
}


def episode(first, second, rewrite=False):
    """Two turns of two tokens; the environment says 7 between them, and a rewritten history has
    other ids.
    """
    talk = [("user", "2="), ("assistant", first), ("user", "7"), ("assistant", second)]
    before = [0] if rewrite else [2, 3]
    calls = [Tokens([5, 6], [2, 3], [-0.5, -1.0]), Tokens([5, 6, *before, 7], [4, 1], [-2.0, 0.0])]
    return Trajectory([{"role": role, "content": content} for role, content in talk], calls)


def stored(monkeypatch, trajectory, **options):
    """What verl's trainer stores of the outputs of an agent loop, padded."""
    kept = {}

    async def put(keys, fields, tags, partition_id):
        kept.update(keys=keys, fields=fields)

    monkeypatch.setattr("verl.trainer.ppo.v1.agent_loop_tq.tq.async_kv_batch_put", put)
    kind = AgentLoopWorkerTQ.__ray_metadata__.modified_class
    worker = object.__new__(kind)
    worker.processor = None
    worker.distillation_enabled = False
    worker.reward_loop_worker_handles = ["one, which is not asked"]
    with Environment("turns", [turns]) as env:
        outputs = verl_rollout(env, step_weight=0.5, **options)

        async def run():
            made = await outputs(trajectory, ROW)
            await worker._agent_loop_postprocess(
                made, False, uid="u", session_id=0, global_steps=1, **ROW
            )

        asyncio.run(run())
    return kept["keys"], kept["fields"]


def padded(fields, name):
    return [row.tolist() for row in fields[name].unbind()]


def test_verl_gets_the_mask_the_logprobs_and_a_reward_for_each_turn(monkeypatch):
    keys, fields = stored(monkeypatch, episode("2", "2"))

    assert keys == ["u_0_0"]
    assert padded(fields, "prompts") == [[5, 6]]
    assert padded(fields, "responses") == [[2, 3, 7, 4, 1]]
    assert padded(fields, "response_mask") == [[1, 1, 0, 1, 1]]
    assert padded(fields, "rollout_log_probs") == [[-0.5, -1.0, 0.0, -2.0, 0.0]]
    assert padded(fields, "rm_scores") == [[0, 0.25, 0, 0, 1.25]]


def test_a_history_that_changed_makes_two_outputs(monkeypatch):
    keys, fields = stored(monkeypatch, episode("2", "3", rewrite=True))

    assert keys == ["u_0_0", "u_0_1"]
    assert padded(fields, "prompts") == [[5, 6], [5, 6, 0, 7]]
    assert padded(fields, "response_mask") == [[1, 1], [1, 1]]
    assert padded(fields, "rm_scores") == [[0, 0.25], [0, 0]]


def test_an_unscored_trajectory_is_known_to_the_estimator(monkeypatch):
    _, fields = stored(monkeypatch, episode("2", "9"))

    assert is_unscored(torch.tensor(padded(fields, "rm_scores"))).tolist() == [True]
    assert fields["extra_fields"][0]["reward_extra_info"]["unscored"] == 1.0
    _, fields = stored(monkeypatch, episode("2", "9"), unscored=-1.0)
    assert padded(fields, "rm_scores") == [[0, 0, 0, 0, -1]]


def test_gae_gives_each_turn_its_own_advantage(monkeypatch):
    _, fields = stored(monkeypatch, episode("2", "3"))
    scores, mask = (torch.tensor(padded(fields, name)) for name in ("rm_scores", "response_mask"))
    _, returns = compute_gae_advantage_return(
        scores, torch.zeros_like(scores), mask, torch.tensor(1.0), torch.tensor(1.0)
    )

    assert returns[0, [0, 1, 3, 4]].tolist() == [0.25, 0.25, 0, 0]


def test_the_agent_loop_of_the_page_is_registered(tmp_path):
    write_files("train-on-episodes.md", tmp_path)
    with (tmp_path / "loop.py").open("a") as file:
        file.write(
            "from verl.experimental.agent_loop.agent_loop import _agent_loop_registry as"
            " r\nprint(r['repeat'])\n"
        )

    assert "Repeat" in run_program("loop.py", tmp_path)
