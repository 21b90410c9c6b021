"""Chat templates of many kinds, and how models write calls of tools into their text."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rlenv import ConfigError
from rlenv_plugin_agent.clients import ContextExceeded, EndpointError, token_endpoint
from rlenv_plugin_agent.clients.formats import FORMATS, format_of, message_in
from rlenv_plugin_agent.clients.render import Renderer, load_renderer
from token_model import TEMPLATES, TOKENIZER, encode, end_of, save, source
from token_play import TOOL, play, script

# as the template writes it
CALL = '\n<tool_call>\n{"name": "user", "arguments": {"a": 1}}\n</tool_call>'
LLAMA = '{"name": "user", "parameters": {"a": 1}}'


def policy_of(wires, folder, template):
    return token_endpoint(f"{wires.url}/v1", "m", save(folder, template))


def renderer(template):
    return Renderer(TOKENIZER, source(template), {"bos_token": "<|begin_of_text|>"})


# -- templates -------------------------------------------------------------------------------------


def test_a_call_that_no_template_can_write_ends_the_episode_and_is_no_error(wires, tmp_path):
    """Two calls at once, in a history that begins anew: the model wrote what its template
    rejects.
    """
    policy = policy_of(wires, tmp_path, "llama")
    two = [
        {"id": str(i), "type": "function", "function": {"name": "user", "arguments": "junk"}}
        for i in range(2)
    ]
    talk = [
        {"role": "user", "content": "use"},
        {"role": "assistant", "content": "", "tool_calls": two},
    ]

    with pytest.raises(ContextExceeded, match="calls one tool at a time"):
        asyncio.run(policy(talk, []))


@pytest.mark.parametrize(
    "arguments", ["junk", "[1]", "{" * 10_000, '{"a": ' * 70 + "1" + "}" * 70, "NaN", '{"a": NaN}']
)
def test_arguments_of_any_shape_are_written(arguments):
    call = {"id": "c", "type": "function", "function": {"name": "user", "arguments": arguments}}
    talk = [
        {"role": "user", "content": "use"},
        {"role": "assistant", "content": "", "tool_calls": [call]},
    ]
    written = TOKENIZER.decode(renderer("chatml").prompt(talk, []))

    assert '{"name": "user", "arguments": {"arguments": ' in written


@pytest.mark.parametrize(
    "template",
    [
        "{{ messages",
        "{{ 1/0 }}",
        "{% for i in range(10**9) %}{% endfor %}",
        "{{ ''.__class__.__mro__ }}",
        "{{ raise_exception('no') }}",
    ],
)
def test_a_broken_or_hostile_template_is_a_mistake_of_the_set_up(template):
    made = Renderer(TOKENIZER, template)

    with pytest.raises((ConfigError, EndpointError)):
        made.prompt([{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}], [])


def test_a_template_without_results_of_tools_is_a_mistake_of_the_set_up():
    made = Renderer(
        TOKENIZER,
        "{% for m in messages if m.role != 'tool' %}{{ m.content }}{{ m.tool_calls }}<|im_end|>{%"
        " endfor %}",
    )
    tool = {"role": "tool", "tool_call_id": "c", "content": "5 apples"}

    with pytest.raises(EndpointError, match="leaves out messages of the role tool"):
        made.following([tool], [TOOL], last="<|im_end|>", called="user")


def test_a_template_that_leaves_out_what_the_model_said_cannot_be_continued():
    made = Renderer(TOKENIZER, "{{ messages[0].content }}")

    with pytest.raises(ConfigError, match="does not write the assistant's messages"):
        made.following([{"role": "user", "content": "x"}], [], last="<|im_end|>", called="")


@pytest.mark.parametrize("broken", ["none", "json", "template", "tokenizer"])
def test_a_folder_without_a_model_is_said(tmp_path, broken):
    if broken != "none":
        save(tmp_path, "chatml")
    if broken == "json":
        (tmp_path / "tokenizer_config.json").write_text("{")
    if broken == "template":
        (tmp_path / "tokenizer_config.json").write_text("{}")
    if broken == "tokenizer":
        (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(ConfigError, match=tmp_path.name):
        load_renderer(tmp_path)


CHAT = (
    "{% for m in messages %}{% if m.role == 'assistant' %}SAID{% else %}<|im_start|>{{ m.role"
    " }}\n{{ m.content }}<|im_end|>{% endif %}{% endfor %}{% if add_generation_prompt"
    " %}<|begin_of_text|>{% endif %}"
)
NEXT = "<|im_start|>user\nnext<|im_end|><|begin_of_text|>"
TOLD = "<|im_start|>tool\nnext<|im_end|><|begin_of_text|>"
ARGUMENTS = "{{ m.tool_calls[0].function.arguments | tojson if m.tool_calls }}"


@pytest.mark.parametrize(
    ("said", "role", "last", "wanted"),
    [
        ("{{ m.content }}<|im_end|>\n", "user", "<|im_end|>", "\n" + NEXT),
        ("{{ m.content }}<|im_end|>\n", "user", "", "<|im_end|>\n" + NEXT),
        ("{{ m.content }}<|im_end|>\n", "user", "<|eot_id|>", "\n" + NEXT),
        # as of GLM: a message ends where the next one begins, whose mark the model samples
        ("{{ m.content }}", "user", "<|im_start|>", NEXT.removeprefix("<|im_start|>")),
        ("{{ m.content }}", "user", "", NEXT),
        ("{{ m.content }}", "user", "<|eot_id|>", NEXT),
        # as of gpt-oss: the last message ends with another mark, which begins with the same letters
        (
            "{{ m.content }}{{ '<|eot_id|>' if loop.last else '<|im_end|>' }}",
            "user",
            "<|eot_id|>",
            NEXT,
        ),
        (
            "{{ m.content }}{{ '<|eot_id|>' if loop.last else '<|im_end|>' }}",
            "user",
            "",
            "<|im_end|>" + NEXT,
        ),
        # as of Gemma 4: the content is behind the results of the calls
        (ARGUMENTS + "<|eot_id|>{{ m.content }}", "tool", "<|eot_id|>", TOLD),
        (ARGUMENTS + "<|eot_id|>{{ m.content }}", "tool", "", "<|eot_id|>" + TOLD),
        # as of DeepSeek: arguments are a text
        (
            "{{ m.content }}{{ m.tool_calls[0].function.arguments + '<|eot_id|>' }}",
            "tool",
            "<|eot_id|>",
            TOLD,
        ),
        # calls are not written
        ("{{ m.content }}<|eot_id|>", "tool", "<|eot_id|>", TOLD),
    ],
)
def test_what_follows_a_message_depends_on_how_the_template_ends_it(said, role, last, wanted):
    made = Renderer(TOKENIZER, CHAT.replace("SAID", said))
    new = {"role": role, "content": "next", "tool_call_id": "c"}
    ids = made.following([new], [TOOL], last=last, called="user" * (role == "tool"))

    assert TOKENIZER.decode(ids, skip_special_tokens=False) == wanted


# -- formats ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("form", "written", "content", "calls"),
    [
        ("hermes", "too" + CALL, "too", [("user", '{"a": 1}')]),
        ("hermes", '<tool_call>{"name": "user", "arguments": {}}', "", [("user", "{}")]),
        (
            "hermes",
            "x<tool_call>{junk</tool_call>" + CALL,
            "x",
            [("", "{junk"), ("user", '{"a": 1}')],
        ),
        ("hermes", f"<think>{CALL}</think>too", f"<think>{CALL}</think>too", []),
        ("hermes", f"{CALL}</think>too{CALL}", f"{CALL}</think>too", [("user", '{"a": 1}')]),
        ("hermes", f"<think>{CALL}", f"<think>{CALL}", []),
        ("hermes", "<tool_call>[[3]]</tool_call>", "", [("", "[3]")]),
        (
            "mistral",
            '[TOOL_CALLS] [{"name": "a", "arguments": {}}, {"name": "b", "arguments": {"x": 1}}]',
            "",
            [("a", "{}"), ("b", '{"x": 1}')],
        ),
        ("llama", f"<|python_tag|>{LLAMA}", "", [("user", '{"a": 1}')]),
        ("llama", f"too {LLAMA}", f"too {LLAMA}", []),
        ("", CALL, CALL, []),
    ],
)
def test_calls_are_read_from_the_text(form, written, content, calls):
    message = message_in(written, form)
    found = [
        (c["function"]["name"], c["function"]["arguments"]) for c in message.get("tool_calls", [])
    ]

    assert (message["content"], found) == (content, calls)


@given(
    st.lists(
        st.sampled_from(
            [
                "<tool_call>",
                "</tool_call>",
                "[TOOL_CALLS]",
                "<think>",
                "</think>",
                "{",
                "}",
                "[",
                '"name"',
                ":",
                '"x"',
                " ",
                "\n",
            ]
        ),
        max_size=12,
    ).map("".join),
    st.sampled_from(sorted(FORMATS)),
)
def test_any_text_is_a_message(written, form):
    message = message_in(written, form)

    assert isinstance(message["content"], str)


def test_reading_a_long_text_takes_linear_time():
    for piece in ("<tool_call>", "<think>", " ", "\n{", "</think>", "<tool_call> "):
        for form in FORMATS:
            message_in(piece * 200_000, form)


def test_the_format_is_that_of_the_template():
    assert {name: format_of(source(name)) for name in TEMPLATES} == {
        "chatml": "hermes",
        "thinking": "hermes",
        "recalling": "hermes",
        "llama": "llama",
    }
    assert format_of("{{ messages }}") == ""


def test_a_text_of_ten_thousand_calls_makes_no_more_than_are_kept():
    assert len(message_in(CALL * 10_000, "hermes")["tool_calls"]) == 1024


def test_a_forged_mark_is_split_and_nothing_else():
    assert renderer("chatml").safe("a<|im_end|>b") == "a<\ufdd0|im_end|>b"
    assert renderer("chatml").safe("a<|im_ end|>b") == "a<|im_ end|>b"


def test_without_tools_there_are_no_calls(wires, tmp_path):
    script(wires, "chatml", CALL)

    assert "tool_calls" not in play(policy_of(wires, tmp_path, "chatml"), [], tools=()).messages[-1]


def test_the_end_of_a_message_is_known_for_each_template():
    for template in TEMPLATES:
        ids = renderer(template).following(
            [{"role": "user", "content": "x"}], [], last="", called=""
        )
        assert ids[:1] == encode(end_of(template))
