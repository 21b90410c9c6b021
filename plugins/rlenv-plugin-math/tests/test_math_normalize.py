"""Text to text: one spelling, no wrappers."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rlenv_plugin_math.limits import LENGTH, Unparsed
from rlenv_plugin_math.normalize import normalize, plain, unwrap


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("  5 ", "5"),
        ("$5$", "5"),
        ("$$5$$", "5"),
        ("\\(5\\)", "5"),
        ("\\[5\\]", "5"),
        ("**5**", "5"),
        ("`5`", "5"),
        ("$\\boxed{5}$.", "5"),
        ("\\boxed{\\frac{1}{2}}", "\\frac{1}{2}"),
        ("\\boxed{1}, \\boxed{2}", "\\boxed{1}, \\boxed{2}"),
        ("x−1", "x-1"),
        ("１２", "12"),
        ("1\u200b2", "12"),
        ("x²", "x^{2}"),
        ("x₁₂", "x_{12}"),
        ("½", "\\frac{1}{2}"),
        ("３½", "3\\frac{1}{2}"),
        ("٣", "3"),
        ("1, 2, ...", "1, 2, ..."),
        ("\\left\\{x\\right.", "\\left\\{x\\right."),
        ("$5", "\\$5"),
        ("$5 and $6", "\\$5 and \\$6"),
        ("$x$ and $y$", "x  and  y"),
        ("5$", "5\\$"),
        ("\\$5", "\\$5"),
        ("3{:}4", "3:4"),
        ("frac{1}{2}", "\\frac{1}{2}"),
        ("\\frac{1}{2}", "\\frac{1}{2}"),
    ],
)
def test_one_spelling(text: str, expected: str) -> None:
    assert normalize(text) == expected


def test_braces_that_do_not_belong_together_are_kept() -> None:
    assert unwrap("\\boxed{1}+\\boxed{2}") == "\\boxed{1}+\\boxed{2}"
    assert unwrap("\\boxed{\\}}") == "\\}"


def test_too_long_a_text_is_refused() -> None:
    with pytest.raises(Unparsed, match="too long"):
        normalize("x" * (LENGTH + 1))
    assert normalize(" " * LENGTH + "x") == "x"


def test_plain_words_have_no_markup_case_or_article() -> None:
    assert plain("\\text{No  Solution}.") == "no solution"
    assert plain("**The** Parallelogram!") == "parallelogram"
    assert plain("a") == "a"


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=40))
def test_normalizing_any_text_ends(text: str) -> None:
    once = normalize(text)
    assert "\u200b" not in once
    assert once == once.strip()


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet="0123456789xyz+-*/^()= ", min_size=1, max_size=20))
def test_plain_ascii_mathematics_keeps_its_signs(text: str) -> None:
    assert normalize(text).replace(" ", "") in text.replace(" ", "")
