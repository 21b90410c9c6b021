"""Words behind an answer, in any language, that take it back: their table, and their cost."""

from __future__ import annotations

import pytest
from rlenv_plugin_math.extract import extract
from rlenv_plugin_math.languages.packs import DATA
from rlenv_plugin_math.limits import words_of

KINDS = words_of(
    "right mine gets disowned adverse sources except excepted asides unreal samples bounds bounded"
    " fillers errata instead"
)
SINGLE = words_of("conclusions labels checking")


def test_every_line_of_the_table_is_of_a_known_kind_and_has_no_empty_phrase() -> None:
    lines = (DATA / "remarks.txt").read_text("utf-8").splitlines()[1:]
    for line in lines:
        head, _, rest = line.partition(": ")
        language, kind = head.split()
        assert kind in (SINGLE if language == "xx" else KINDS), head
        assert all(phrase.strip() for phrase in rest.split(" | ")), head


def test_every_language_says_what_is_right_and_what_is_no_answer() -> None:
    lines = (DATA / "remarks.txt").read_text("utf-8").splitlines()[1:]
    heads = {tuple(line.partition(": ")[0].split()) for line in lines}
    languages = {language for language, _ in heads} - {"xx"}
    pairs = (("except", "excepted"), ("bounds", "bounded"))  # before a value, or behind it
    for kind in KINDS - {kind for pair in pairs for kind in pair}:
        assert {language for language, said in heads if said == kind} == languages, kind
    for language in languages:
        for pair in pairs:
            assert {(language, kind) for kind in pair} & heads, language


@pytest.mark.parametrize(
    "behind",
    [
        " The answer is 5 as the correct sum is 5.",
        " The correct formula has 2 terms, and the correct total is 2 + 3 = 5.",
        " A typical mistake is to forget the carry, so it is 7.",
        " In minutes, the correct time is 300.",
        " The problem has a misprint: it says 31 and not 13.",
    ],
)
def test_an_explanation_behind_an_answer_takes_nothing_back(behind: str) -> None:
    assert extract(r"\boxed{5}" + behind).answers == ("5",)


@pytest.mark.parametrize(
    "piece",
    ["the correct ", "wrong 7 it is ", "I get 8, ", "the key says so ", "falsch, es sind 7, "],
)
def test_reading_remarks_grows_with_the_length_alone(piece: str) -> None:
    text = piece * 20_000
    assert extract(r"\boxed{5} " + text).state in ("found", "ambiguous")
    assert extract(text + r"\boxed{5} ").state in ("found", "ambiguous", "missing")
