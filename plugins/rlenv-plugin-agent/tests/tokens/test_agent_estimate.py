"""The estimate of tokens against templates and a tokenizer that has a token for almost each
byte.
"""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rlenv_plugin_agent.contexts import counter, estimate
from token_model import TEMPLATES, encode, render
from token_play import TOOL

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
CALLS = st.dictionaries(TEXT, VALUES, max_size=3)
BEGINNING = [{"role": "system", "content": "You add."}, {"role": "user", "content": "1 + 2?"}]


def turn(index, text, arguments, result):
    function = {
        "name": "user",
        "arguments": json.dumps(arguments, ensure_ascii=False, separators=(",", ":")),
    }
    call = {"id": f"call_{index}_0", "type": "function", "function": function}
    return [
        {"role": "assistant", "content": text, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": call["id"], "content": result},
    ]


@pytest.mark.parametrize("template", TEMPLATES)
@given(made=st.lists(st.tuples(TEXT, CALLS, TEXT), max_size=4))
def test_no_prompt_has_more_tokens_than_the_estimate(template, made):
    messages = [*BEGINNING, *(each for i, row in enumerate(made) for each in turn(i, *row))]
    reply = estimate([{"role": "system", "content": ""}])
    schemas = estimate([{"role": "system", "content": json.dumps([TOOL])}])

    assert len(encode(render(template, messages, []))) <= estimate(messages) + reply
    assert len(encode(render(template, messages, [TOOL]))) <= estimate(messages) + schemas


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_count_by_the_tokenizer_is_less_and_enough(template):
    count = counter(lambda text: len(encode(text)))
    messages = [*BEGINNING, *turn(0, "hello tool", {"a": 1}, "hello " * 50)]

    assert len(encode(render(template, messages, []))) <= count([*messages, {"content": ""}])
    assert count(messages) < estimate(messages)
