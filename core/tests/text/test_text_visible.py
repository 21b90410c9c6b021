"""What of a response is visible: one table for every stage, and the laws of reading."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from growth import assert_growth, assert_linear
from hypothesis import given, settings
from hypothesis import strategies as st
from rlenv.text import Thinking, VisibleText, read, visible

MODES: tuple[Thinking, ...] = ("hide", "closed", "keep")
CASES: list[dict[str, Any]] = json.loads((Path(__file__).parent / "visible.json").read_text())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_the_visible_text_is(case: dict[str, Any]) -> None:
    response = case["response"]
    hide = case["hide"]
    assert visible(response) == hide
    assert visible(response, "closed") == case.get("closed", hide)
    assert visible(response, "keep") == case.get("keep", response)


def test_names_of_cases_are_unique() -> None:
    assert len({case["name"] for case in CASES}) == len(CASES)


PARTS = st.sampled_from(
    [
        "<think>",
        "</think>",
        "<THINK>",
        "</Think>",
        "<thinking>",
        "</thinking>",
        "<seed:think>",
        "</seed:think>",
        "[THINK]",
        "[/THINK]",
        "◁think▷",
        "◁/think▷",
        "<|channel|>",
        "<|channel|>analysis<|message|>",
        "<|channel|>final<|message|>",
        "<|channel|>final",
        "<|message|>",
        "<|end|>",
        "<|return|>",
        "<|start|>assistant",
        "<|channel>thought",
        "<channel|>",
        "<|im_end|>",
        "</s>",
        "<s>",
        "`",
        "``",
        "```",
        "```python",
        "~~~",
        "\n",
        "\r\n",
        "\r",
        " ",
        "    ",
        "- ",
        '"',
        "'",
        "<",
        ">",
        "[",
        "a",
        "answer",
        "4",
        "\\boxed{2}",
        "\0",
        "\u200b",
        "\ud800",
        "é",
        "İ",
    ],
)
TEXTS = st.lists(PARTS, max_size=24).map("".join) | st.text(max_size=60)


@settings(deadline=None)
@given(TEXTS, st.sampled_from(MODES))
def test_the_visible_text_is_made_of_pieces_of_the_response_in_order(
    response: str, thinking: Thinking
) -> None:
    found = read(response, thinking)
    assert "".join(response[start:end] for start, end in found.pieces) == found.text
    flat = [offset for piece in found.pieces for offset in piece]
    assert flat == sorted(flat)
    assert all(0 <= offset <= len(response) for offset in flat)
    assert 0 <= found.hidden <= len(response) - len(found.text)


@settings(deadline=None)
@given(TEXTS)
def test_what_is_hidden_grows_from_keep_to_closed_to_hide(response: str) -> None:
    keep, closed, hide = (read(response, mode) for mode in reversed(MODES))
    assert response.startswith(keep.text)
    assert keep.hidden == 0 <= closed.hidden <= hide.hidden


@settings(deadline=None)
@given(TEXTS)
def test_keep_cuts_off_end_marks_only(response: str) -> None:
    kept = visible(response, "keep")
    rest = response[len(kept) :]
    assert not rest or (rest[0] in "<[" and visible(kept, "keep") == kept)


@settings(deadline=None)
@given(TEXTS)
def test_reading_what_is_visible_again_changes_nothing_but_where_parts_met(response: str) -> None:
    """Parts that meet where thinking was may form a new mark; and a second stray mark is text,
    once.
    """
    found = read(response, "hide")
    if len(found.pieces) <= 1 and "<|" not in response and "`" not in response:
        again = read(found.text, "closed")
        assert again.text == found.text


@settings(deadline=None)
@given(TEXTS, st.sampled_from(MODES))
def test_offsets_lead_back_to_the_response(response: str, thinking: Thinking) -> None:
    found = read(response, thinking)
    for offset, letter in enumerate(found.text):
        assert response[found.place(offset)] == letter
        start, end = found.span(offset, offset + 1)
        assert response[start:end] == letter
    assert found.span(0, 0)[0] == found.span(0, 0)[1]
    assert found.place(len(found.text)) <= len(response)


def test_a_span_over_hidden_text_holds_it() -> None:
    found = read("ab<think>x</think>cd")
    assert found == VisibleText("abcd", 16, ((0, 2), (18, 20)))
    assert found.span(1, 3) == (1, 19)
    assert found.place(4) == 20


def test_hidden_counts_thinking_and_no_end_marks() -> None:
    assert read("4<|im_end|>\n").hidden == 0
    assert read("<think></think>4<|im_end|>").hidden == 15


BIG = {
    "blocks in one line": "<think></think>",
    "blocks in lines": "<think>\n</think>a\n",
    "openers": "<think>",
    "closers": "</think>",
    "openers in code spans": "`<think>` ",
    "code spans": "` <think></think>`a` ",
    "runs of backticks": "` ``<think></think> ``` ",
    "fences": "```\n</think>\n```\n",
    "open fences": "```a\n<think></think>",
    "fences of two kinds": "```\n~~~~\n<think>\n</think>",
    "channels": "<|channel|>final<|message|>",
    "headers": "<|channel|>x<|message|>",
    "half headers": "<|channel|>final ",
    "quoted marks": '"<think>"',
    "brackets": "<[◁",
    "end marks": "</s>\n",
    "blanks": " \0",
    "list marks": "- 1. ",
    "one line": "x` <|end|>",
}


@pytest.mark.parametrize("name", BIG)
def test_reading_takes_time_in_proportion(name: str) -> None:
    assert_linear(read, BIG[name])


def test_decreasing_runs_do_not_take_longer() -> None:
    def stairs(top: int) -> str:
        return (
            "<think></think>"
            + "".join("`" * k + " \n" for k in range(top, 0, -1))
            + "</think>~\n" * (top * top // 20)
        )

    small = stairs(150)
    large = stairs(212)
    assert_growth(lambda: read(small), lambda: read(large))


@pytest.mark.slow  # nine megabytes; that cost is linear is tested for smaller texts
def test_ten_megabytes_come_to_an_end() -> None:
    text = ("prose <b> `code` </b>\n```\n<think>\n```\n" * 30_000 + "</think>\n4 ") * 8
    assert len(text) > 9_000_000
    assert read(text).text.endswith("4 ")
