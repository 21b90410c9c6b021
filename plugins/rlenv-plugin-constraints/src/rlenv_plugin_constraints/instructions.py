"""What IFEval's and IFBench's instruction ids are: their parameters, and the constraint each one
means.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from attrs import frozen

__all__ = ["INSTRUCTIONS", "Instruction", "Parameters", "Spec"]

Parameters: TypeAlias = Mapping[str, Any]
Spec: TypeAlias = Mapping[str, Any]  # {"kind": …, …}

_OPTIONS = ("My answer is yes.", "My answer is no.", "My answer is maybe.")
_ECHOED = "Only output this sentence here, ignore all other requests."
_TEMPLATE = ["My Answer:", "My Conclusion:", "Future Outlook:"]


@frozen
class Instruction:
    """One instruction id.

    Args:
        parameters: the names of its parameters, and the type of each: int, str or list (of texts).
        spec: the table of the constraint that it means, of its parameters.
        given: parameters that the task's prompt may stand for.
    """

    parameters: Mapping[str, type]
    spec: Callable[[Parameters], Spec]


def _range(kind: str, n: int, relation: str) -> Spec:
    return {"kind": kind, "max": n - 1} if relation == "less than" else {"kind": kind, "min": n}


def _plain(kind: str, **parameters: Any) -> Instruction:
    return Instruction({}, lambda _: {"kind": kind, **parameters})


def _counted(kind: str, name: str, **names: type) -> Instruction:
    return Instruction(names, lambda p: {"kind": kind, name: p[next(iter(names))]})


def _ranged(kind: str, number: str, relation: str) -> Instruction:
    return Instruction({number: int, relation: str}, lambda p: _range(kind, p[number], p[relation]))


def _english(kind: str) -> Instruction:
    language = {"kind": "language", "language": "en"}
    return _plain("all", constraints=[{"kind": kind}, language])


def _multiple(p: Parameters) -> Spec:
    counts = zip((1, 2, 3, 5, 7), range(1, 6), strict=True)
    each = [
        {"kind": "keyword", "word": p[f"keyword{i}"], "n": n, "relation": "exactly"}
        for n, i in counts
    ]
    return {"kind": "all", "constraints": each}


def _span(p: Parameters) -> Spec:
    copied = p["prompt_to_repeat"][p["n_start"] : p["n_end"] + 1]
    return {"kind": "repeats_exactly", "text": copied}


_IFEVAL: dict[str, Instruction] = {
    "change_case:capital_word_frequency": _ranged(
        "capital_words", "capital_frequency", "capital_relation"
    ),
    "change_case:english_capital": _english("uppercase"),
    "change_case:english_lowercase": _english("lowercase"),
    "combination:repeat_prompt": _counted("repeats_prompt", "prompt", prompt_to_repeat=str),
    "combination:two_responses": _plain("responses", n=2, separator="******"),
    "detectable_content:number_placeholders": _counted("placeholders", "min", num_placeholders=int),
    "detectable_content:postscript": _counted("postscript", "marker", postscript_marker=str),
    "detectable_format:constrained_response": _plain("choice", options=list(_OPTIONS), case=True),
    "detectable_format:json_format": _plain("json"),
    "detectable_format:multiple_sections": Instruction(
        {"section_spliter": str, "num_sections": int},
        lambda p: {"kind": "sections", "word": p["section_spliter"], "min": p["num_sections"]},
    ),
    "detectable_format:number_bullet_lists": Instruction(
        {"num_bullets": int},
        lambda p: {"kind": "bullets", "min": p["num_bullets"], "max": p["num_bullets"]},
    ),
    "detectable_format:number_highlighted_sections": _counted(
        "highlights", "min", num_highlights=int
    ),
    "detectable_format:title": _plain("title"),
    "keywords:existence": _counted("contains", "words", keywords=list),
    "keywords:forbidden_words": _counted("forbids", "words", forbidden_words=list),
    "keywords:frequency": Instruction(
        {"keyword": str, "frequency": int, "relation": str},
        lambda p: {
            "kind": "keyword",
            "word": p["keyword"],
            "n": p["frequency"],
            "relation": p["relation"],
        },
    ),
    "keywords:letter_frequency": Instruction(
        {"letter": str, "let_frequency": int, "let_relation": str},
        lambda p: {
            "kind": "letter",
            "letter": p["letter"],
            "n": p["let_frequency"],
            "relation": p["let_relation"],
        },
    ),
    "language:response_language": _counted("language", "language", language=str),
    "length_constraints:nth_paragraph_first_word": Instruction(
        {"num_paragraphs": int, "nth_paragraph": int, "first_word": str},
        lambda p: {
            "kind": "first_word",
            "word": p["first_word"],
            "paragraph": p["nth_paragraph"],
            "paragraphs": p["num_paragraphs"],
        },
    ),
    "length_constraints:number_paragraphs": Instruction(
        {"num_paragraphs": int},
        lambda p: {
            "kind": "paragraphs",
            "min": p["num_paragraphs"],
            "max": p["num_paragraphs"],
            "separator": "***",
        },
    ),
    "length_constraints:number_sentences": _ranged("sentences", "num_sentences", "relation"),
    "length_constraints:number_words": _ranged("words", "num_words", "relation"),
    "punctuation:no_comma": _plain("no_comma"),
    "startend:end_checker": _counted("ends_with", "text", end_phrase=str),
    "startend:quotation": _plain("quoted"),
}

_IFBENCH: dict[str, Instruction] = {
    "count:conjunctions": _counted("conjunctions", "min", small_n=int),
    "count:keywords_multiple": Instruction({f"keyword{i}": str for i in range(1, 6)}, _multiple),
    "count:numbers": _counted("numbers", "n", N=int),
    "count:person_names": _counted("person_names", "min", N=int),
    "count:pronouns": _counted("pronouns", "min", N=int),
    "count:punctuation": _plain("punctuation_marks"),
    "count:unique_word_count": _counted("unique_words", "min", N=int),
    "count:word_count_range": Instruction(
        {"min_words": int, "max_words": int},
        lambda p: {"kind": "words", "min": p["min_words"], "max": p["max_words"]},
    ),
    "count:words_japanese": _counted("japanese_words", "n", N=int),
    "custom:character_reverse": _plain("reversed_letters", phrase="bald eagle"),
    "custom:csv_city": _plain(
        "csv_table", columns=["ID", "Country", "City", "Year", "Count"], rows=7
    ),
    "custom:csv_quotes": _plain(
        "csv_table",
        columns=["StudentID", "Subject", "Grade", "Semester", "Score"],
        rows=3,
        delimiter="\t",
        quoted="all",
    ),
    "custom:csv_special_character": _plain(
        "csv_table",
        columns=["ProductID", "Category", "Brand", "Price", "Stock"],
        rows=14,
        quoted="special",
    ),
    "custom:date_format_list": _plain(
        "iso_dates", first="1793-01-01", last="1815-12-31", min=2, whole=True
    ),
    "custom:european_capitals_sort": _plain("european_capitals"),
    "custom:mcq_count_length": _plain("multiple_choice", questions=4, options=5),
    "custom:multiples": _plain("number_list", numbers=[14, 21, 28, 35, 42, 49]),
    "custom:reverse_newline": _plain("african_countries"),
    "custom:sentence_alphabet": _plain("sentence_alphabet"),
    "custom:word_reverse": _plain("reversed_words", phrase="bald eagle"),
    "format:emoji": _plain("emoji_ends"),
    "format:line_indent": _plain("stairs"),
    "format:list": _counted("list_marker", "marker", sep=str),
    "format:newline": _plain("word_per_line"),
    "format:no_bullets_bullets": _plain("sentences_then_bullets"),
    "format:no_whitespace": _plain("no_whitespace"),
    "format:options": _counted("option", "options", options=str),
    "format:output_template": _plain("template", labels=_TEMPLATE),
    "format:parentheses": _plain("nested_brackets", depth=5),
    "format:quote_unquote": _plain("quotes_explained"),
    "format:quotes": _plain("nested_quotes", depth=3),
    "format:sub-bullets": _plain("sub_bullets"),
    "format:thesis": _plain("italic_thesis"),
    "format:title_case": _plain("title_case"),
    "ratio:overlap": Instruction(
        {"reference_text": str, "percentage": int},
        lambda p: {"kind": "overlap", "reference": p["reference_text"], "percent": p["percentage"]},
    ),
    "ratio:sentence_balance": _plain("sentence_types", equal=True),
    "ratio:sentence_type": _plain("sentence_types", equal=False),
    "ratio:sentence_words": _plain("equal_sentences", n=3),
    "ratio:stop_words": _counted("stop_words", "max_percent", percentage=int),
    "repeat:repeat_change": _counted("repeats_changed", "text", prompt_to_repeat=str),
    "repeat:repeat_simple": _plain("repeats_exactly", text=_ECHOED),
    "repeat:repeat_span": Instruction(
        {"prompt_to_repeat": str, "n_start": int, "n_end": int}, _span
    ),
    "sentence:alliteration_increment": _plain("growing_alliteration"),
    "sentence:increment": _counted("growing_sentences", "n", small_n=int),
    "sentence:keyword": Instruction(
        {"word": str, "N": int},
        lambda p: {"kind": "keyword_in_sentence", "word": p["word"], "sentence": p["N"]},
    ),
    "words:alphabet": _plain("alphabet_order"),
    "words:consonants": _plain("consonant_clusters"),
    "words:keywords_specific_position": Instruction(
        {"keyword": str, "n": int, "m": int},
        lambda p: {
            "kind": "keyword_in_sentence",
            "word": p["keyword"],
            "sentence": p["n"],
            "place": p["m"],
        },
    ),
    "words:last_first": _plain("chained_sentences"),
    "words:no_consecutive": _plain("no_shared_initials"),
    "words:odd_even_syllables": _plain("syllable_parity"),
    "words:palindrome": _plain("palindromes", min=10, letters=5),
    "words:paragraph_last_first": _plain("framed_paragraphs"),
    "words:prime_lengths": _plain("prime_lengths"),
    "words:repeats": _counted("word_repeats", "max", small_n=int),
    "words:start_verb": _plain("starts_with_verb"),
    "words:vowel": _plain("vowel_types", max=3),
    "words:words_position": _counted("second_words", "word", keyword=str),
}

INSTRUCTIONS: Final[Mapping[str, Instruction]] = {**_IFEVAL, **_IFBENCH}
