"""The question again, not worked out, is no answer in any script."""

from __future__ import annotations

import pytest
from rlenv import Environment, Task
from rlenv_plugin_math.equal import Equal

PROMPTS = [
    "Compute 37 * 58.", "计算 37 * 58。", "37 * 58 を計算してください。", "37 * 58 계산하시오.", "Вычислите 37 * 58.",
    "احسب 37 * 58.", "37 * 58 की गणना करें।", "Bitte 37 * 58 ausrechnen.",
    "Calculez l'opération 37 * 58 là.",
]  # fmt: skip
AGAIN = [
    "37 * 58",
    "37 * 58 करें।",
    "37 * 58 です",
    "得 37 * 58",
    "37 * 58 ausrechnen",
    "答案是 37 * 58",
]


@pytest.mark.parametrize("prompt", PROMPTS)
def test_the_question_again_is_no_answer_and_its_value_is(prompt: str) -> None:
    task = Task(prompt, answer="2146")
    with Environment("m", Equal()) as env:
        for response in (*AGAIN, prompt, f"{prompt}\n{prompt}", f"{prompt} {prompt}"):
            assert env.verify(task, response) == 0.0, response
        for response in ("2146", "答案是 2146", "37 * 58 = 2146", "答案是 2 * 1073"):
            assert env.verify(task, response) == 1.0, response


def test_repeated_pluses_hide_no_question() -> None:
    task = Task(r"Compute \frac{3}{8} + \frac{1}{8}.", answer="1/2")
    with Environment("m", Equal()) as env:
        assert env.verify(task, r"so \frac{3}{8} + + + \frac{1}{8}") == 0.0
        assert env.verify(task, r"so \frac{4}{8}") == 1.0
