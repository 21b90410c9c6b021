"""Chat templates that name results of tools, that alternate roles, and that mark what the model
writes.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from rlenv import ConfigError
from rlenv_plugin_agent.clients import token_endpoint
from rlenv_plugin_agent.clients.render import Renderer, load_renderer
from token_model import TOKENIZER, save
from token_play import TOOL

CALLS = (
    "{% for c in m.tool_calls %}call {{ c.function.name }}{{ c.function.arguments | tojson }}{%"
    " endfor %}"
)
# As Gemma 4: the name of a result is that of the call with its id.
NAMED = (
    "{% set known = namespace(names={}) %}{% for m in messages %}{% for c in m.tool_calls or []"
    " %}{% set known.names = dict(known.names, **{c.id: c.function.name}) %}{% endfor %}{% if"
    " m.role == 'tool' %}{{ 'result of ' + known.names.get(m.tool_call_id) + ': ' + m.content"
    " }}<|im_end|>{% else %}{{ m.content }}" + CALLS + "<|im_end|>{% endif %}{% endfor %}"
)
# As Llama 3: one call in a message.
ONE = NAMED.replace(
    "{% if m.role ==",
    "{% if m.tool_calls and m.tool_calls | length > 1 %}{{ raise_exception('one') }}{% endif %}{%"
    " if m.role ==",
).replace(".get(m.tool_call_id)", ".get(m.tool_call_id, 'it')")
TRAINING = (
    "{% for m in messages %}{% if m.role == 'assistant' %}{%- generation -%}{{ m.content"
    " }}<|im_end|>{%- endgeneration -%}{% else %}{{ m.content }}<|im_end|>{% endif %}{% endfor %}"
)
RESULTS = [
    {"role": "tool", "tool_call_id": f"call_0_{i}", "content": text}
    for i, text in enumerate(["3", "44"])
]


def following(template: str, called: list[str] | str, count: int = 2) -> str:
    ids = Renderer(TOKENIZER, template).following(
        RESULTS[:count], [TOOL], last="<|im_end|>", called=called
    )
    return str(TOKENIZER.decode(ids, skip_special_tokens=False))


def test_results_of_tools_have_the_names_of_their_calls() -> None:
    assert following(NAMED, "add", 1) == "result of add: 3<|im_end|>"
    assert (
        following(NAMED, ["add", "mul"]) == "result of add: 3<|im_end|>result of mul: 44<|im_end|>"
    )


def test_a_template_that_writes_one_call_gets_one() -> None:
    assert following(ONE, ["add", "mul"]) == "result of add: 3<|im_end|>result of it: 44<|im_end|>"


def test_the_tag_generation_changes_nothing() -> None:
    made = Renderer(TOKENIZER, TRAINING)
    plain = Renderer(
        TOKENIZER,
        TRAINING.replace("{%- generation -%}", "").replace("{%- endgeneration -%}", ""),
    )
    talk = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]

    assert made.prompt(talk, []) == plain.prompt(talk, [])


@pytest.mark.parametrize(
    "template", ["{{ messages", "{% unheard %}", "{{ a | unheard }}", "{% generation %}x"]
)
def test_a_template_that_cannot_be_read_is_told_when_the_policy_is_made(
    tmp_path: Path, template: str
) -> None:
    home = save(tmp_path, "chatml")
    with pytest.raises(ConfigError, match=r"chat template cannot be read: line 1"):
        token_endpoint("http://127.0.0.1:1/v1", "m", home, template=template)
    with pytest.raises(ConfigError, match="chat template cannot be read"):
        load_renderer(home, template)
