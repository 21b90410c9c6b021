"""A byte order mark at the beginning of a response is not visible: to no reader, and with thinking
or without.
"""

from __future__ import annotations

import pytest
from rlenv import Environment, Task
from rlenv.compose.equal import Equal
from rlenv.text import read, visible

MARK = "\ufeff"


@pytest.mark.parametrize(
    "text", ["42", "", "a\n", "<think>x</think>42", "x</think>42", "4<|im_end|>", "```\n1\n```"]
)
def test_a_mark_in_front_changes_nothing_that_is_visible(text: str) -> None:
    assert visible(MARK + text) == visible(text)


def test_a_mark_elsewhere_is_a_character() -> None:
    assert visible(f"4{MARK}2") == f"4{MARK}2"
    assert visible(f"{MARK}{MARK}42") == f"{MARK}42"
    assert visible(f"{MARK}42", "keep") == f"{MARK}42"


def test_what_is_visible_is_found_in_the_response() -> None:
    found = read(f"{MARK}42")

    assert found.hidden == 0
    assert found.span(0, 2) == (1, 3)


@pytest.mark.parametrize(
    ("response", "reward"), [(f"{MARK}42", 1.0), (f"4{MARK}2", 0.0), (MARK, 0.0)]
)
def test_equal_compares_what_is_visible(response: str, reward: float) -> None:
    with Environment("exact", Equal()) as env:
        assert env.verify(Task("?", answer="42"), response) == reward
