"""The ids that a server sampled in an episode reach what verl's trainer stores, with their mask and
rewards.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest
from rlenv import ConfigError, Environment, Outcome, Task, stage
from rlenv_plugin_agent import Harness, endpoint, rollout, token_endpoint
from rlenv_train import verl_rollout

pytest.importorskip("verl", reason="verl is not installed here: `make test-trainers` runs this")

from verl.trainer.ppo.v1.agent_loop_tq import AgentLoopWorkerTQ

WIRES = str(Path(__file__).parents[1] / "tokens" / "wires")
if WIRES not in sys.path:
    sys.path.append(WIRES)

from token_model import encode, save  # noqa: E402 - found through the lines above
from token_play import script  # noqa: E402
from token_wires import WireServer  # noqa: E402

CALL = '<tool_call>\n{"name": "add", "arguments": {"a": 2, "b": 3}}\n</tool_call>'
ROW = {
    "raw_prompt": [{"role": "user", "content": "2 + 3?"}],
    "reward_model": {"ground_truth": "hello"},
    "extra_info": {},
}


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@stage(where="inline")
def turns(trajectory, answer):
    """The last message is right; each turn has a score."""
    said = [each for each in trajectory.messages if each["role"] == "assistant"]
    return Outcome(float(said[-1]["content"] == answer), steps=[(i, 1.0) for i in range(len(said))])


@pytest.fixture
def wires():
    server = WireServer()
    server.start()
    yield server
    server.stop()


@pytest.fixture
def env():
    with Environment("sums", [turns], tables={"harness": Harness("tool-use", tools=[add])}) as made:
        yield made


def stored(monkeypatch, env, trajectory, **options):
    """What verl's trainer stores of the outputs of an agent loop, padded."""
    kept = {}

    async def put(keys, fields, tags, partition_id):
        kept.update(fields=fields)

    monkeypatch.setattr("verl.trainer.ppo.v1.agent_loop_tq.tq.async_kv_batch_put", put)
    worker = object.__new__(AgentLoopWorkerTQ.__ray_metadata__.modified_class)
    worker.processor = None
    worker.distillation_enabled = False
    worker.reward_loop_worker_handles = ["one, which is not asked"]
    outputs = verl_rollout(env, step_weight=1.0, **options)

    async def run():
        made = await outputs(trajectory, ROW)
        await worker._agent_loop_postprocess(
            made, False, uid="u", session_id=0, global_steps=1, **ROW
        )

    asyncio.run(run())
    return {
        name: [row.tolist() for row in kept["fields"][name].unbind()]
        for name in ("prompts", "responses", "response_mask", "rollout_log_probs", "rm_scores")
    }


def test_verl_stores_the_ids_that_were_sampled(monkeypatch, env, wires, tmp_path):
    first, last = script(wires, "chatml", CALL, "hello")
    found = rollout(
        env,
        Task("2 + 3?", answer="hello"),
        token_endpoint(f"{wires.url}/v1", "m", save(tmp_path, "chatml")),
    )
    kept = stored(monkeypatch, env, found.trajectory)
    (sample,) = found.samples()
    between = encode(
        "\n<|im_start|>user\n<tool_response>\n5\n</tool_response><|im_end|>\n<|im_start|>assistant\n"
    )

    assert kept["responses"] == [[*first, *between, *last]] == [list(sample.ids)]
    assert kept["response_mask"] == [[1] * len(first) + [0] * len(between) + [1] * len(last)]
    assert kept["response_mask"] == [list(sample.mask)]
    assert kept["rollout_log_probs"] == [pytest.approx(sample.logprobs)]
    rewards = [0.0] * len(sample.ids)
    rewards[len(first) - 1] = 0.5
    rewards[-1] = 1.5
    assert kept["rm_scores"] == [rewards]


def test_verl_is_not_given_ids_that_nobody_told(monkeypatch, env, wires):
    script(wires, "chatml", CALL, "hello")
    wires.change = lambda reply: {**reply, "usage": None}
    found = rollout(
        env, Task("2 + 3?", answer="hello"), endpoint(f"{wires.url}/v1", "m", token_ids=True)
    )

    with pytest.raises(ConfigError, match="did not tell which ids were sampled"):
        stored(monkeypatch, env, found.trajectory)
