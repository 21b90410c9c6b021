"""Words, paragraphs and sentences, and how many of each there are."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rlenv.model.errors import ConfigError
from rlenv_plugin_constraints.constraint import Finding
from rlenv_plugin_constraints.registry import build
from rlenv_plugin_constraints.sentences import sentences
from rlenv_plugin_constraints.text import Text


def finding(kind: str, raw: str, **parameters: Any) -> Finding:
    return build({"kind": kind, **parameters}).check(Text(raw))


@pytest.mark.parametrize(
    ("raw", "count"),
    [
        ("well-known don't 3.14 1,000 U.S.A. e.g. R&D", 7),
        ("हिन्दी भाषा", 2),
        ("我喜欢", 3),
        ("ひらがな", 4),
        ("a\u200bb", 1),
        ("--- * ! 🙂", 0),
        ("می‌خواهم", 1),
        ("cafe\u0301 ok", 2),
        ("cafe\u0301", 1),
        ("l'homme", 1),
        ("hello_world", 1),
        ("한국어 문장", 2),
        ("one—two", 2),
        ("one/two", 2),
        ("", 0),
    ],
)
def test_what_a_word_is(raw: str, count: int) -> None:
    assert len(Text(raw).words) == count


def test_hyphens_do_not_make_one_word_of_a_text() -> None:
    assert len(Text("-".join("abcdefghij")).words) == 2


def test_words_are_the_same_without_and_with_other_characters() -> None:
    raw = "It's a well-known fact: 1,234.5 U.S. dollars (about) snake_case R&D 10:30 v2.0 x"
    assert Text(raw).words == Text(raw + " ☃").words


@given(st.text(max_size=200))
def test_spans_of_words_lines_and_paragraphs_are_those_of_the_text(raw: str) -> None:
    text = Text(raw)
    assert [raw[a:b] for a, b in text.word_spans] == text.words
    assert [raw[a:b] for a, b in text.line_spans] == text.lines
    for spans in (text.word_spans, text.line_spans, text.paragraph_spans, text.sentences):
        assert all(a <= b for a, b in spans)
        assert all(b <= c for (_, b), (c, _) in pairwise(spans))


@given(st.text(max_size=100))
def test_every_view_knows_where_it_comes_from(raw: str) -> None:
    text = Text(raw)
    for view in (text.plain_view, text.caseless_view, text.skeleton_view):
        places = [view.span(at, at + 1) for at in range(len(view.text))]
        assert all(0 <= a < b <= len(raw) for a, b in places)
        assert places == sorted(places)


@pytest.mark.parametrize(
    ("raw", "count"),
    [
        ("Hello there. This is fine.", 2),
        ("Mr. Smith went to Washington. He left.", 2),
        ("I paid $3.50 today.", 1),
        ("e.g. this one.", 1),
        ("Wait... what? No! Ok.", 3),
        ('"Why?" he asked.', 1),
        ('He said "Stop." She stopped.', 2),
        ("hello there. this is fine. ok.", 3),
        ("Dr. J. R. Smith lives at 5 p.m. in the U.S. today.", 1),
        ("It is 5 p.m. We go.", 2),
        ("See No. 5 for it.", 1),
        ("1. First thing\n2. Second thing", 2),
        ("1. First thing. More.", 2),
        ("- one\n- two\n- three", 3),
        ("Title\n\nBody text here.", 2),
        ("你好。我很好！", 2),
        ("यह ठीक है। हाँ।", 2),
        ("Really?! Yes.", 2),
        ("(It works.) Good.", 2),
        ("**Bold.** Next.", 2),
        ("Visit example.com now.", 1),
        ("This line\ngoes on here.", 1),
        ("Hi", 1),
        ("", 0),
        ("...", 0),
        ("🙂!", 0),
    ],
)
def test_where_sentences_end(raw: str, count: int) -> None:
    assert len(sentences(raw)) == count


@pytest.mark.parametrize(
    ("raw", "separator", "count", "fits"),
    [
        ("a\n\nb", "", 2, True),
        ("a\n \t\n\n\nb\n\n", "", 2, True),
        ("a\r\n\r\nb", "", 2, True),
        ("a\nb", "", 1, True),
        ("", "", 0, True),
        ("a\n***\nb", "***", 2, True),
        ("***\na\n***\nb\n***", "***", 2, False),
        ("a\n***\nb\n***\n", "***", 2, False),
        ("\n\n***\na\n***\nb", "***", 2, False),
        ("a\n***\n***\nb", "***", 2, False),
        ("a\n***\n!\n***\nb", "***", 2, False),
        ("a *** b", "***", 1, True),
    ],
)
def test_paragraphs_stand_between_blank_lines_or_rules(
    raw: str, separator: str, count: int, fits: bool
) -> None:
    found = finding("paragraphs", raw, min=count, max=count, separator=separator)
    assert (found.measured, found.satisfied) == (count, fits)


def test_what_is_over_the_limit_is_marked() -> None:
    found = finding("max_words", "one two three four", n=2)
    assert (found.satisfied, found.measured, found.spans) == (False, 4, ((8, 18),))


def test_lengths_have_a_least_and_a_greatest() -> None:
    assert finding("words", "one two", min=2, max=2).satisfied
    assert not finding("words", "one two", min=3).satisfied
    assert not finding("words", "one two", max=1).satisfied
    assert not finding("min_words", "one", n=2).satisfied
    assert finding("sentences", "One. Two.", min=2, max=2).satisfied
    assert finding("lines", "a\n\n \nb", min=2, max=2).satisfied
    assert finding("characters", " a\u200bb ", min=2, max=2).satisfied


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"kind": "words"}, "give min, max or both"),
        ({"kind": "words", "min": 3, "max": 2}, "max = 2 is less than min = 3"),
        ({"kind": "max_words", "n": 0}, "an integer from 1"),
        ({"kind": "max_words", "n": "3"}, "expected an integer"),
        ({"kind": "max_words"}, "required, and missing"),
        ({"kind": "keyword", "word": "a", "n": -1}, "from 0"),
        ({"kind": "keyword", "word": "a", "n": 0, "relation": "less than"}, "less than 0"),
        ({"kind": "keyword", "word": " ", "n": 1}, "something that can be seen"),
        ({"kind": "keyword", "word": "a", "n": 1, "relation": "around"}, '"at least"'),
        ({"kind": "contains", "words": []}, "at least one word"),
        ({"kind": "forbids", "words": ["\u200b"]}, "something that can be seen"),
        ({"kind": "letter", "letter": "ab", "n": 1}, "one character"),
        ({"kind": "choice", "options": ["a"]}, "at least two different"),
        ({"kind": "choice", "options": ["a", " A"]}, "at least two different"),
        ({"kind": "first_word", "word": "a", "paragraph": 3, "paragraphs": 2}, "no response"),
        ({"kind": "section_order", "headings": ["A", "# a"]}, "different"),
        ({"kind": "no_characters", "characters": " "}, "can be seen"),
        ({"kind": "starts_with", "text": ""}, "something that can be seen"),
        ({"kind": "iso_dates", "first": "2025-02-30"}, "first is a day as YYYY-MM-DD"),
        ({"kind": "iso_dates", "first": "20250101"}, "first is a day as YYYY-MM-DD"),
        ({"kind": "iso_dates", "first": "2025-01-02", "last": "2025-01-01"}, "is before first"),
        ({"kind": "number_in_range"}, "give min, max or both"),
        ({"kind": "number_in_range", "min": 2, "max": 1}, "no response can satisfy"),
        ({"kind": "sorted_lines", "order": "up"}, "order"),
        ({"kind": "sorted_lines", "min": 0}, "min is an integer from 1"),
        ({"kind": "word_repeats", "max": 1, "n": 21}, "n is an integer from 1 to 20"),
        ({"kind": "tokens", "n": 2, "min": 3}, "no response can satisfy"),
        ({"kind": "markdown_table", "rows": 0}, "rows is an integer from 1"),
        ({"kind": "markdown_table", "header": False}, "header"),
        ({"kind": "python_docstrings", "of": ["method"]}, "of"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(table: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError) as refused:
        build(table)
    assert said in str(refused.value)
