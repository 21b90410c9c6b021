"""Patterns with a limit of time, budgets of tokens, and how hard a text reads."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rlenv.model.errors import ConfigError
from rlenv_plugin_constraints.kinds.patterns import Regex
from rlenv_plugin_constraints.kinds.readability import Readability, syllables
from rlenv_plugin_constraints.kinds.tokens import Tokens, estimate
from rlenv_plugin_constraints.text import Text


def test_search_full_and_count() -> None:
    assert Regex(pattern=r"\d+").check(Text("a 12 b")).spans == ((2, 4),)
    assert Regex(pattern=r"\d+", match="full").check(Text(" 12\n")).satisfied
    assert not Regex(pattern=r"\d+", match="full").check(Text("12 b")).satisfied
    assert Regex(pattern=r"a|ab", match="full").check(Text("ab")).satisfied
    two = Regex(pattern=r"\d+", match="count", min=2, max=2)
    assert [two.check(Text(t)).satisfied for t in ("1", "1 2", "1 2 3")] == [False, True, False]
    assert not Regex(pattern="x*", match="count").check(Text("aaa")).satisfied
    assert Regex(pattern="A.B", flags="is").check(Text("a\nb")).satisfied


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("(a|aa)+$", "a" * 5000 + "b"),
        ("(x+x+)+y", "x" * 5000),
        ("(.*)(.*)(.*)(.*)(.*)[^a]$", "a" * 3000),
    ],
)
def test_a_pattern_that_goes_on_for_ever_is_undecided(pattern: str, text: str) -> None:
    for match in ("search", "count"):
        found = Regex(pattern=pattern, match=match, seconds=0.05).check(Text(text))
        assert not found.satisfied
        assert found.undecided or found.measured == 0


@pytest.mark.parametrize(
    "options",
    [
        {"pattern": "("},
        {"pattern": "*"},
        {"pattern": ""},
        {"pattern": "a", "flags": "q"},
        {"pattern": "a", "seconds": 0},
        {"pattern": "a", "min": 1},
        {"pattern": "a", "match": "count", "min": 2, "max": 1},
        {"pattern": "[z-a]"},
    ],
)
def test_patterns_that_are_none(options: Any) -> None:
    with pytest.raises(ConfigError):
        Regex(**options)


def test_a_rule_travels() -> None:
    rule = Regex(pattern="a+")
    assert pickle.loads(pickle.dumps(rule)).check(Text("aa")).satisfied


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("", 0, 0),
        ("The cat sat on the mat.", 6, 9),
        ("internationalization", 3, 6),
        ("你好世界" * 10, 30, 80),
        ("こんにちは", 3, 8),
        ("Привет мир", 3, 10),
        ("=" * 100, 1, 30),
        ("🙂" * 10, 10, 30),
        (" " * 1000, 1, 70),
        ("123456789", 3, 9),
        ("x" * 1000, 200, 300),
    ],
)
def test_tokens_are_about_those_of_tokenizers(text: str, low: int, high: int) -> None:
    assert low <= estimate(text) <= high


@given(st.text(), st.text())
def test_more_text_is_hardly_fewer_tokens(one: str, other: str) -> None:
    assert estimate(one + " " + other) + 1 >= max(estimate(one), estimate(other)) * 3 // 4


def test_a_budget_of_tokens() -> None:
    assert Tokens(n=10).check(Text("The cat sat.")).satisfied
    assert not Tokens(n=3).check(Text("你好世界你好世界")).satisfied
    with pytest.raises(ConfigError):
        Tokens(n=0)


@pytest.mark.parametrize(
    ("word", "count"),
    [
        ("the", 1),
        ("water", 2),
        ("education", 4),
        ("people", 2),
        ("table", 2),
        ("make", 1),
        ("makes", 1),
        ("baked", 1),
        ("wanted", 2),
        ("create", 2),
        ("idea", 3),
        ("science", 2),
        ("being", 2),
        ("beautiful", 3),
        ("nation", 2),
        ("social", 2),
        ("boxes", 2),
        ("apple", 2),
        ("queen", 1),
        ("piano", 3),
        ("tree", 1),
        ("played", 1),
        ("university", 5),
        ("well-known", 2),
        ("don't", 1),
    ],
)
def test_syllables(word: str, count: int) -> None:
    assert syllables(word) == count


EASY = "The cat sat on the mat. The dog ran to the cat. They all had fun in the sun."
HARD = (
    "Institutional considerations notwithstanding, comprehensive epistemological investigations"
    " necessitate interdisciplinary methodological sophistication."
)


def test_easy_texts_read_easily() -> None:
    assert Readability(min=80).check(Text(EASY)).satisfied
    assert not Readability(min=30).check(Text(HARD)).satisfied
    assert Readability(metric="grade", max=4).check(Text(EASY)).satisfied
    assert not Readability(metric="grade", max=12).check(Text(HARD)).satisfied


@pytest.mark.parametrize(
    "text",
    ["", "12345", "🙂🙂", "...", "Это русский текст без английских слов.", "你好世界", "\ud800"],
)
def test_what_is_no_english_is_not_readable(text: str) -> None:
    for rule in (Readability(min=-1000), Readability(metric="grade", max=1000)):
        assert not rule.check(Text(text)).satisfied


def test_bounds_that_nothing_meets() -> None:
    with pytest.raises(ConfigError):
        Readability(min=60, max=50)
    with pytest.raises(ConfigError):
        Readability()
