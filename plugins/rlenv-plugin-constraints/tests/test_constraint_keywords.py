"""Words that must be there, must not, or so many times: words, and no patterns or parts of
words.
"""

from __future__ import annotations

from typing import Any

import pytest
from rlenv_plugin_constraints.constraint import Finding
from rlenv_plugin_constraints.registry import build
from rlenv_plugin_constraints.text import Text


def finding(kind: str, raw: str, prompt: str = "", **parameters: Any) -> Finding:
    return build({"kind": kind, **parameters}).check(Text(raw, prompt))


@pytest.mark.parametrize(
    ("word", "raw", "there"),
    [
        ("cat", "The cat's hat", True),
        ("cat", "concatenate", False),
        ("cat", "CAT!", True),
        ("cat", "_cat_", True),
        ("cat", "**cat**", True),
        ("cat", "'cat'", True),
        ("cat", "cat-like", True),
        ("cat", "my_cat", False),
        ("cat", "cat2", False),
        ("can", "I can't", False),
        ("can", "I can’t", False),
        ("I", "I'm here", True),
        ("don't", "I don’t know", True),
        ("(a|b)(", "see (a|b)( here", True),
        ("(a|b)(", "a", False),
        (".*", "anything", False),
        ("C++", "I like C++.", True),
        ("e.g.", "fruit, e.g. apples", True),
        ("New York", "new\n  york", True),
        ("New York", "**New** York", True),
        ("New York", "New Yorkers", False),
        ("100", "1,100", False),
        ("1", "1.5", False),
        ("$100", "it costs $100.", True),
        ("$100", "it costs $1000", False),
        ("café", "cafe\u0301", True),
        ("cafe", "café", False),
        ("strasse", "Straße", True),
        ("cat", "c\u0430t", False),
        ("cat", "c\u200bat", True),
        ("cat", "ｃａｔ", True),
        ("猫", "我的猫很好", True),
        ("cat", "我喜欢cat的", True),
        ("ネコ", "白いネコがいる", True),
        ("고양이", "고양이가 있다", True),
        ("고양이", "들고양이가 있다", False),
        ("кот", "Это кот.", True),
        ("кот", "Это котлета.", False),
        ("นม", "ฉันดื่มนมทุกวัน", True),
        ("!", "Stop!", True),
    ],
)
def test_a_keyword_is_a_word(word: str, raw: str, there: bool) -> None:
    assert finding("contains", raw, words=[word]).satisfied is there


@pytest.mark.parametrize(
    "raw",
    [
        "the bomb",
        "BOMB",
        "ｂｏｍｂ",
        "𝐛𝐨𝐦𝐛",
        "b\u200bomb",
        "bo\u00admb",
        "b\u043emb and other words",
        "\u0412\u041e\u041c\u0412 is what it says",
        "b\u0336o\u0336m\u0336b\u0336",
        "my_bomb",
        "ʙᴏᴍʙ",
        "time-bomb",
        "bomb's",
    ],
)
def test_a_forbidden_word_is_found_in_every_disguise(raw: str) -> None:
    found = finding("forbids", raw, words=["bomb"])
    assert not found.satisfied
    assert len(found.spans) == 1


@pytest.mark.parametrize("raw", ["bombastic", "a b o m b", "", "rhubarb", "abomb"])
def test_a_part_of_a_word_is_not_forbidden(raw: str) -> None:
    assert finding("forbids", raw, words=["bomb"]).satisfied


def test_letters_of_a_russian_text_are_russian() -> None:
    assert finding("forbids", "Это сор и пыль, друзья мои", words=["cop"]).satisfied


@pytest.mark.parametrize(
    "raw", ["x c\u200bat y", "x ｃａｔ y", "ﬁne cat y", "e\u0301 ß cat y", "“x” cat…"]
)
def test_spans_are_those_of_the_response_as_written(raw: str) -> None:
    ((start, end),) = finding("contains", raw, words=["cat"]).spans
    assert raw[start:end] in ("cat", "c\u200bat", "ｃａｔ")


@pytest.mark.parametrize(
    ("relation", "n", "satisfied"),
    [
        ("at least", 2, True),
        ("at least", 3, False),
        ("exactly", 2, True),
        ("less than", 2, False),
        ("at most", 2, True),
        ("more than", 1, True),
        ("more than", 2, False),
    ],
)
def test_a_keyword_is_counted(relation: str, n: int, satisfied: bool) -> None:
    found = finding("keyword", "The cat, the CAT; concatenate", word="cat", n=n, relation=relation)
    assert found.satisfied is satisfied
    assert found.measured == 2


def test_a_keyword_in_disguise_counts_where_it_may_not_be_there_often() -> None:
    raw = "a c\u0430t and a cat"
    assert finding("keyword", raw, word="cat", n=2, relation="less than").measured == 2
    assert finding("keyword", raw, word="cat", n=2).measured == 1


@pytest.mark.parametrize(
    ("letter", "raw", "count"),
    [
        ("a", "Aa b", 2),
        ("#", "# # ##", 4),
        ("e", "é e", 1),
        ("é", "e\u0301", 1),
        ("A", "aA", 2),
        ("!", "！", 1),
    ],
)
def test_letters_are_counted_in_either_case(letter: str, raw: str, count: int) -> None:
    assert finding("letter", raw, letter=letter, n=1).measured == count


def test_a_letter_that_may_not_be_there_is_found_in_another_alphabet() -> None:
    assert not finding(
        "letter", "a n\u043et and so", letter="o", n=2, relation="less than"
    ).satisfied
