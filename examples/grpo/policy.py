"""A random Llama of two layers, and a tokenizer of one token for each character: nothing is
downloaded.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch
from tokenizers import Regex, Tokenizer, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

__all__ = ["generate", "make_model", "make_tokenizer"]

SPECIAL = ["<pad>", "<eos>", "<unk>"]


def make_tokenizer(texts: Iterable[str]) -> PreTrainedTokenizerFast:
    """One token for each character of ``texts``; responses are written in the same characters."""
    characters = sorted(set("".join(texts)))
    ids = {sign: at for at, sign in enumerate([*SPECIAL, *characters])}
    letters = Tokenizer(models.WordLevel(ids, "<unk>"))
    letters.pre_tokenizer = pre_tokenizers.Split(Regex(r"[\s\S]"), "isolated")
    pad, eos, unk = SPECIAL
    return PreTrainedTokenizerFast(
        tokenizer_object=letters, pad_token=pad, eos_token=eos, unk_token=unk, padding_side="left"
    )


def make_model(signs: int) -> LlamaForCausalLM:
    """About 85,000 weights, drawn from torch's generator."""
    config = LlamaConfig(
        vocab_size=signs,
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=4,
        max_position_embeddings=64,
        pad_token_id=0,
        eos_token_id=1,
        bos_token_id=None,
    )
    return LlamaForCausalLM(config)


def generate(
    model: LlamaForCausalLM,
    tokenizer: PreTrainedTokenizerFast,
    prompts: list[str],
    tokens: int,
    *,
    sample: bool,
) -> tuple[list[list[int]], list[list[int]]]:
    """The ids of prompts and responses; a response ends with the first mark for its end.

    Args:
        sample: draw responses from the policy; otherwise take the likeliest tokens.
    """
    rows = tokenizer(prompts, return_tensors="pt", padding=True, return_token_type_ids=False)
    how = {"do_sample": True, "top_k": 0} if sample else {"do_sample": False}
    training = model.training
    long = rows["input_ids"].shape[1]
    model.eval()
    with torch.no_grad():
        written = model.generate(**rows, max_new_tokens=tokens, **how)
    model.train(training)
    asked = [
        ids[kept.bool()].tolist()
        for ids, kept in zip(rows["input_ids"], rows["attention_mask"], strict=True)
    ]
    return asked, [_ended(ids) for ids in written[:, long:].tolist()]


def _ended(ids: list[int]) -> list[int]:
    end = SPECIAL.index("<eos>")
    return ids[: ids.index(end) + 1] if end in ids else ids
