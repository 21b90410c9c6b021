"""Letter case, signs and forms: a title, bullets, highlights, placeholders, choices, sections,
responses.
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
    ("raw", "upper", "lower"),
    [
        ("HELLO 1!", True, False),
        ("hello 1!", False, True),
        ("HELLo", False, False),
        ("123", False, False),
        ("", False, False),
        ("🙂", False, False),
        ("ÀÉ Ω Д", True, False),
        ("STRAßE", False, False),
        ("àé", False, True),
        ("ABC 你好", True, False),
        ("你好", False, False),
        ("ＡＢ", True, False),
    ],
)
def test_every_letter_has_one_case_and_there_is_one(raw: str, upper: bool, lower: bool) -> None:
    assert finding("uppercase", raw).satisfied is upper
    assert finding("lowercase", raw).satisfied is lower


@pytest.mark.parametrize(
    ("raw", "count"),
    [
        ("NASA's plan and the U.S. Army", 2),
        ("I am A-OK", 2),
        ("McDONALD", 0),
        ("COVID-19", 1),
        ("12", 0),
        ("", 0),
    ],
)
def test_words_in_capitals_are_counted(raw: str, count: int) -> None:
    assert finding("capital_words", raw, min=0).measured == count


@pytest.mark.parametrize("comma", [",", "，", "、", "،", "﹐", "､", "︐", "⸲"])
def test_a_comma_of_any_script_is_one(comma: str) -> None:
    found = finding("no_comma", f"yes{comma} no")
    assert not found.satisfied
    assert found.spans == ((3, 4),)


@pytest.mark.parametrize("raw", ["", "yes; no", "yes' no", "a. b", "1.5", "‚so‘"])
def test_other_signs_are_no_commas(raw: str) -> None:
    assert finding("no_comma", raw).satisfied


def test_signs_are_refused_in_every_width() -> None:
    assert not finding("no_characters", "what？", characters="?!").satisfied
    assert not finding("no_characters", "wide，", characters=",").satisfied
    assert finding("no_characters", "what.", characters="?!-]^\\").satisfied
    assert not finding("no_characters", "a^b", characters="?!-]^\\").satisfied


@pytest.mark.parametrize(
    ("raw", "fits"),
    [
        ("<<A B>>\ntext", True),
        ("\n\n**<<A>>**\nx", True),
        ("# <<A>>", True),
        ('"<<A>>\nfoo"', True),
        ("\ufeff<<A>>\nx", True),
        ("text\n<<A>>", False),
        ("Title: <<A>>", False),
        ("<<A>> and text", False),
        ("<<>>\nx", False),
        ("<< >>\nx", False),
        ("<<!>>\nx", False),
        ("<A>\nx", False),
        ("<<A\nB>>", False),
        ("", False),
    ],
)
def test_a_title_is_the_first_line(raw: str, fits: bool) -> None:
    assert finding("title", raw).satisfied is fits


def test_a_title_may_follow_the_repeated_prompt() -> None:
    prompt = "Write it with a title in double angular brackets, i.e. <<title>>."
    assert finding("title", f"{prompt}\n\n<<My Day>>\nIt was fine.", prompt).satisfied
    assert not finding("title", f"{prompt}\nIt was fine.", prompt).satisfied
    assert not finding("title", f"Well then.\n\n<<My Day>>\n{prompt}", prompt).satisfied


@pytest.mark.parametrize(
    ("raw", "count"),
    [
        ("* a\n* b", 2),
        ("- a\n---\n**b** c\n- b", 2),
        ("* a\n** b", 1),
        ("1. a\n- b", 1),
        ("-5 is cold\n- b", 1),
        ("- \n- b\n* *", 1),
        ("* * *", 0),
        ("• a\n•b", 2),
        ("* a\n  * b", 2),
        ("```\n- a\n```\n- b", 1),
        ("a - b", 0),
        ("", 0),
    ],
)
def test_bullets_are_lines_with_a_word(raw: str, count: int) -> None:
    found = finding("bullets", raw, min=count, max=count)
    assert found.satisfied
    assert found.measured == len(found.spans) == count


@pytest.mark.parametrize(
    ("raw", "count"),
    [
        ("*a b* and **c d**", 2),
        ("***a*** *b c* **d**", 3),
        ("*a* *a* *A*", 1),
        ("* point *one*", 1),
        ("* a * b", 0),
        ("** **", 0),
        ("****", 0),
        ("2*3*4", 0),
        ("*a\nb*", 0),
        (r"\*a\*", 0),
        ("*!*", 0),
        ("", 0),
    ],
)
def test_highlights_are_different_stretches_with_a_word(raw: str, count: int) -> None:
    assert finding("highlights", raw, min=0).measured == count


@pytest.mark.parametrize(
    ("raw", "count"),
    [
        ("[name] [address]", 2),
        ("[name][address]", 2),
        ("[name] [Name] [ name ]", 1),
        ("[][][]", 0),
        ("[ ] [x] [1] [...]", 0),
        ("[text](url) ![image](url)", 0),
        ("a[i] [[name]]", 0),
        ('["a", "b"]', 0),
        ("[a\nb]", 0),
        ("[Your Name]: hello", 1),
        ("", 0),
    ],
)
def test_placeholders_are_different_names(raw: str, count: int) -> None:
    assert finding("placeholders", raw, min=0).measured == count


OPTIONS = ["My answer is yes.", "My answer is no.", "My answer is maybe."]


@pytest.mark.parametrize(
    ("raw", "fits"),
    [
        ("My answer is yes.", True),
        ("Well. my answer is NO. That is all.", True),
        ("My answer is yes. My answer is no.", False),
        (" ".join(OPTIONS), False),
        ("yes", False),
        ("My answer is yesterday.", False),
        ("", False),
    ],
)
def test_a_choice_is_exactly_one_option(raw: str, fits: bool) -> None:
    assert finding("choice", raw, options=OPTIONS).satisfied is fits


def test_an_option_within_another_is_not_chosen_with_it() -> None:
    assert finding("choice", "Yes, sure!", options=["yes", "yes, sure"]).measured == ["yes, sure"]


def test_a_whole_choice_is_nothing_else() -> None:
    assert finding("choice", " yes\n", options=["yes", "no"], whole=True).satisfied
    assert not finding("choice", "yes, I think", options=["yes", "no"], whole=True).satisfied


@pytest.mark.parametrize(
    ("raw", "count"),
    [
        ("Section 1\nfoo\nSection 2\nbar", 2),
        ("**Section 1: A**\nfoo\n## Section 2\nbar", 2),
        ("SECTION 1\nfoo", 0),
        ("Section I.\nx\nSection II.\ny", 2),
        ("Section One\nfoo", 1),
        ("Section 1 Section 2", 1),
        ("Section 1\nfoo\nSection 1\nbar", 1),
        ("Section 1\n\nSection 2\n", 0),
        ("Section a new day", 0),
        ("Sections 1\nfoo", 0),
        ("In Section 1 we", 0),
        ("Section\nfoo", 0),
        ("", 0),
    ],
)
def test_sections_are_different_and_hold_something(raw: str, count: int) -> None:
    assert finding("sections", raw, min=0).measured == count


@pytest.mark.parametrize(
    ("raw", "fits"),
    [
        ("# Intro\na\n## Method\nb", True),
        ("1. Intro:\na\n2. **Method**\nb", True),
        ("Intro\na\nMETHOD\nb", True),
        ("Method\na\nIntro\nb", False),
        ("# Intro\n# Method\nb", False),
        ("# Intro\na\n# Method\nb\n# Intro\nc", False),
        ("# Intro\na", False),
        ("The Intro comes\na\nThen the Method\nb", False),
        ("", False),
    ],
)
def test_headings_stand_in_their_order(raw: str, fits: bool) -> None:
    assert finding("section_order", raw, headings=["Intro", "Method"]).satisfied is fits


@pytest.mark.parametrize(
    ("raw", "fits"),
    [
        ("foo\n******\nbar", True),
        ("******\nfoo\n\n****** \n\nbar\n******", True),
        ("a******b", False),
        ("foo\n******\nFoo!", False),
        ("foo\n*****\nbar", False),
        ("foo\n*******\nbar", False),
        ("foo\n******\n", False),
        ("foo\n******\n******\nbar", False),
        ("foo\n******\nbar\n******\nbaz", False),
        ("foo", False),
        ("", False),
    ],
)
def test_responses_are_different_and_parted_by_a_line(raw: str, fits: bool) -> None:
    assert finding("responses", raw).satisfied is fits
