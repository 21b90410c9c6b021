"""``train/trl`` next to TRL: a function alone, and through a stage and ``trl_reward``, gives the
same rewards.
"""

from __future__ import annotations

import asyncio

import pytest
from rlenv import Environment, Slot
from rlenv_train import trl_reward

pytest.importorskip("trl", reason="TRL is not installed here: `make test-trainers` runs this")

import torch
from datasets import Dataset
from rlenv_train.imports.trl import Trl
from tokenizers import Tokenizer, models
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
from trl import GRPOConfig, GRPOTrainer
from trl.rewards import think_format_reward

torch.set_num_threads(1)
TEXTS = ["2", "3", "", "22", "none", "nan", "2\n", "é"]


def exact(completions, answer, **kwargs):
    return [float(text == gold) for text, gold in zip(completions, answer, strict=True)]


async def later(completions, answer, **kwargs):
    await asyncio.sleep(0)
    return [text == gold for text, gold in zip(completions, answer, strict=True)]


def some_none(completions, answer, **kwargs):
    odd = {"none": None, "nan": float("nan")}
    return [odd.get(text, 0.25) for text in completions]


def tensor(completions, answer, **kwargs):
    return torch.tensor([len(text) / 10 for text in completions])


def tensors(completions, **kwargs):
    return [torch.tensor(len(text) / 10, dtype=torch.bfloat16) for text in completions]


def column(completions, **kwargs):
    return torch.tensor([[len(text) / 10] for text in completions])


def array(completions, **kwargs):
    return torch.tensor([text == "2" for text in completions]).numpy()


def generator(completions, level, **kwargs):
    return (level[0] / 10 for _ in completions)


def signed(completions, answer, **kwargs):
    return [2.0 if text == gold else -1.0 for text, gold in zip(completions, answer, strict=True)]


@pytest.fixture(scope="module")
def rewarded(tmp_path_factory):
    """The rewards that TRL's trainer takes from functions for texts; NaN where there is none."""
    letters = Tokenizer(models.WordLevel({"<pad>": 0, "<eos>": 1}, "<pad>"))
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=letters, pad_token="<pad>", eos_token="<eos>"
    )
    small = {
        "vocab_size": 2,
        "hidden_size": 16,
        "intermediate_size": 16,
        "num_hidden_layers": 1,
        "num_attention_heads": 1,
    }
    config = GRPOConfig(
        str(tmp_path_factory.mktemp("trl")),
        use_cpu=True,
        report_to=[],
        per_device_train_batch_size=8,
    )

    def rewards(functions, rows, completions):
        model = LlamaForCausalLM(LlamaConfig(**small, pad_token_id=0, eos_token_id=1))
        trainer = GRPOTrainer(
            model, functions, config, Dataset.from_list(rows), processing_class=tokenizer
        )
        prompts = [row["prompt"] for row in rows]
        found = trainer._calculate_rewards(rows, prompts, completions, [[1]] * len(rows))
        print(dict(trainer._pending_metrics))  # with the kinds of faults
        return found.T.tolist()

    return rewards


def stage(function, **options):
    """With time for the first call of torch on a busy machine."""
    return Slot("f", Trl(function, **options), timeout=300)


ROWS = [{"prompt": "1+1=", "answer": "2", "level": 3}] * len(TEXTS)


@pytest.mark.parametrize(
    "function", [exact, later, some_none, tensor, tensors, column, array, generator]
)
def test_a_function_gives_the_rewards_that_trl_takes_from_it(rewarded, function):
    with Environment("x", [stage(function)]) as env:
        reward = trl_reward(env, answer="answer", info=["level"])
        with pytest.warns(RuntimeWarning, match="other reward functions"):
            native, through = rewarded([function, reward], ROWS, TEXTS)

    assert through == pytest.approx(native, nan_ok=True)


def test_rewards_of_another_scale_keep_their_advantages(rewarded):
    with Environment("x", [stage(signed, scale=(-1.0, 2.0))]) as env:
        reward = trl_reward(env, answer="answer")
        with pytest.warns(RuntimeWarning, match="other reward functions"):
            native, through = rewarded([signed, reward], ROWS, TEXTS)

    assert [3 * value - 1 for value in through] == native


def test_a_function_of_trl_itself(rewarded):
    rows = [{"prompt": [{"role": "user", "content": "?"}], "answer": ""}] * 2
    texts = ["<think>\nA\n</think>\n2", "2"]
    completions = [[{"role": "assistant", "content": text}] for text in texts]
    with Environment("x", [stage(think_format_reward, form="chat")]) as env:
        reward = trl_reward(env)
        with pytest.warns(RuntimeWarning, match="other reward functions"):
            native, through = rewarded([think_format_reward, reward], rows, completions)

    assert through == native == [1.0, 0.0]
