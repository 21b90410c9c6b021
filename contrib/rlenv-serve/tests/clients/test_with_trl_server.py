"""TRL's ``OpenRewardSpec``, unchanged, with our server: data, tools, rewards, and a policy that
trains through it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from math import isfinite
from pathlib import Path
from statistics import fmean
from typing import Any

os.environ["OPENREWARD_DISABLE_UPDATE_CHECK"] = "1"

import pytest
from rlenv import Environment, Task
from rlenv_plugin_agent import Harness
from rlenv_serve import Server
from serving import SECRET, add, broken, catalog_of, running, same, sums

pytest.importorskip("trl", reason="TRL is not installed here: `make test-trainers` runs this")
pytest.importorskip(
    "openreward", reason="openreward is not installed here: `make test-trainers` runs this"
)

import torch
from transformers import LlamaForCausalLM
from trl import GRPOConfig, GRPOTrainer
from trl.experimental.openreward import OpenRewardSpec

sys.path.append(str(Path(__file__).parents[3] / "rlenv-train" / "tests" / "helpers"))

from trl_cases import CHAT_SIGNS, chat_tokenizer, model

CALL = '<tool_call>\n{"name": "submit", "arguments": {"answer": "', '"}}\n</tool_call><|im_end|>'


@pytest.fixture
def url(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A server of sums with a tool, a verifier that fails, and one task to train on."""
    harness = Harness("tool-use", tools=[add])
    seven = Environment(
        "seven", same, [Task("Say 7.", answer="7", id="s")], tables={"harness": harness}
    )
    with catalog_of(sums(), broken(), seven) as catalog, running(Server(catalog)) as ask:
        for name in ("OPENREWARD_SESSION_URL", "OPENREWARD_API_URL"):
            monkeypatch.setenv(name, ask.url)  # the client asks sessions.HOST without
        yield ask.url


def rollout(spec: Any, *calls: tuple[str, dict[str, object]]) -> Any:
    """The environment after these calls."""
    made = spec.environment_factory()
    made.reset(task_index=0)
    for name, given in calls:
        getattr(made, name)(**given)
    made._close()
    return made


def test_the_dataset_has_references_and_no_answers(url: str) -> None:
    rows = OpenRewardSpec(url).train_dataset

    assert len(rows) == 8
    assert rows["task_id"][:] == [f"t{n}" for n in range(8)]
    assert {"prompt", "task_index", "messages", "rev", "mac", "split"} == {*rows.column_names} - {
        "task_id"
    }
    assert len(OpenRewardSpec(url, split="test").train_dataset) == 2
    assert OpenRewardSpec(url, indices=[5, 2]).train_dataset["task_id"][:] == ["t5", "t2"]
    assert len(OpenRewardSpec(url, num_tasks=3, env_name="broken").train_dataset) == 1


def test_tools_and_rewards(url: str) -> None:
    spec = OpenRewardSpec(url)
    made = spec.environment_factory()
    try:
        assert made.reset(task_index=3) == "What is 3 + 3?"
        assert made.add.__annotations__ == {"a": int, "b": int, "return": str}
        assert made.add(a=3, b=3) == "6"
        assert "input_validation" in made.add(a="x", b=3)
        assert "not_found" in made._call_ors_tool("nothing", {})
        made.submit(answer="6")
        assert (made.finished, made.reward) == (True, 1.0)
        assert spec.reward_funcs([made]) == [1.0]
        assert made.reset(task_index=1) == "What is 1 + 1?"
        made.submit(answer="3")
        assert spec.reward_funcs([made]) == [0.0]
    finally:
        made._close()


def test_an_unscored_rollout_has_no_reward_and_is_not_a_0(url: str) -> None:
    spec = OpenRewardSpec(url, env_name="broken")
    made = rollout(spec, ("submit", {"answer": "0"}))

    assert spec.reward_funcs([made]) == [None]
    assert SECRET not in made.last_output


