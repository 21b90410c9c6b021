"""Where the final answer of a response stands."""

from __future__ import annotations

from typing import Any

import pytest
from rlenv.compose.stages import Attempt
from rlenv.model.values import Task
from rlenv.text import visible
from rlenv_plugin_math.equal import Equal
from rlenv_plugin_math.extract import RUNGS, extract


@pytest.mark.parametrize(
    ("response", "answer"),
    [
        (r"\boxed{18}", "18"),
        (r"So $x = \boxed{\frac{1}{2}}$.", r"\frac{1}{2}"),
        (r"\fbox{18}", "18"),
        (r"\framebox[3cm]{18}", "18"),
        (r"The answer is $\boxed 5$.", "5"),
        (r"$\boxed\frac12$", r"\frac12"),
        (r"\boxed {7}", "7"),
        ("\x08oxed{7}", "7"),
        (r"\\boxed{7}", "7"),
        ("boxed{7}", "7"),
        (r"\boxed{\{1,2\}}", r"\{1,2\}"),
        (r"\boxed{\boxed{8}}", "8"),
        (r"\boxed{x = \boxed{5}}", "x = {5}"),
        (r"First \boxed{}, and then \boxed{5}.", "5"),
        (r"I will put it in \boxed{answer}: \boxed{5}", "5"),
        (r"The sides are 3, 4 and \boxed{5}.", "5"),
        (r"\boxed{6} was left open: \boxed{5 and \boxed{6}", "6"),
    ],
)
def test_a_box_is_the_answer(response: str, answer: str) -> None:
    extraction = extract(response)
    assert (extraction.state, extraction.how, extraction.answers) == ("found", "boxed", (answer,))


@pytest.mark.parametrize(
    ("response", "answer"),
    [
        ("The answer is 3.5. I hope it is correct.", "3.5"),
        ("The answer is 18!", "18"),
        ("Answer: $18$", "$18$"),
        ("ANSWER: (B) 17", "(B) 17"),
        ("**Answer:** 73", "73"),
        ("**Answer: 73**", "73"),
        ("### Final Answer\n\n**73**", "73"),
        ("## Answer\n$$\n\\frac{3}{4}\n$$", "$$\n\\frac{3}{4}\n$$"),
        (
            "Final Answer: The final answer is $\\frac{1}{2}$. I hope it is correct.",
            r"$\frac{1}{2}$",
        ),
        ("2 + 3 = 5\nA: 5", "5"),
        ("A: $-12", "$-12"),
        ("A: -12", "-12"),
        ("The answer is as follows:\n\n5", "5"),
        ("The answer to the question of how much she earns is 54 dollars.", "54 dollars"),
        ("The correct option is (C).", "(C)"),
        ("The answers are 3 and 5.", "3 and 5"),
        ("The answer is ~~73~~ 74", "~~73~~ 74"),
        ("so 3 * 6. answer = 18", "18"),
        ("答案是18。", "18"),
        ("The answer is 5 e.g. five apples.", "5 e.g. five apples"),
        (
            "The answer is $\\begin{pmatrix}\n1 \\\\\n2\n\\end{pmatrix}$.",
            "$\\begin{pmatrix}\n1 \\\\\n2\n\\end{pmatrix}$",
        ),
        ("I hope this answer is helpful. The answer is 5.", "5"),
    ],
)
def test_an_announced_answer_ends_with_its_sentence(response: str, answer: str) -> None:
    extraction = extract(response)
    assert (extraction.state, extraction.how, extraction.answers) == (
        "found",
        "statement",
        (answer,),
    )


@pytest.mark.parametrize(
    ("response", "how", "answer"),
    [
        ("<answer>18</answer>", "answer-tag", "18"),
        ("<answer>\n 18", "answer-tag", "18"),
        ("3 * 6 = <<3*6=18>>18\n#### 18", "hash", "18"),
        ("Hence the result is 18.", "statement", "18"),
        ("x^2 + 2x + 1", "bare", "x^2 + 2x + 1"),
        ("(1, 2]", "bare", "(1, 2]"),
        (
            "Let us see.\n\nIt takes a while. In the end **73** remain, which is fine. Good.",
            "bold",
            "73",
        ),
        ("We add them up. Then $x = 5$ for all three of them. Fine.", "formula", "x = 5"),
        ("She sells 9 eggs. So she earns 9 * 2 = 18 dollars.", "last-number", "9 * 2 = 18 dollars"),
        ("She makes $18 per day and $5 per night. So she earns $23.", "last-number", "$23"),
        ("How many are left? There are 1,250 left. Are you sure of 3?", "last-number", "1,250"),
    ],
)
def test_weaker_places_are_read_when_no_stronger_one_is_there(
    response: str, how: str, answer: str
) -> None:
    extraction = extract(response)
    assert (extraction.state, extraction.how, extraction.answers) == ("found", how, (answer,))


