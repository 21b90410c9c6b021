"""What the tests with TRL share: a random model of two layers and its tokenizer, made here."""

from __future__ import annotations

from pathlib import Path

import torch
import trl
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

torch.set_num_threads(1)  # more threads are slower for a model of this size
SIGNS = ["<pad>", "<eos>", "<unk>", *"0123456789=+"]
MARKS = [
    "<|im_start|>",
    "<|im_end|>",
    "<think>",
    "</think>",
    "<tool_call>",
    "</tool_call>",
    "<tool_response>",
    "</tool_response>",
]
CHAT_SIGNS = ["<pad>", "<eos>", "<unk>", *MARKS, "\n", *map(chr, range(32, 127))]
TEMPLATE = "{% for m in messages %}{{ m['content'] }}{% endfor %}"


def tokenizer(signs=SIGNS):
    letters = Tokenizer(models.WordLevel({sign: at for at, sign in enumerate(signs)}, "<unk>"))
    letters.pre_tokenizer = pre_tokenizers.Split(Regex("."), "isolated")
    made = PreTrainedTokenizerFast(
        tokenizer_object=letters, pad_token="<pad>", eos_token="<eos>", unk_token="<unk>"
    )
    made.chat_template = TEMPLATE
    return made


def model(kind=LlamaForCausalLM, signs=SIGNS, longest=32):
    torch.manual_seed(0)
    return kind(
        LlamaConfig(
            vocab_size=len(signs),
            hidden_size=64,
            intermediate_size=128,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=4,
            max_position_embeddings=longest,
            pad_token_id=0,
            eos_token_id=1,
            bos_token_id=None,
        )
    )


def chat_tokenizer():
    """A letter is a token, and the chat template is one that TRL brings."""
    letters = tokenizer(CHAT_SIGNS)
    letters.backend_tokenizer.decoder = decoders.Fuse()
    letters.backend_tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex("(?m)."), "isolated")
    letters.add_special_tokens({"additional_special_tokens": MARKS[:2], "eos_token": "<|im_end|>"})
    letters.add_tokens([AddedToken(mark, normalized=False) for mark in MARKS[2:]])
    letters.chat_template = (
        Path(trl.__file__).parent / "chat_templates" / "qwen3.jinja"
    ).read_text("utf-8")
    return letters
