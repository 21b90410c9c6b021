"""The mask of samples and the tool mask of TRL's GRPO agree, over TRL's own templates and cuts of
texts at random.
"""

from __future__ import annotations

import asyncio
import random
import re
import sys
from itertools import pairwise
from pathlib import Path

import pytest

pytest.importorskip("trl", reason="TRL is not installed here: `make test-trainers` runs this")

import torch
import trl
from datasets import Dataset
from rlenv import Tokens, Trajectory
from rlenv_plugin_agent.clients.render import Renderer
from rlenv_plugin_agent.clients.sampling import SampledIds, TokenPolicy
from rlenv_plugin_agent.clients.server import Server
from rlenv_plugin_agent.messages import assistant
from tokenizers import AddedToken
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
from transformers.utils import get_json_schema
from trl import GRPOConfig, GRPOTrainer
from trl.chat_template_utils import get_training_chat_template

WIRES = str(Path(__file__).parents[1] / "tokens" / "wires")
if WIRES not in sys.path:
    sys.path.append(WIRES)

from token_model import TOKENIZER, encode, make_tokenizer  # noqa: E402 - found as above
from token_play import answered, samples  # noqa: E402 - as above

torch.set_num_threads(1)
TEMPLATES = ["qwen2_5", "qwen3", "qwen3_instruct_2507"]
CALL = '<tool_call>\n{"name": "add", "arguments": {"a": 1, "b": 2}}\n</tool_call>'
END = "<|im_end|>"
# Of four rollouts: a call and an answer, an answer, two calls and an answer, and two calls at once.
ROLLOUTS = [
    [CALL, "hello"],
    ["hello use"],
    [f"use\n{CALL}", CALL, "too"],
    [f"{CALL}\n{CALL}", "hello hello"],
]
PROMPT = [{"role": "user", "content": "use hello"}]


def add(a: int, b: int) -> int:
    """Adds two numbers.

    Args:
        a: a number.
        b: another number.

    Returns:
        Their sum.
    """
    return a + b


def cut(text, seed):
    """Ids of a text that is cut at random places, and of its end."""
    draw = random.Random(f"{text} {seed}")
    cuts = sorted({0, len(text), *(draw.randint(0, len(text)) for _ in range(3))})
    return [*(at for a, b in pairwise(cuts) for at in encode(text[a:b])), *encode(END)]


def tokenizer(template):
    made = PreTrainedTokenizerFast(
        tokenizer_object=TOKENIZER, eos_token=END, pad_token="<|eot_id|>"
    )
    made.chat_template = (
        Path(trl.__file__).parent / "chat_templates" / f"{template}.jinja"
    ).read_text("utf-8")
    return made


class Scripted(LlamaForCausalLM):  # type: ignore[misc] # TRL has an environment of its own
    """Samples nothing: its ids are given, round by round."""

    def generate(self, input_ids, **_):
        ids = self.rounds.pop(0)
        longest = max(map(len, ids))
        pad = encode("<|eot_id|>")
        rows = torch.tensor([one + pad * (longest - len(one)) for one in ids])
        return torch.cat([input_ids, rows], dim=1)


class Keeping(GRPOTrainer):  # type: ignore[misc] # TRL has an environment of its own
    """Keeps what it generated."""

    def _generate(self, prompts):
        self.kept = super()._generate(prompts)
        return self.kept


def generated(tmp_path, template, sampled):
    config = GRPOConfig(
        output_dir=str(tmp_path),
        max_steps=1,
        per_device_train_batch_size=4,
        num_generations=4,
        max_completion_length=2000,
        report_to=[],
        use_cpu=True,
        save_strategy="no",
        disable_tqdm=True,
        seed=0,
        chat_template_kwargs={"enable_thinking": False},
    )
    model = Scripted(
        LlamaConfig(
            vocab_size=TOKENIZER.get_vocab_size(),
            hidden_size=16,
            intermediate_size=16,
            num_hidden_layers=1,
            num_attention_heads=1,
            num_key_value_heads=1,
            max_position_embeddings=8192,
        )
    )
    model.rounds = [
        [each[i] for each in sampled if len(each) > i] for i in range(max(map(len, sampled)))
    ]
    trainer = Keeping(
        model,
        lambda completions, **_: [0.0] * len(completions),
        config,
        Dataset.from_list([{"prompt": PROMPT}]),
        processing_class=tokenizer(template),
        tools=[add],
    )
    trainer.train()
    prompt_ids, completion_ids, tool_mask = trainer.kept[:3]
    return [*zip(prompt_ids, completion_ids, tool_mask, strict=True)]


