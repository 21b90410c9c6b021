"""What a response quotes of its prompt is none of its answer."""

from typing import Any

import pytest
from rlenv.compose.stages import Attempt
from rlenv.model.values import Task
from rlenv_plugin_math.equal import Equal

SIMPLIFY = Task("Simplify 6/8.", r"\frac{3}{4}", id="simplify")
MIXED = Task("Write 7/3 as a mixed number.", r"2\frac{1}{3}", id="mixed")
EXPAND = Task("Expand (x+1)^2.", "x^2+2x+1", id="expand")
BOXED = Task(r"What is 6/8? Put the answer in \boxed{}.", "0.75", id="boxed")


def score(task: Task, response: str) -> float:
    return Equal().check(Attempt(task, response)).score


@pytest.mark.parametrize("task", [SIMPLIFY, MIXED, EXPAND, BOXED], ids=lambda task: task.id)
@pytest.mark.parametrize("frame", ["{}", "You asked: {}", "{}\n{}", "{} Sure!", "**{}**", "> {}"])
def test_a_quoted_prompt_is_no_answer(task: Task, frame: str) -> None:
    assert score(task, frame.format(task.prompt, task.prompt)) == 0.0


@pytest.mark.parametrize("response", ["You asked: 6/8", "The answer is 6/8.", r"\boxed{6/8}"])
def test_the_formula_of_the_question_is_no_answer_in_any_frame(response: str) -> None:
    assert score(SIMPLIFY, response) == 0.0


@pytest.mark.parametrize(
    ("task", "answer"), [(SIMPLIFY, "3/4"), (MIXED, "2 1/3"), (EXPAND, "x^2+2x+1"), (BOXED, "3/4")]
)
def test_an_answer_after_the_quoted_prompt_counts(task: Task, answer: str) -> None:
    assert score(task, f"{task.prompt}\n\\boxed{{{answer}}}") == 1.0
    assert score(task, f"You asked: {task.prompt} The answer is ${answer}$.") == 1.0


def test_a_short_prompt_may_stand_in_its_answer() -> None:
    assert score(Task("2 + 2", "4", id="sum"), "2 + 2 = 4") == 1.0


def test_the_span_points_into_the_response() -> None:
    response = f"{SIMPLIFY.prompt} It is \\boxed{{3/4}}."
    span: Any = Equal().check(Attempt(SIMPLIFY, response)).data["span"]
    start, end = span

    assert "3/4" in response[start:end]
