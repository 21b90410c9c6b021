"""Words are cut from a copy of the text.

They are those that the pattern of words finds one by one.
"""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rlenv_plugin_constraints.text import Text
from rlenv_plugin_constraints.views import beyond_ascii, even
from rlenv_plugin_constraints.words import LETTERS, PARTS, Cut, pattern_of

SIGNS = "aB1é’'-_&.,:… \n—“😀❤\ufe0f\u200b\u0301٫²ßИ一。\ud800\xa0ﬁ"


def found(raw: str) -> list[str]:
    return list(pattern_of(raw).findall(raw))


@given(st.text(st.sampled_from(SIGNS), max_size=24))
def test_words_of_any_text_are_those_that_its_pattern_finds(raw: str) -> None:
    text = Text(raw)

    assert text.words == found(raw)
    assert [raw[start:end] for start, end in text.word_spans] == text.words


@pytest.mark.parametrize(("cut", "letter"), [(PARTS, r"[^\W_]"), (LETTERS, r"[^\W\d_]")])
@given(raw=st.text(st.sampled_from(SIGNS), max_size=24))
def test_parts_of_words_are_letters_that_an_apostrophe_joins(
    cut: Cut, letter: str, raw: str
) -> None:
    flat = cut.flat(raw, beyond_ascii(raw))

    assert flat is None or flat.split() == re.findall(rf"{letter}+(?:['’]{letter}+)*", raw)


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (
            "It’s the U.S.’s well-known “e.g.” 3.14!",
            ["It’s", "the", "U.S.", "s", "well-known", "e.g.", "3.14"],
        ),
        ("so 😀 it ❤️ is…", ["so", "it", "is"]),
        ("a-b-c-d-e-f-g", ["a-b-c-d-e", "f-g"]),
        ("e.g.x", ["e.g.", "x"]),
        ("cafe\u0301 na\u00efve", ["cafe\u0301", "naïve"]),
        ("1٫5 ½", ["1٫5", "½"]),
    ],
)
def test_words_of(raw: str, words: list[str]) -> None:
    assert Text(raw).words == words


def test_a_text_of_very_many_different_signs_is_read_as_well() -> None:
    raw = " ".join(map(chr, range(0x2500, 0x2600))) + " end"

    assert Text(raw).words == ["end"]
    assert Text(raw + "…").plain.endswith("end...")


@given(st.text(st.sampled_from(SIGNS + "ǅÅＡ½™"), max_size=12))
def test_a_view_says_where_each_of_its_characters_stands(raw: str) -> None:
    for view in (Text(raw).plain_view, Text(raw).caseless_view, Text(raw).skeleton_view):
        spans = [view.span(at, at + 1) for at in range(len(view.text))]

        assert all(0 <= start < end <= len(raw) for start, end in spans)
        assert spans == sorted(spans)
        assert view.odd == beyond_ascii(view.text)


def test_even_text_is_what_the_caseless_view_reads() -> None:
    assert even("  The `Cat’s “END” ") == "the 'cat's \"end\""
    assert even("A`B  c") == "a'b c"