def played(template, turns, tools, answer="3"):
    """The sample of the same ids, with the model's own template."""
    left = [*turns]

    class Given(TokenPolicy):
        async def sample(self, ids):
            return SampledIds(Tokens(ids, left.pop(0)), "", stopped=True)

    known = tokenizer(template)
    model = Renderer(TOKENIZER, known.chat_template, {"enable_thinking": False})
    policy = Given(Server("http://127.0.0.1:9"), "m", model, calls="hermes").begin()

    async def run():
        messages = [*PROMPT]
        tokens = []
        for turn in range(len(turns)):
            reply = await policy(messages, tools)
            messages.append(assistant(reply.message, turn))
            tokens.append(reply.tokens)
            messages += answered(messages[-1], answer) if turn + 1 < len(turns) else []
        return Trajectory(messages, tokens)

    (sample,) = samples(asyncio.run(run()))
    return list(sample.prompt_ids), list(sample.ids), list(sample.mask)


@pytest.mark.parametrize("template", TEMPLATES)
def test_samples_are_what_grpo_trains_on(tmp_path, template):
    for seed in range(3):
        sampled = [[cut(text, seed) for text in texts] for texts in ROLLOUTS]
        found = generated(tmp_path, template, sampled)

        assert [played(template, turns, [get_json_schema(add)]) for turns in sampled] == found


def test_the_texts_are_not_cut_as_the_tokenizer_would():
    assert any(encode("hello") != cut("hello", seed)[:-1] for seed in range(3))


@pytest.mark.parametrize("template", TEMPLATES)
def test_the_generation_marks_of_templates_are_no_reference(template):
    """They also cover what nobody sampled: the new line behind the end of a message, and ids cut
    another way.
    """
    known = tokenizer(template)
    turns = [cut("hello", 0), cut("use", 0)]
    talk = [
        *PROMPT,
        {"role": "assistant", "content": "hello"},
        *PROMPT,
        {"role": "assistant", "content": "use"},
    ]
    marked = known.apply_chat_template(
        talk,
        chat_template=get_training_chat_template(known),
        return_assistant_tokens_mask=True,
        return_dict=True,
        enable_thinking=False,
    )
    credited = [
        at for at, one in zip(marked["input_ids"], marked["assistant_masks"], strict=True) if one
    ]
    _, ids, mask = played(template, turns, [], answer="use hello")

    assert [at for at, one in zip(ids, mask, strict=True) if one] == [*turns[0], *turns[1]]
    assert TOKENIZER.decode(credited, skip_special_tokens=False).count("<|im_end|>\n") == 2
    assert credited != [*turns[0], *turns[1]]


# -- all templates that TRL brings -----------------------------------------------------------------

NAMES = sorted(path.stem for path in (Path(trl.__file__).parent / "chat_templates").glob("*.jinja"))
IMAGES = ("idefics3", "llava_next", "smolvlm")  # their messages are lists of parts
TOOLLESS = ("cohere", "gemma", "phi3")  # they write no results of tools
MARK = re.compile(r"<\|?[^<>\s'\"{}]{2,40}\|?>|\[/?[A-Z_]+\]|<\uff5c[^<>]+\uff5c>")
PLAIN = re.compile(
    r"</?(think|tool|function|parameter|arg|xml|IMPORTANT|name|types?|description|return|response)"
)


def renderer(name):
    """A template with a tokenizer of which all marks in it are control tokens."""
    source = (Path(trl.__file__).parent / "chat_templates" / f"{name}.jinja").read_text("utf-8")
    source = re.sub(r"\{%-?\s*(end)?generation\s*-?%\}", "", source)
    marks = {each for each in MARK.findall(source) if not PLAIN.match(each)} | {
        "<|eos|>",
        "<|bos|>",
    }
    known = make_tokenizer()
    known.add_special_tokens([AddedToken(each, normalized=False) for each in sorted(marks)])
    return Renderer(
        known, source, {"bos_token": "<|bos|>", "eos_token": "<|eos|>", "pad_token": ""}
    )


@pytest.mark.parametrize("name", [name for name in NAMES if not name.startswith(IMAGES)])
def test_what_follows_a_message_is_what_the_template_writes_there(name):
    made = renderer(name)
    tools = [get_json_schema(add)]
    called = {
        "id": "call00000",
        "type": "function",
        "function": {"name": "add", "arguments": '{"a": 1, "b": 2}'},
    }
    user = {"role": "user", "content": "next"}
    tool = {"role": "tool", "tool_call_id": "call00000", "name": "add", "content": "42"}
    cases = [({"role": "assistant", "content": "ok"}, user, "")]
    if not name.startswith(TOOLLESS) or name.startswith("gemma4"):
        cases.append(({"role": "assistant", "content": "", "tool_calls": [called]}, tool, "add"))
    for said, new, name_of_tool in cases:
        whole = made.prompt([*PROMPT, said, new], tools)
        ids = made.following([new], tools, last="<|none|>", called=name_of_tool)
        cut = made.following([new], tools, last="", called=name_of_tool)
        end = cut[: len(cut) - len(ids)]

        assert whole[-len(ids) :] == ids
        assert len(end) == 1 or name.startswith("glm4moe")
        assert whole[-len(cut) :] == cut
        assert new["content"] in made.tokenizer.decode(ids)
