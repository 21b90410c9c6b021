"""A small model for tests: a BPE tokenizer made here, four chat templates, and texts that it
samples as told.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TypeAlias

from jinja2 import Environment
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

JSON: TypeAlias = dict[str, Any]
HERE = Path(__file__).parent / "templates"
TEMPLATES = [path.stem for path in sorted(HERE.glob("*.jinja"))]
MARKS = [
    "<|im_start|>",
    "<|im_end|>",
    "<|begin_of_text|>",
    "<|start_header_id|>",
    "<|end_header_id|>",
    "<|eot_id|>",
]
MERGES = [
    ("h", "e"),
    ("l", "l"),
    ("ll", "o"),
    ("he", "llo"),
    ("t", "o"),
    ("to", "o"),
    ("too", "l"),
    ("u", "s"),
    ("us", "e"),
    ("use", "r"),
]


def make_tokenizer() -> Tokenizer:
    """Bytes and a few merges: ``hello`` is one token, though ``he|llo`` may be sampled."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {text: at for at, text in enumerate([*alphabet, *("".join(m) for m in MERGES)])}
    made = Tokenizer(models.BPE(vocab=vocabulary, merges=MERGES))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    made.add_special_tokens([AddedToken(text, normalized=False, special=True) for text in MARKS])
    made.add_tokens(
        [AddedToken("<tool_call>", normalized=False), AddedToken("</tool_call>", normalized=False)]
    )
    return made


TOKENIZER = make_tokenizer()


def end_of(template: str) -> str:
    """What ends a message."""
    return "<|eot_id|>" if template == "llama" else "<|im_end|>"


def source(template: str) -> str:
    return (HERE / f"{template}.jinja").read_text("utf-8")


def encode(text: str) -> list[int]:
    """Ids as a server makes them: marks in the text are control tokens."""
    return list(TOKENIZER.encode(text, add_special_tokens=False).ids)


def split(text: str) -> list[int]:
    """Ids of a text in which ``hello`` is sampled as ``he|llo``."""
    first, *rest = text.split("hello")
    return [
        *encode(first),
        *(at for part in rest for at in (*encode("he"), *encode("llo"), *encode(part))),
    ]


def render(template: str, messages: list[JSON], tools: list[JSON], *, goes_on: bool = True) -> str:
    """A conversation as a server writes it, without any care for what contents hold."""
    jinja = Environment(trim_blocks=True, lstrip_blocks=True)
    jinja.filters["tojson"] = lambda value: json.dumps(value, ensure_ascii=False)
    jinja.globals["raise_exception"] = lambda text: 1 / 0
    known = {"bos_token": "<|begin_of_text|>", "add_generation_prompt": goes_on, "tools": tools}
    return jinja.from_string(source(template)).render(
        messages=[parsed(m) for m in messages], **known
    )


def parsed(message: JSON) -> JSON:
    """vLLM hands templates the arguments of calls as objects (vllm/entrypoints/chat_utils.py)."""
    if not message.get("tool_calls"):
        return message
    calls = [
        {**c, "function": {**c["function"], "arguments": json.loads(c["function"]["arguments"])}}
        for c in message["tool_calls"]
    ]
    return {**message, "tool_calls": calls}


def save(folder: Path, template: str) -> Path:
    """A folder as of a model of Hugging Face."""
    TOKENIZER.save(str(folder / "tokenizer.json"))
    config = {
        "bos_token": "<|begin_of_text|>",
        "eos_token": {"content": end_of(template)},
        "chat_template": source(template),
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(config), "utf-8")
    return folder
