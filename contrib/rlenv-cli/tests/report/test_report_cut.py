"""What is cut is marked, what is private can be left out, and nothing is changed on the way."""

from __future__ import annotations

import json
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st
from rlenv_cli.report.columns import PREVIEW_CHARS, Sample, interned, preview
from rlenv_cli.report.cut import cut, final_text, shown_response, shown_stages, shown_value
from rlenv_cli.report.pack import packed, unpacked

TEXT = st.text(st.characters(exclude_categories=()), max_size=300)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)


@given(TEXT, st.integers(1, 200))
@settings(max_examples=100, deadline=None)
def test_a_cut_text_keeps_its_ends_and_counts_what_is_missing(text, limit):
    found = cut(text, limit)
    if isinstance(found, str):
        assert found == text
        assert len(text) <= limit
        return
    assert len(found["head"]) + len(found["tail"]) == limit
    assert found["left"] == len(text) - limit > 0
    assert text.startswith(found["head"])
    assert text.endswith(found["tail"])


@given(TEXT)
@settings(max_examples=100, deadline=None)
def test_packing_gives_ascii_back_to_the_same_text(text):
    whole = packed({"x": text})
    assert whole.isascii()
    assert "<" not in whole
    assert unpacked(whole)["x"] == json.loads(json.dumps(text))


@given(JSON)
@settings(max_examples=100, deadline=None)
def test_any_value_is_shown_in_bounded_size(value):
    found = shown_value([value] * 500)
    assert len(json.dumps(found)) < 1_000_000
    assert "more]" in found[-1] or found[-1].startswith("[...")


def test_a_number_that_a_browser_would_round_is_shown_as_text():
    assert shown_value({"n": 2**53 + 1, "m": 7, "b": True}) == {
        "n": "9007199254740993",
        "m": 7,
        "b": True,
    }
    assert "bits" in shown_value(1 << 20_000)


def test_deep_and_wide_values_say_what_is_left_out():
    deep: object = "x"
    for _ in range(50):
        deep = [deep]
    assert "[... 1 items]" in json.dumps(shown_value(deep))
    wide = shown_value({str(i): i for i in range(100)})
    assert wide["..."] == "[50 more entries]"


def test_the_final_text_of_a_conversation_is_the_last_thing_the_model_said():
    messages = [
        {"role": "assistant", "content": "first"},
        {"role": "assistant", "content": [{"type": "text", "text": "last"}]},
        {"role": "tool", "content": "noise"},
    ]
    assert final_text(messages) == "last"
    assert final_text(None) == final_text([]) == final_text([3]) == ""


def test_a_long_conversation_is_cut_in_the_middle():
    messages = [{"role": "user", "content": "x" * 5000} for _ in range(200)]
    found = shown_response(messages, 1000)
    assert (len(found["messages"]), found["left"], found["at"]) == (60, 140, 30)
    assert found["messages"][0][1]["left"] == 4800


def test_tool_calls_are_written_out():
    found = shown_response([{"role": "assistant", "content": None, "tool_calls": [{"id": 1}]}], 99)
    assert found["messages"] == [["assistant", '[calls [{"id": 1}]]']]


def test_the_public_sees_neither_private_data_nor_messages_at_any_depth(make):
    _, stage = make
    fault = {"kind": "error", "message": "gold is SECRET", "transient": False}
    child = stage(private={"gold": "SECRET"}, fault=fault, score=None)
    stages = [stage(private={"gold": "SECRET"}, children=[child])]
    assert "SECRET" in json.dumps(shown_stages(stages, public=False))
    assert "SECRET" not in json.dumps(shown_stages(stages, public=True))
    assert shown_stages(stages, public=True)[0]["children"][0]["fault"]["kind"] == "error"


def test_a_preview_shows_beginning_and_end_on_one_line():
    text = "It begins.\n" + "x " * 5000 + "\nIt ends with 42."
    found = preview(text)
    assert found.startswith("It begins.")
    assert found.endswith("It ends with 42.")
    assert len(found) <= PREVIEW_CHARS + 3
    assert preview("a\n b") == "a b"


@given(st.integers(0, 5000))
@settings(max_examples=50, deadline=None)
def test_a_sample_is_spread_over_all_rows(n):
    sample = Sample()
    for i in range(n):
        sample.add({"row": i})
    rows = [r["row"] for r in sample.rows]
    assert len(rows) == min(n, len(rows)) <= 400
    assert n < 400 or max(rows) >= n - 2 * sample.stride
    assert {b - a for a, b in pairwise(rows)} <= {sample.stride}


def test_interning_keeps_every_entry():
    values, which = interned(["a", None, "a", "b"])
    assert [values[i] for i in which] == ["a", None, "a", "b"]
    assert len(values) == 3


def test_a_response_nested_without_end_is_shown_in_part():
    deep: object = "x"
    for _ in range(50_000):  # more than any version of Python writes as JSON
        deep = [deep]
    found = shown_response([deep, {"role": "assistant", "tool_calls": deep}], 1000)
    first, second = [text for _, text in found["messages"]]
    assert '[["..."]]' in first
    assert second == f"[calls {first}]"


def test_narrow_limits_shorten_values_too():
    assert len(json.dumps(shown_value({"x": ["y" * 500] * 500}, 80))) < 4000


def test_stages_beyond_the_first_are_counted(make):
    _, stage = make
    found = shown_stages([stage()] * 100, public=True)
    assert (len(found), found[-1]["left"]) == (64, 36)
