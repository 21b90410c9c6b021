"""The published checkers' verdicts, faults included, and a page that lists where they differ."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from rlenv_plugin_constraints.instructions import INSTRUCTIONS
from rlenv_plugin_constraints.official import verdict
from rlenv_plugin_constraints.official.punkt import sentences, tokens

_PAGE = Path(__file__).parents[3] / "docs" / "explanation" / "instructions.md"
_FAULTS: list[tuple[str, dict[str, Any], str]] = [
    ("language:response_language", {"language": "kn"}, "12345"),
    ("keywords:existence", {"keywords": ["cat"]}, "concatenate"),
    ("keywords:forbidden_words", {"forbidden_words": ["rock"]}, "r\u043eck"),
    ("detectable_format:constrained_response", {}, "My answer is yes. My answer is no."),
    ("detectable_format:json_format", {}, "NaN"),
    ("combination:two_responses", {}, "a******b"),
    ("detectable_content:number_placeholders", {"num_placeholders": 3}, "[][][]"),
    (
        "detectable_format:multiple_sections",
        {"section_spliter": "Section", "num_sections": 2},
        "Section 1 Section 2",
    ),
    ("punctuation:no_comma", {}, "一，二"),
    ("startend:quotation", {}, '""'),
    ("count:conjunctions", {"small_n": 3}, "And and AND"),
    ("words:palindrome", {}, "level " * 10),
    ("format:parentheses", {}, "((((( x)"),
    ("format:quotes", {}, '"a \'b "c" d\' e"'),
    ("ratio:sentence_type", {}, "no marks"),
    ("ratio:sentence_balance", {}, "no marks"),
    ("format:sub-bullets", {}, "no bullets"),
    ("format:list", {"sep": "-"}, "a-b-c"),
    ("custom:date_format_list", {}, "1800-00-99"),
    ("custom:reverse_newline", {}, "Zimbabwe\n" * 52),
    ("words:vowel", {}, "hmm"),
    ("words:last_first", {}, "one sentence"),
    ("count:words_japanese", {"N": 9}, "too short"),
]


@pytest.mark.parametrize(("name", "kwargs", "response"), _FAULTS, ids=[f[0] for f in _FAULTS])
def test_what_the_published_checkers_let_pass_passes(
    name: str, kwargs: dict[str, Any], response: str
) -> None:
    assert verdict(name, kwargs, response)


@pytest.mark.parametrize(
    ("name", "kwargs", "response"),
    [
        ("format:options", {"options": "a), b), c), d)"}, "b)\n"),
        ("format:title_case", {}, "I Don't Know"),
        ("format:no_bullets_bullets", {}, "One. Two.\n\nThree.\n* a\n* b"),
        ("words:paragraph_last_first", {}, "Cats, as all know, are cats."),
        ("startend:quotation", {}, "“curly”"),
        ("words:consonants", {}, "strong - wind"),
        ("custom:csv_city", {}, "```\nID,Country,City,Year,Count\n```"),
        ("count:keywords_multiple", {f"keyword{i}": w for i, w in enumerate("abcde", 1)}, "a"),
    ],
)
def test_what_the_published_checkers_refuse_is_refused(
    name: str, kwargs: dict[str, Any], response: str
) -> None:
    assert not verdict(name, kwargs, response)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("Dr. Smith came. He left.", 2),
        ("One. two three.", 2),
        ("It ends... He left.", 2),
        ("It costs 3.50 dollars. Cheap!", 2),
        ('He said "hello." Then he left.', 2),
        ("1. First item\n2. Second item", 3),
        ("J. R. Tolkien wrote it.", 1),
        ("", 0),
    ],
)
def test_sentences_part_as_punkt_parts_them(text: str, count: int) -> None:
    assert len(sentences(text)) == count


def test_words_part_as_the_treebank_parts_them() -> None:
    said = "I don't like John's 3,000 \"big\" cats (he cannot)."
    words = "I do n't like John 's 3,000 `` big '' cats ( he can not ) ."
    assert " ".join(tokens(said)) == words


@pytest.mark.parametrize("name", sorted(INSTRUCTIONS))
def test_the_page_lists_every_instruction(name: str) -> None:
    if not _PAGE.exists():
        pytest.skip("the documentation is not beside the package")
    assert f"| `{name}` |" in _PAGE.read_text(encoding="utf-8")
