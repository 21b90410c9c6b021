"""Text in terminals: every character that a terminal obeys or hides is escaped, and ordinary text
is not.
"""

from __future__ import annotations

import sys
from unicodedata import category

import pytest
from rlenv.model.messages import one_line, visible

ESCAPED = {"Cc", "Cf", "Co", "Cn", "Cs", "Zl", "Zp"}


def test_every_code_point_that_is_not_seen_is_escaped_and_no_other() -> None:
    every = map(chr, range(sys.maxunicode + 1))
    wrong = [
        ascii(each)
        for each in every
        if (visible(each) != each) != (category(each) in ESCAPED and each not in "\n\t")
    ]

    assert wrong == []


def test_an_escape_is_printable_and_names_the_code_point() -> None:
    assert visible("a\U000e0041\U000e0042b") == "a\\U000e0041\\U000e0042b"
    assert visible("a\u200db\x1b[2J\ue000\U0010ffff") == "a\\u200db\\x1b[2J\\ue000\\U0010ffff"


@pytest.mark.parametrize(
    "text",
    [
        "naïve\n\tπ ≥ 3",
        "日本語　テスト",
        "שלום",
        "a\u00a0b",
        "👍🏽 ❤️",
        "e\u0301",
        "نمی خواهم",
        "x" * 1000,
    ],
)
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert visible(text) == text


def test_hidden_text_is_escaped_in_one_line_too() -> None:
    hidden = "".join(chr(0xE0000 + ord(letter)) for letter in "pay me")

    assert one_line(f"ok{hidden}", 200).isprintable()
    assert "\\U000e0070" in one_line(f"ok{hidden}", 200)