def rewards(environments: list[Any], **_: object) -> list[float | None]:
    """A rollout that never submits is worth 0, and one that the verifier could not judge is left
    out; as the how-to has it.
    """
    unscored = ("Error: (environment session", "Error: environment session terminated")
    return [
        None
        if each.metadata and each.metadata[-1] is None and each.last_output.startswith(unscored)
        else each.reward or 0.0
        for each in environments
    ]


def test_a_rollout_that_never_submits_can_be_told_from_an_unscored_one(url: str) -> None:
    spec = OpenRewardSpec(url)
    failing = OpenRewardSpec(url, env_name="broken")
    made = [
        rollout(spec),
        rollout(spec, ("add", {"a": 1, "b": 1})),
        rollout(spec, ("add", {"a": 1, "b": "Error: (environment session"})),
        rollout(spec, ("add", {"a": 1, "b": float("nan")})),
        rollout(spec, ("submit", {"answer": "0"}), ("submit", {"answer": "0"})),
        rollout(failing, ("submit", {"answer": "0"})),
        rollout(failing, ("submit", {"answer": "0"}), ("submit", {"answer": "0"})),
    ]

    assert spec.reward_funcs(made) == [None, None, None, None, 1.0, None, None]
    assert rewards(made) == [0.0, 0.0, 0.0, 0.0, 1.0, None, None]


class Guided(LlamaForCausalLM):  # type: ignore[misc] # TRL has an environment of its own
    """Writes a call of ``submit`` and samples its one digit; then it says that it is done."""

    def generate(self, input_ids: Any, **_: object) -> Any:
        letters = chat_tokenizer()

        def ids(text: str) -> Any:
            found = letters(text, add_special_tokens=False)["input_ids"]
            return torch.tensor([found]).expand(len(input_ids), -1)

        if letters.convert_tokens_to_ids("<tool_response>") in input_ids:
            return torch.cat([input_ids, ids("ok<|im_end|>")], dim=1)
        given = torch.cat([input_ids, ids(CALL[0])], dim=1)
        with torch.no_grad():
            scores = self(given, attention_mask=(given != 0).long()).logits[:, -1]
        digits = ids("0123456789")[0]
        drawn = torch.distributions.Categorical(logits=scores[:, digits]).sample()
        return torch.cat([given, digits[drawn][:, None], ids(CALL[1])], dim=1)


@pytest.mark.slow  # thirty steps of training take minutes
def test_a_policy_trains_through_the_server(url: str, tmp_path: Path) -> None:
    spec = OpenRewardSpec(url, env_name="seven")
    config = GRPOConfig(
        output_dir=str(tmp_path),
        max_steps=30,
        per_device_train_batch_size=16,
        num_generations=16,
        max_completion_length=400,
        report_to=[],
        use_cpu=True,
        logging_steps=1,
        save_strategy="no",
        disable_tqdm=True,
        seed=0,
        learning_rate=3e-3,
        beta=0.0,
        max_tool_calling_iterations=2,
        chat_template_kwargs={"enable_thinking": False},
    )
    policy = model(Guided, CHAT_SIGNS, longest=4096)
    before = {name: value.detach().clone() for name, value in policy.named_parameters()}
    trainer = GRPOTrainer(
        policy,
        spec.reward_funcs,
        config,
        spec.train_dataset,
        processing_class=chat_tokenizer(),
        environment_factory=spec.environment_factory,
    )
    trainer.train()
    steps = [row for row in trainer.state.log_history if "reward" in row]
    found = [row["reward"] for row in steps]

    assert len(found) == 30
    assert all(isfinite(row["loss"]) and isfinite(row["reward"]) for row in steps)
    assert all(row["tools/failure_frequency"] == 0 for row in steps)
    assert any(not torch.equal(before[name], value) for name, value in policy.named_parameters())
    assert fmean(found[-5:]) > fmean(found[:5]) + 0.3, found