@pytest.mark.parametrize(
    "response",
    [
        "<think>It is 17.</think>The answer is 18.",
        "<think>a</think><think>b</think>\\boxed{18}",
        "no opening tag \\boxed{17}</think>\n\\boxed{18}",
        "<THINKING>\\boxed{17}</THINKING>\\boxed{18}",
        "◁think▷17◁/think▷ \\boxed{18}",
        "[THINK]17[/THINK]\\boxed{18}",
        "<reasoning>17</reasoning><answer>18</answer>",
        "<|begin_of_thought|>17<|end_of_thought|>\\boxed{18}",
        "<|channel|>analysis<|message|>17?<|end|><|channel|>final<|message|>\\boxed{18}<|return|>",
        "\\boxed{18}<|im_end|>\n",
        "The answer is 18.</s>",
        "The answer is 18<|endoftext|>",
    ],
)
def test_thinking_and_end_marks_do_not_count(response: str) -> None:
    assert extract(visible(response)).answers == ("18",)


@pytest.mark.parametrize(
    "response",
    [
        "<think>\\boxed{18}",
        "<think>\\boxed{18}</think>",
        "<|channel|>analysis<|message|>\\boxed{18}",
        "◁think▷ \\boxed{18}",
    ],
)
def test_an_answer_that_was_only_thought_is_none(response: str) -> None:
    assert extract(visible(response)).state == "missing"


@pytest.mark.parametrize(
    ("response", "answer"),
    [
        ("<think>a</think> The answer is 17. <think>\\boxed{18}", "17"),
        ("\\boxed{18} <think></think>", "18"),
    ],
)
def test_thinking_behind_an_answer_takes_nothing_from_it(response: str, answer: str) -> None:
    assert extract(visible(response)).answers == (answer,)


@pytest.mark.parametrize(
    ("response", "state"),
    [
        ("", "missing"),
        (" \n\u00a0", "missing"),
        ("\x00", "missing"),
        ("\\boxed{}", "empty"),
        ("\\boxed{\\text{}} and nothing", "empty"),
        ("What is 2 + 40? Put the answer in \\boxed{}.", "empty"),
        ("The answer is", "empty"),
        ("Answer:", "empty"),
        ("#### ", "empty"),
        ("<answer> </answer> 18", "empty"),
        ("\\boxed{18", "missing"),
        ("\\boxed{" * 1000, "missing"),
    ],
)
def test_a_missing_answer_is_told_from_an_empty_place(response: str, state: str) -> None:
    extraction = extract(response)
    assert (extraction.state, extraction.answers) == (state, ())


def test_the_span_is_where_the_answer_stands() -> None:
    response = "<think>7</think>So the answer is 18 eggs."
    span: Any = Equal().check(Attempt(Task("?", "18"), response)).data["span"]
    start, end = span
    assert response[start:end] == "18 eggs"
    response = "So $\\boxed{18}$ it is."
    start, end = extract(response).span or (0, 0)
    assert response[start:end] == "\\boxed{18}"


def test_a_mode_looks_in_one_place_only() -> None:
    response = "#### 3\nThe answer is 4. <answer>5</answer> \\boxed{6} and 7"
    assert extract(response, "hash").answers == ("3",)
    assert extract(response, "statement").answers[:1] == ("4",)
    assert extract(response, "answer-tag").answers == ("5",)
    assert extract(response, "boxed").answers == ("6",)
    assert extract(response, "last-number").answers == ("7",)
    assert extract("The answer is 4.", "boxed").state == "missing"


def test_several_modes_are_tried_in_their_order() -> None:
    assert extract("#### 3\n\\boxed{6}", ("hash", "boxed")).answers == ("3",)
    assert extract("\\boxed{6}", ("hash", "boxed")).answers == ("6",)
    assert extract("6", ("hash", "boxed")).state == "missing"


@pytest.mark.parametrize("rung", sorted(RUNGS))
@pytest.mark.parametrize(
    "response",
    [
        "",
        "\ud800",
        "\x00\\boxed{\x00}",
        "{}}{",
        "$$",
        "\\",
        "\\boxed",
        "****",
        "####",
        "<answer>",
        "}{" * 50,
        "$" * 101,
    ],
)
def test_every_mode_survives_broken_text(rung: str, response: str) -> None:
    assert extract(response, rung).state in ("found", "missing", "empty", "ambiguous")


@pytest.mark.parametrize(
    "piece",
    [
        "\\boxed{",
        "\\boxed{5} ",
        "{",
        "}",
        "(",
        "\\(",
        "$",
        "**",
        "answer is ",
        "answer: 5. ",
        "<answer>",
        "#### 5\n",
        "<think>",
        "</think>",
        "5 or ",
        "1 ",
        "a ",
        "\\begin{",
        "or maybe \\boxed{1} ",
        "wait \\boxed{5} ",
        ". ",
        "\n",
        "$5 ",
        "A: ",
        "=",
        "\\text{",
        "~~",
        "\\\\",
        "boxed",
        "1\n",
        "**5** ",
        "answer ",
        "\\boxed 5 ",
        "_",
        "- ",
        "1,",
        "\ud800",
    ],
)
def test_a_megabyte_of_anything_is_read(piece: str) -> None:
    text = piece * (300_000 // len(piece))
    assert extract(text).state in ("found", "missing", "empty", "ambiguous")
    assert extract(text + "\n\nThe answer is \\boxed{5}.").state in (
        "found",
        "missing",
        "ambiguous",
    )
