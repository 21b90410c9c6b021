"""Context managers: whatever the history, the view keeps the task and what is promised, within the
budget.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from itertools import pairwise
from time import process_time

import pytest
from histories import TASK, Messages, history, is_whole, prefixes, text, turn
from hypothesis import given, settings
from hypothesis import strategies as st
from rlenv_plugin_agent.contexts import (
    CONTEXTS,
    ContextOverflow,
    CountMemo,
    counter,
    estimate,
    summary_by,
)
from rlenv_plugin_agent.contexts.counting import utf8
from rlenv_plugin_agent.contexts.history import start
from rlenv_plugin_agent.contexts.references import find_citations

EACH = pytest.mark.parametrize("name", CONTEXTS)
KEEPERS = ("summary", "fold")  # of cited references


@EACH
def test_what_fits_is_shown_as_it_is_but_by_markov(name: str) -> None:
    messages = history(3)
    shown = CONTEXTS[name](messages, 100_000, estimate)

    assert (shown == messages) is (name != "markov")


LARGE = pytest.param(131_072, marks=pytest.mark.slow)  # cuts less, and takes as long


@EACH
@pytest.mark.parametrize("budget", [32_768, LARGE])
def test_600_turns_stay_in_the_budget_and_whole(name: str, budget: int) -> None:
    count = CountMemo()
    messages = history(600, 1_000)
    for shown in (
        CONTEXTS[name](so_far, budget, count) for so_far in list(prefixes(messages))[::7]
    ):
        assert estimate(shown) <= budget
        assert is_whole(shown)
        assert shown[0] == TASK[0]
        assert str(shown[1]["content"]).startswith("Who wrote it?")


@pytest.mark.parametrize("name", KEEPERS)
def test_600_turns_keep_every_cited_reference_while_the_budget_grows(name: str) -> None:
    count = CountMemo()
    messages = history(600, 1_000)
    for i, so_far in enumerate(prefixes(messages)):
        budget = 32_768 * (1 + i // 200)
        if i % 20:
            continue
        shown = CONTEXTS[name](so_far, budget, count)
        lost = {f"[doc-{k}]" for k in range(0, i, 10)} - {*re.findall(r"\[doc-\d+\]", text(shown))}

        assert not lost
        assert estimate(shown) <= budget


turns = st.lists(
    st.builds(
        lambda words, results, url: (f"{words} {url}", results),
        st.text(max_size=60),
        st.lists(st.text(max_size=30).map(lambda s: s * 40), max_size=3),
        st.sampled_from(
            [
                "",
                "https://example.org/a?b=1",
                "[doc-1]",
                "[doc-2]",
                "result_0_0",
                "turn_0",
                "turn_99",
            ]
        ),
    ),
    max_size=25,
)


@EACH
@given(turns, st.integers(1, 6_000))
@settings(deadline=None)
def test_any_history_is_shown_whole_within_any_budget_or_not_at_all(
    name: str, made: list[tuple[str, list[str]]], budget: int
) -> None:
    messages = [
        *TASK,
        *(each for i, (words, results) in enumerate(made) for each in turn(i, words, results)),
    ]
    copy = json.dumps(messages)
    try:
        shown = CONTEXTS[name](messages, budget, estimate)
    except ContextOverflow:
        assert json.dumps(messages) == copy
        return

    assert estimate(shown) <= budget
    assert is_whole(shown)
    assert shown[0] == TASK[0]
    assert str(shown[1]["content"]).startswith("Who wrote it?")
    assert shown == CONTEXTS[name](messages, budget, CountMemo())
    assert json.dumps(messages) == copy
    if name in KEEPERS:
        expected = {each for message in messages for each in find_citations(message)} - {"turn_99"}
        known = {each for each in expected if not re.match(r"(turn|result)_", each)}
        assert all(each in text(shown) for each in known)


@pytest.mark.parametrize("name", ["recency", "summary", "fold"])
def test_most_views_begin_with_the_view_before(name: str) -> None:
    """Else each turn would be a training sample of its own, and no prefix cache would serve."""
    count = CountMemo()
    views = [CONTEXTS[name](so_far, 32_768, count) for so_far in prefixes(history(160, 1_000))]
    begun = sum(after[: len(before)] != before for before, after in pairwise(views))

    assert 0 < begun < 160 / 4


def test_a_cut_leaves_half_of_the_room_or_less_and_never_nothing() -> None:
    assert start([10] * 10, 100) == 0
    assert start([10] * 11, 100) == 5
    assert start([10] * 15, 100) == 5
    assert start([10] * 16, 100) == 10
    assert start([1, 1_000], 100) == 1
    assert start([], 100) == 0


@EACH
def test_a_task_larger_than_the_budget_overflows(name: str) -> None:
    with pytest.raises(ContextOverflow, match="task"):
        CONTEXTS[name](history(2), 10, estimate)


@EACH
def test_a_message_of_the_policy_larger_than_the_budget_overflows(name: str) -> None:
    with pytest.raises(ContextOverflow, match="last turn"):
        CONTEXTS[name]([*TASK, *turn(0), *turn(1, "x" * 5_000)], 4_000, estimate)


@EACH
def test_results_of_256_kb_are_cut_and_the_episode_goes_on(name: str) -> None:
    messages = [*TASK]
    for i in range(12):
        messages += turn(i, "", ["é" * 128_000] * (1 + i % 3))
        shown = CONTEXTS[name](messages, 8_000, estimate)

        assert estimate(shown) <= 8_000
        assert is_whole(shown)
        assert "é" * 100 in text(shown).replace("\\u00e9", "é")


@EACH
def test_messages_given_by_the_task_are_all_kept(name: str) -> None:
    talk: Messages = [
        *TASK,
        {"role": "assistant", "content": "Which one?"},
        {"role": "user", "content": "The second."},
    ]
    messages = [*talk, *(each for i in range(60) for each in turn(i, "", ["x" * 300]))]
    shown = CONTEXTS[name](messages, 6_000, estimate, given=len(talk))

    assert shown[:3] == talk[:3]
    assert str(shown[3]["content"]).startswith("The second.")


@EACH
def test_lists_of_parts_and_images_are_counted_and_cut(name: str) -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 50_000}}
    asked: Messages = [
        {"role": "user", "content": [{"type": "text", "text": "What is this?"}, picture]}
    ]
    messages = [
        *asked,
        *(
            each
            for i in range(9)
            for each in turn(i, "", [[picture, {"type": "text", "text": "x"}]])
        ),
    ]
    shown = CONTEXTS[name](messages, 40_000, estimate)

    assert estimate(shown) <= 40_000
    assert shown[0]["content"][:2] == asked[0]["content"]  # type: ignore[index] # lists
    assert is_whole(shown)


def test_markov_depends_on_the_texts_of_the_policy_and_the_last_turn_alone() -> None:
    messages = [
        *TASK,
        *turn(0, "I know: 41.", ["secret of the tool"]),
        *turn(1, "<think>hm</think>I know: 42."),
        *turn(2),
    ]
    shown = CONTEXTS["markov"](messages, 10_000, estimate)

    assert "I know: 42.\nI know: 41." in str(shown[1]["content"])
    assert "hm" not in text(shown)
    assert "secret of the tool" not in text(shown)
    assert shown[2:] == messages[-2:]


def test_a_summary_quotes_calls_and_never_tools() -> None:
    shown = CONTEXTS["summary"](history(60), 8_000, estimate)

    assert 'search({"query": "question' in str(shown[1]["content"])
    assert "alpha" not in str(shown[1]["content"])


def test_a_summary_may_be_written_by_a_model_once_for_each_cut() -> None:
    asked = []

    def write(_: object, first: int, room: int) -> str:
        asked.append(first)
        return f"I read {first} turns. " * room

    mine = summary_by(write)
    count = CountMemo()
    messages = history(60)
    for so_far in prefixes(messages):
        shown = mine(so_far, 8_000, count)
        assert estimate(shown) <= 8_000

    assert "I read" in str(shown[1]["content"])
    assert len(asked) == len({*asked}) < 12


@EACH
def test_the_results_of_a_turn_take_a_quarter_of_the_room(name: str) -> None:
    messages = [*TASK, *turn(0), *turn(1, "", ["x" * 9_000] * 3), *turn(2, "", ["x" * 9_000])]
    room = 12_000 - estimate(TASK)
    for end in (len(messages) - 2, len(messages)):
        shown = CONTEXTS[name](messages[:end], 12_000, estimate)
        results = [
            each for each in shown if len(str(each["content"])) > 300 and each["role"] == "tool"
        ]
        assert len(results) == (3 if end < len(messages) else 1) or name != "markov"
        last = results[-3:] if end < len(messages) else results[-1:]
        assert room / 8 < estimate(last) <= room / 4


@pytest.mark.parametrize("name", KEEPERS)
def test_citations_that_need_more_room_leave_fewer_turns_and_not_the_last_alone(name: str) -> None:
    words = " ".join(f"[document-number-{i}]" for i in range(240))
    messages = [
        *TASK,
        *turn(0, words),
        *(each for i in range(1, 80) for each in turn(i, "", ["x" * 200])),
    ]
    shown = CONTEXTS[name](messages, 12_000, estimate)

    assert all(f"[document-number-{i}]" in str(shown[1]["content"]) for i in range(240))
    assert len(shown) > 8


# -- counting -----------------------------------------------------------------------------------


@given(st.text(st.characters()))
def test_no_text_has_more_tokens_of_a_byte_or_longer_than_its_estimate(said: str) -> None:
    assert utf8(said) == len(said.encode("utf-8", "surrogatepass"))


def test_a_tokenizer_of_your_own_counts_texts() -> None:
    words = counter(lambda said: len(said.split()))

    assert words(TASK) == estimate([{"role": "user", "content": ""}]) * 2 + 6
    assert estimate(turn(0, "", ["x"] * 2)) > 2 * 32


def test_images_and_lone_surrogates_are_counted() -> None:
    assert (
        estimate([{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}])
        > 16_384
    )
    assert utf8("\ud800") == 3


def grown(name: str, turns: int) -> float:
    """CPU seconds of all calls of an episode."""
    messages = history(turns, 1_000)
    count = CountMemo()
    begin = process_time()
    for so_far in prefixes(messages):
        CONTEXTS[name](so_far, 32_768, count)
    return process_time() - begin


@EACH
def test_each_message_is_counted_once(name: str) -> None:
    seen: list[int] = []

    def count(messages: Sequence[object]) -> int:
        seen.extend(map(id, messages))
        return estimate(messages)  # type: ignore[arg-type]

    messages = history(100, 1_000)
    remembering = CountMemo(count)
    for so_far in prefixes(messages):
        CONTEXTS[name](so_far, 16_000, remembering)

    assert all(seen.count(id(message)) <= 4 for message in messages[2:])
