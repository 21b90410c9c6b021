"""The sides of a row: whatever JSON a response is, they hold texts that `datasets` can read, or the
row is left out.
"""

import json
from contextlib import suppress

from hypothesis import given
from hypothesis import strategies as st
from rlenv import Task
from rlenv_train.data.conversation import OPTIONAL, LeftOut, Renderer

TEXTS = st.text(st.characters(codec=None), max_size=5)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
CALLS = st.lists(
    VALUES
    | st.fixed_dictionaries(
        {
            "function": VALUES
            | st.fixed_dictionaries({}, optional={"name": VALUES, "arguments": VALUES})
        }
    ),
    max_size=2,
)
MESSAGES = st.fixed_dictionaries(
    {"role": st.sampled_from(["system", "user", "assistant", "tool"]), "content": VALUES | TEXTS},
    optional={
        "tool_calls": CALLS | VALUES,
        "name": VALUES,
        "tool_call_id": VALUES,
        "provenance": VALUES,
    },
)
RESPONSES = (
    TEXTS
    | VALUES
    | st.lists(MESSAGES | VALUES, max_size=4)
    | st.lists(MESSAGES, min_size=1, max_size=4)
)
TASKS = {"t": Task("Q?", id="t")}


def texts(value):
    """Every string in it."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from texts(inner)


@given(RESPONSES, st.booleans(), st.sampled_from(["t", "other", None]))
def test_any_response_has_two_sides_or_a_reason(response, text, task):
    render = Renderer(TASKS, frozenset(OPTIONAL), text)
    with suppress(LeftOut):
        prompt, completion = render.sides({"row": 1, "task": task, "response": response})

        assert isinstance(prompt, str) == isinstance(completion, str) == text
        for found in texts([prompt, completion]):
            found.encode()
        for message in () if text else [*prompt, *completion]:
            assert message.keys() == {"role", "content", *OPTIONAL}
            assert isinstance(message["content"], str)
        json.dumps([prompt, completion], allow_nan=False)


@given(st.lists(MESSAGES, min_size=1, max_size=4))
def test_a_completion_begins_with_the_assistant(messages):
    with suppress(LeftOut):
        prompt, completion = Renderer(TASKS, frozenset()).sides(
            {"row": 1, "task": "t", "response": messages}
        )

        assert completion[0]["role"] == "assistant"
        assert all(message["role"] != "assistant" for message in prompt)
