"""A question is not an answer to itself, although the two are equal; a value that a question offers
may be.
"""

from __future__ import annotations

import pytest
from rlenv import Task
from rlenv.compose.stages import Attempt
from rlenv_plugin_math.equal import Equal

RESTATED = (
    ("Compute $1000003 \\cdot 999997$.", "999999999991", r"1000003 \cdot 999997"),
    ("Compute 1000003 \\cdot 999997.", "999999999991", r"1000003\cdot999997"),
    (r"Find $\int_0^1 x^3\,dx$.", r"\frac{1}{4}", r"\int_0^1 x^3 dx"),
    (
        r"Find \(\displaystyle\sum_{k=1}^n k\) in closed form.",
        r"\frac{n(n+1)}{2}",
        r"\sum_{k=1}^n k",
    ),
    ("Factor $x^2-9$.", "(x-3)(x+3)", "x^2 - 9"),
    ("Expand $(2a-b)^2$.", "4a^2-4ab+b^2", "(2a-b)^2"),
    (r"Simplify $\sqrt{72}$.", r"6\sqrt{2}", r"\sqrt{72}"),
    (r"Reduce $\dfrac{12}{18}$ to lowest terms.", r"\frac{2}{3}", r"\frac{12}{18}"),
    ("Simplify the ratio 18 : 24.", "3:4", "18:24"),
    ("Convert 2.5 kg to grams.", r"2500 \text{ g}", "2.5 kg"),
    (r"Compute $\tan 30^\circ$.", r"\frac{\sqrt{3}}{3}", r"\tan 30^\circ"),
    ("What is $2^{10}$?", "1024", "2^{10}"),
    ("Expand $(x+1)^2$.", "x^2+2x+1", "\u200b(x+1)^2\u200b"),
    ("Expand $(x+1)^2$.", "x^2+2x+1", "(x+１)^2"),
    ("Expand $(x+1)^2$.", "x^2+2x+1", r"(\mathrm{x}+1)^2"),
    (r"Add $2\frac{3}{4}+1\frac{5}{6}$.", r"\frac{55}{12}", r"2\frac{3}{4}+1\frac{5}{6}"),
)
ANSWERED = (
    ("Which is larger, $0.5$ or $0.4$?", r"\frac{1}{2}", "0.5"),
    (r"Is it $\frac{1}{2}$ or $\frac{1}{3}$?", "0.5", r"\frac{1}{2}"),
    ("Is $(1,2)$ or $(2,1)$ the vertex?", r"\left(\frac{2}{2},2\right)", "(1,2)"),
    ("Does $x=5$ or $x=6$ solve it?", r"x=\frac{10}{2}", "x=5"),
    (r"Simplify $\frac{(x+1)^2}{x+1}$.", "1+x", "x+1"),
    ("Let $f(x) = 2 + x + 1 - y$. What is left when $y=2$?", "1+x", "x+1"),
    ("Compute $2^{10}$.", "2^{10}", "2^{10}"),
    ("Compute $2^{10}$.", "1024", r"2^{10} = 1024"),
    ("Compute $2^{10}$.", "1024", "2^5\\cdot 2^5"),
)


def score(prompt: str, gold: str, answer: str) -> float:
    return Equal().check(Attempt(Task(prompt, answer=gold), rf"\boxed{{{answer}}}")).score


@pytest.mark.parametrize(("prompt", "gold", "answer"), RESTATED)
def test_a_restated_question_earns_nothing(prompt: str, gold: str, answer: str) -> None:
    assert score("Another question.", gold, answer) == 1.0
    assert score(prompt, gold, answer) == 0.0


@pytest.mark.parametrize(("prompt", "gold", "answer"), ANSWERED)
def test_an_answer_that_the_question_mentions_is_an_answer(
    prompt: str, gold: str, answer: str
) -> None:
    assert score(prompt, gold, answer) == 1.0
