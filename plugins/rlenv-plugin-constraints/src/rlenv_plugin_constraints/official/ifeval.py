"""IFEval's 25 checks as published."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from rlenv_plugin_constraints.language import identify

from .punkt import sentences, tokens

__all__ = ["CHECKS"]

_P = Mapping[str, Any]
_OPTIONS = ("My answer is yes.", "My answer is no.", "My answer is maybe.")


def _compared(count: int, wanted: int, relation: str) -> bool:
    return count < wanted if relation == "less than" else count >= wanted


def _pattern(source: str, said: str, flags: int = re.IGNORECASE) -> list[Any]:
    """Every match of a keyword taken for a pattern; none where it is no pattern."""
    try:
        return re.findall(source, said, flags)
    except re.error:
        return []


def _in_english(said: str, *, right: bool) -> bool:
    return right and identify(said) in ("en", "")


def _capital_words(said: str, p: _P) -> bool:
    count = sum(token.isupper() for token in tokens(said))
    return _compared(count, p["capital_frequency"], p["capital_relation"])


def _two(said: str, _: _P) -> bool:
    parts = said.split("******")
    if any(not part.strip() for part in parts[1:-1]):
        return False
    full = [part.strip() for part in parts if part.strip()]
    return len(full) == 2 and full[0] != full[1]


def _postscript(said: str, p: _P) -> bool:
    marker = p["postscript_marker"].strip()
    known = {"P.P.S": r"p\.\s?p\.\s?s", "P.S.": r"p\.\s?s\."}
    return bool(_pattern(known.get(marker, marker.lower()), said.lower(), 0))


def _json(said: str, _: _P) -> bool:
    body = said.strip()
    for fence in ("```json", "```Json", "```JSON", "```"):
        body = body.removeprefix(fence)
    try:
        json.loads(body.removesuffix("```").strip())
    except (ValueError, RecursionError):
        return False
    return True


def _sections(said: str, p: _P) -> bool:
    marks = _pattern(rf"\s?{p['section_spliter'].strip()}\s?\d+\s?", said, 0)
    return bool(len(marks) >= p["num_sections"])


def _bullets(said: str, p: _P) -> bool:
    stars = re.findall(r"^\s*\*[^*].*$", said, re.M)
    return bool(len(stars) + len(re.findall(r"^\s*-.*$", said, re.M)) == p["num_bullets"])


def _highlights(said: str, p: _P) -> bool:
    single = sum(bool(part.strip("*").strip()) for part in re.findall(r"\*[^\n*]*\*", said))
    double = sum(bool(part[2:-2].strip()) for part in re.findall(r"\*\*[^\n*]*\*\*", said))
    return bool(single + double >= p["num_highlights"])


def _title(said: str, _: _P) -> bool:
    return any(part.lstrip("<").rstrip(">").strip() for part in re.findall(r"<<[^\n]+>>", said))


def _first_word(said: str, p: _P) -> bool:
    parts = said.split("\n\n")
    count = sum(bool(part.strip()) for part in parts)
    nth = p["nth_paragraph"]
    if not 0 < nth <= count or not (part := parts[nth - 1].strip()):
        return False
    word = re.split("[.,?!'\"]", part.split()[0].lstrip("'").lstrip('"').lower())[0]
    return bool(count == p["num_paragraphs"] and word == p["first_word"].lower())


def _paragraphs(said: str, p: _P) -> bool:
    parts = re.split(r"\s?\*\*\*\s?", said)
    if any(not part.strip() for part in parts[1:-1]):
        return False
    return bool(sum(bool(part.strip()) for part in parts) == p["num_paragraphs"])


def _quoted(said: str, _: _P) -> bool:
    body = said.strip()
    return len(body) > 1 and body[0] == body[-1] == '"'


def _letter(said: str, p: _P) -> bool:
    count = said.lower().count(p["letter"].lower())
    return _compared(count, p["let_frequency"], p["let_relation"])


def _frequency(said: str, p: _P) -> bool:
    return _compared(len(_pattern(p["keyword"].strip(), said)), p["frequency"], p["relation"])


def _forbidden(said: str, p: _P) -> bool:
    return not any(_pattern(rf"\b{word}\b", said) for word in p["forbidden_words"])


CHECKS: Mapping[str, Callable[[str, _P], bool]] = {
    "change_case:capital_word_frequency": _capital_words,
    "change_case:english_capital": lambda said, _: _in_english(said, right=said.isupper()),
    "change_case:english_lowercase": lambda said, _: _in_english(said, right=said.islower()),
    "combination:repeat_prompt": lambda said, p: (
        said.strip().lower().startswith(p["prompt_to_repeat"].strip().lower())
    ),
    "combination:two_responses": _two,
    "detectable_content:number_placeholders": lambda said, p: (
        len(re.findall(r"\[.*?\]", said)) >= p["num_placeholders"]
    ),
    "detectable_content:postscript": _postscript,
    "detectable_format:constrained_response": lambda said, _: any(o in said for o in _OPTIONS),
    "detectable_format:json_format": _json,
    "detectable_format:multiple_sections": _sections,
    "detectable_format:number_bullet_lists": _bullets,
    "detectable_format:number_highlighted_sections": _highlights,
    "detectable_format:title": _title,
    "keywords:existence": lambda said, p: all(_pattern(word, said) for word in p["keywords"]),
    "keywords:forbidden_words": _forbidden,
    "keywords:frequency": _frequency,
    "keywords:letter_frequency": _letter,
    "language:response_language": lambda said, p: identify(said) in (p["language"], ""),
    "length_constraints:nth_paragraph_first_word": _first_word,
    "length_constraints:number_paragraphs": _paragraphs,
    "length_constraints:number_sentences": lambda said, p: _compared(
        len(sentences(said)), p["num_sentences"], p["relation"]
    ),
    "length_constraints:number_words": lambda said, p: _compared(
        len(re.findall(r"\w+", said)), p["num_words"], p["relation"]
    ),
    "punctuation:no_comma": lambda said, _: "," not in said,
    "startend:end_checker": lambda said, p: (
        said.strip().strip('"').lower().endswith(p["end_phrase"].strip().lower())
    ),
    "startend:quotation": _quoted,
}
