"""What `rlenv export` writes and an `EnvironmentGroup`, in `datasets` and in TRL's trainers: a
random model made here, no network, one thread.
"""

from __future__ import annotations

from itertools import islice

import pytest
import rlenv
from rlenv import Environment, Task
from rlenv_train import EnvironmentGroup, trl_reward

pytest.importorskip("trl", reason="TRL is not installed here: `make test-trainers` runs this")

import torch
from datasets import Dataset, load_dataset
from tokenizers import Regex, Tokenizer, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
from trl import DPOConfig, DPOTrainer, GRPOConfig, GRPOTrainer, SFTConfig, SFTTrainer

torch.set_num_threads(1)  # more threads are slower for a model of this size
SIGNS = ["<pad>", "<eos>", "<unk>", *map(chr, range(32, 127))]
TEMPLATE = (
    "{% for m in messages %}{{ m['role'][0] }}{{ m['content'] }}{% if m.tool_calls %}{{"
    " m.tool_calls[0].function.arguments }}{% endif %} {% endfor %}"
)


@pytest.fixture
def model(tmp_path):
    """A folder, since DPO loads its reference from it."""
    letters = Tokenizer(models.WordLevel({sign: at for at, sign in enumerate(SIGNS)}, "<unk>"))
    letters.pre_tokenizer = pre_tokenizers.Split(Regex("."), "isolated")
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=letters, pad_token="<pad>", eos_token="<eos>", unk_token="<unk>"
    )
    tokenizer.chat_template = TEMPLATE
    config = LlamaConfig(
        vocab_size=len(SIGNS),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=1,
        num_attention_heads=2,
        max_position_embeddings=256,
        pad_token_id=0,
        eos_token_id=1,
        bos_token_id=None,
    )
    folder = str(tmp_path / "model")
    LlamaForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


CALL = {"id": "c", "type": "function", "function": {"name": "add", "arguments": {"a": 1}}}
TALK = [
    {"role": "user", "content": "Capital 5?"},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c", "content": "5"},
    {"role": "assistant", "content": "5"},
]


def load(scores, form, *options, kind="json"):
    scores.out = scores.folder / f"out.{kind}"
    scores.export(form, *options)
    return load_dataset(
        kind, data_files=str(scores.out), split="train", cache_dir=str(scores.folder / "cache")
    )


@pytest.fixture
def groups(scores):
    """Five tasks with a right, a wrong and an unscored response."""
    rows = [
        (f"t{n}", text, reward)
        for n in range(1, 6)
        for text, reward in (("yes", 1.0), ("no", 0.0), ("?", None))
    ]
    return scores.write(*rows)


def steps(trainer):
    trainer.train()
    return [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]


def settings(tmp_path):
    return {
        "output_dir": str(tmp_path / "out"),
        "max_steps": 3,
        "per_device_train_batch_size": 2,
        "report_to": [],
        "use_cpu": True,
        "bf16": False,
        "logging_steps": 1,
        "save_strategy": "no",
        "disable_tqdm": True,
        "seed": 0,
    }


@pytest.mark.parametrize("options", [(), ("--text",)], ids=["messages", "text"])
def test_dpo_runs_three_steps(groups, model, tmp_path, options):
    data = load(groups, "dpo", *options)
    losses = steps(DPOTrainer(model, args=DPOConfig(**settings(tmp_path)), train_dataset=data))

    assert len(losses) == 3
    assert losses[0] == pytest.approx(0.6931, abs=0.001)  # log 2: the model is its own reference


@pytest.mark.parametrize("options", [(), ("--text",)], ids=["messages", "text"])
def test_sft_runs_three_steps(groups, model, tmp_path, options):
    data = load(groups, "sft", *options)
    assert (
        len(steps(SFTTrainer(model, args=SFTConfig(**settings(tmp_path)), train_dataset=data))) == 3
    )


def test_conversations_with_tools_train_too(scores, model, tmp_path):
    scores.write(("t5", TALK, 1.0), ("t1", "1", 1.0))
    data = load(scores, "sft")
    assert data[0]["completion"][0]["tool_calls"][0]["function"]["arguments"] == '{"a": 1}'
    assert (
        len(steps(SFTTrainer(model, args=SFTConfig(**settings(tmp_path)), train_dataset=data))) == 3
    )


@pytest.mark.parametrize("form", ["dpo", "sft", "kto", "grpo"])
def test_every_format_loads_as_it_was_written(groups, form):
    assert load(groups, form).to_list() == groups.rows


@pytest.mark.parametrize("options", [(), ("--text",)], ids=["messages", "text"])
def test_dates_stay_texts_in_parquet(scores, options):
    """A reader of JSON lines takes a column of dates for times."""
    scores.write(("t5", "2026-01-01", 1.0), ("t1", "2026-01-02", 1.0))
    wanted = scores.export("sft", *options) and scores.rows
    data = load(scores, "sft", *options, kind="parquet")

    assert data.to_list() == wanted


@rlenv.stage(where="inline")
def has_digit(response):
    return float(any(sign.isdigit() for sign in response))


@rlenv.stage(where="inline")
def is_lower(response):
    return float(response == response.lower())


def test_a_group_of_environments_trains_with_grpo(model, tmp_path):
    members = {
        "digits": Environment("digits", has_digit, [Task("7=", id="a"), Task("8=", id="b")]),
        "lower": Environment("lower", is_lower, [Task("7=", id="a")]),
    }
    with EnvironmentGroup(members, {"digits": 1, "lower": 1}) as group:
        rows = [{"prompt": task.prompt, "id": task.id} for task in islice(group.sample(), 12)]
        config = GRPOConfig(
            **{**settings(tmp_path), "per_device_train_batch_size": 8},
            num_generations=4,
            max_completion_length=4,
        )
        trainer = GRPOTrainer(model, trl_reward(group), config, Dataset.from_list(rows))
        trainer.train()

    logged = [entry for entry in trainer.state.log_history if "rlenv/reward" in entry]
    assert len(logged) == 3
    assert {entry["rlenv/unscored"] for entry in logged} == {0.0}
