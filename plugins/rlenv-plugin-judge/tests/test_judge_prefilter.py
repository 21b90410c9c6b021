"""What is nothing, and what a judge must look at."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rlenv_plugin_judge.protocol.prefilter import contentless

NOTHING = {
    "empty": "",
    "blank": " \t\r\n\v\f",
    "no-break": "\u00a0\u2003\u3000",
    "zero-width": "\u200b\u200c\u200d\u2060\ufeff",
    "nul": "\x00\x01",
    "dot": ".",
    "colon": ":",
    "marks": "?!… —–「」。、؟",
    "markdown": "# ** __ ``` ~~~ | --- |",
    "ascii-signs": "$ + < = > ^ ` | ~",
    "full-width-signs": "＋＝＜＞：．",
    "hangul-filler": "\u3164\u115f\u1160\uffa0",
    "braille-blank": "\u2800",
    "lost": "\ufffd\ufffc",
    "lone-surrogate": "\ud800",
    "private-use": "\ue000",
    "combining-only": "\u0301\u0302\ufe0f",
    "boxes": "────│┼■●▪",
    "arrows": "→ ⇒ ⬅",
    "right-to-left-marks": "\u202e\u202c\u200f",
}
SOMETHING = {
    "letter": "a",
    "digit": "7",
    "arabic": "لا",
    "chinese": "是",
    "arabic-digit": "٧",
    "emoji": "👍",
    "emoji-with-skin": "👍🏽",
    "flag": "🇫🇷",
    "infinity": "∞",
    "check": "✓",
    "hidden-letter": "\u200b.\u200bx",
    "master-key": "Thought process:",
    "superscript": "²",
    "refusal": "I cannot help with that.",
}


@pytest.mark.parametrize("name", sorted(NOTHING))
def test_nothing_needs_no_judge(name: str) -> None:
    assert contentless(NOTHING[name])


@pytest.mark.parametrize("name", sorted(SOMETHING))
def test_something_is_for_the_judge(name: str) -> None:
    assert not contentless(SOMETHING[name])


@given(st.text(alphabet="".join(NOTHING.values())))
def test_nothing_many_times_is_nothing(text: str) -> None:
    assert contentless(text)


@given(st.text(), st.characters(categories=["Ll", "Lu", "Nd"]), st.text())
def test_a_letter_or_digit_anywhere_is_something(before: str, char: str, after: str) -> None:
    assert not contentless(before + char + after)
