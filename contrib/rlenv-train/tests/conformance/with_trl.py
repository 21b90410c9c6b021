"""TRL: the advantages of a group whose third reward is odd, after a step of GRPOTrainer."""

from __future__ import annotations

import logging
import tempfile
import warnings

import torch
from conformance_cases import CASES, GROUP, environment, native, numbers, show, versions
from datasets import Dataset
from rlenv_train import trl_reward
from tokenizers import Regex, Tokenizer, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
from trl import GRPOConfig, GRPOTrainer

torch.set_num_threads(1)
warnings.simplefilter("ignore")
logging.disable()
SIGNS = ["<pad>", "<eos>", "<unk>", *"0123456789="]


def trained(functions):
    letters = Tokenizer(models.WordLevel({sign: at for at, sign in enumerate(SIGNS)}, "<unk>"))
    letters.pre_tokenizer = pre_tokenizers.Split(Regex("."), "isolated")
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=letters, pad_token="<pad>", eos_token="<eos>"
    )
    model = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(SIGNS),
            hidden_size=16,
            intermediate_size=16,
            num_hidden_layers=1,
            num_attention_heads=1,
            pad_token_id=0,
            eos_token_id=1,
            bos_token_id=None,
        )
    )
    with tempfile.TemporaryDirectory() as folder:
        config = GRPOConfig(
            output_dir=folder,
            max_steps=1,
            per_device_train_batch_size=4,
            num_generations=4,
            max_completion_length=1,
            report_to=[],
            use_cpu=True,
            save_strategy="no",
            disable_tqdm=True,
        )
        rows = Dataset.from_list([{"prompt": "1="}] * 4)
        trainer = GRPOTrainer(model, functions, config, rows, processing_class=tokenizer)
        trainer.train()
    return f"advantages {numbers(list(trainer._logs['advantages'])[:4])}"


def odd(case):
    def reward(completions, **_):
        return [native(text, case) for text, _ in zip(GROUP, completions, strict=True)]

    return reward


def ones(completions, **_):
    return [1.0 for _ in completions]


def ours(case, also):
    """rlenv's function; what the random model wrote is replaced by the texts of the group."""
    with environment() as env:
        inner = trl_reward(env, info=["case"], also=also)

        async def reward(prompts, completions, **given):
            return await inner(prompts, GROUP, case=[case] * len(GROUP), **given)

        return trained([reward])


versions("trl", "transformers", "torch")
for case in CASES:
    show(case, "native, alone", lambda case=case: trained([odd(case)]))
    show(case, "native, next to another", lambda case=case: trained([odd(case), ones]))
    show(case, "rlenv, alone", lambda case=case: ours(case, []))
    show(case, "rlenv, next to another", lambda case=case: ours(case, [ones]))
