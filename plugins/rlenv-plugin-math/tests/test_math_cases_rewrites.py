"""Golds of many shapes, restated by templates: a change of form keeps the score, a change of
meaning loses it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from rlenv import Task
from rlenv.compose.stages import Attempt
from rlenv_plugin_math.equal import Equal

FILE = Path(__file__).parent / "cases" / "golds.txt"
GOLDS = [tuple(line.split("\t")) for line in FILE.read_text("utf-8").splitlines()]
SHAPES = sorted({shape for shape, _ in GOLDS})

WRAPPERS = (
    r"\boxed{%s}",
    r"$\boxed{%s}$",
    r"Then $$\boxed{%s}$$",
    r"\[ \boxed{ %s } \]",
    r"\fbox{$%s$}",
    r"The answer is $%s$.",
    r"**Final Answer:** $%s$",
    "Work.\n\n#### $%s$",
    r"<answer>$%s$</answer>",
    "<think>\nPerhaps 5?\n</think>\nSo we get $\\boxed{%s}$.",
    r"Final Answer: The final answer is $%s$. I hope it is correct.",
    r"\boxed{\displaystyle %s}",
    r"\boxed{\boxed{%s}}",
    r"\boxed{%s.}",
    r"Therefore, the final answer is: $\boxed{%s}$. This was fun!",
    r"\boxed{\, %s \;}",
    r"Answer: $%s$",
    "A check confirms it.\n\nANSWER: $%s$",
    r"\(\boxed{%s}\)",
    "So the final answer is\n$$%s$$",
    "## Final answer\n\n$%s$",
)

SPELLINGS: tuple[Callable[[str], str], ...] = (
    lambda g: g.replace(r"\frac", r"\dfrac"),
    lambda g: g.replace(r"\frac", r"\tfrac"),
    lambda g: g.replace(r"\left", "").replace(r"\right", ""),
    lambda g: re.sub(r"([=+<>,])", r" \1 ", g),
    lambda g: "{" + g + "}",
    lambda g: g.replace("-", "−"),
    lambda g: g.replace(r"\pi", "π").replace(r"\infty", "∞").replace(r"\cup", "∪"),
    lambda g: g.replace(r"\le ", r"\leq ").replace(r"\ge", r"\geqslant"),
    lambda g: g.replace("pmatrix", "bmatrix"),
    lambda g: g.replace(r"^\circ", "°").replace(r"\%", " percent"),
    lambda g: re.sub(r"\\text\{([^}]*)\}", r"\\mathrm{\1}", g),
    lambda g: re.sub(r"\\sqrt\{(\w)\}", r"\\sqrt \1", g),
    lambda g: re.sub(r"\\frac\{(\w)\}\{(\w)\}", r"\\frac\1\2", g),
)

ALGEBRA = (
    "x = %s",
    "(%s)",
    r"\left(%s\right)",
    r"1\cdot(%s)",
    "%s+0",
    "-(-(%s))",
    r"\frac{%s}{1}",
    r"\frac{2(%s)}{2}",
)
KEEP = {
    "number": ALGEBRA,
    "expr": ("f = %s", *ALGEBRA[1:]),
    "text": ("%s",),
    "choice": (r"\text{%s}",),
    "tuple": ("P = %s",),
    "list": ("x = %s", r"\{%s\}"),
    "set": ("S = %s",),
    "interval": (r"x \in %s",),
    "relation": ("%s",),
    "equation": ("%s",),
    "matrix": ("A = %s",),
}
CHANGE = {
    "number": (
        "-(%s)-1",
        "%s+1",
        "3(%s)+7",
        r"%s \text{ or } 12345",
        "%s, 12345",
        "%s = 12345",
        r"%s \approx 12345",
        r"x \ne %s",
        r"x > %s",
        r"\text{not } %s",
        r"\pm(%s+1)",
        "(%s, %s)",
    ),
    "expr": (
        "-(%s)-1",
        "%s+1",
        "3(%s)+7",
        r"%s \text{ or } 0",
        "%s = 0",
        r"%s, 0",
        "(%s)w",
        "%s < 0",
    ),
    "text": (r"\text{not } %s", r"%s \text{ or } 3", "3", r"\text{red}"),
    "choice": ("F", "%s, F", r"%s \text{ or } F", r"\text{not } %s", "3"),
    "tuple": ("%s, (9,9)", r"%s \cup (9,9)", "-9", "(9,9)", r"%s \text{ or } (0,9)"),
    "list": ("%s, 99", "99", r"%s \text{ or } 99", "(%s, 99)"),
    "set": (r"%s \cup \{99\}", "99", r"%s \text{ or } \{99\}", r"\{\}"),
    "interval": (
        r"%s \cap (98,99)",
        r"\mathbb{R}",
        r"\emptyset",
        "%s, 99",
        r"%s \setminus \{1,3,-1,-3\}",
    ),
    "relation": (r"%s \text{ or } -9 < x < 9", "99", r"\text{true}", r"\mathbb{R}"),
    "equation": ("%s+1", "0=0", r"%s \text{ or } x=99", "x=99"),
    "matrix": ("2%s", "-%s", "99", r"%s \text{ or } 0"),
    "unit": (r"%s \text{ or } 99 \text{ s}", "99", "5 \\text{ mol}", "-%s"),
    "angle": ("-%s", "%s + 1", r"%s \text{ or } 30^\circ", "1^\\circ"),
    "percent": ("-%s", "99\\%%", r"%s \text{ or } 99\%%"),
    "money": ("-%s", r"\$99", r"%s \text{ or } \$99"),
    "base": ("10_2", "99", r"%s \text{ or } 1_2", "11_3"),
    "ratio": ("%s:9", "9:1", r"%s \text{ or } 1:9"),
}


def fill(template: str, gold: str) -> str:
    return template.replace("%s", gold).replace("%%", "%")


def restatements(shape: str, gold: str) -> Iterator[str]:
    for wrapper in WRAPPERS:
        yield fill(wrapper, gold)
    for spelling in SPELLINGS:
        yield fill(WRAPPERS[0], spelling(gold))
    for template in KEEP.get(shape, ()):
        yield fill(WRAPPERS[0], fill(template, gold))


def changes(shape: str, gold: str) -> Iterator[str]:
    for n, template in enumerate(CHANGE[shape]):
        yield fill(WRAPPERS[n % 4], fill(template, gold))
    yield fill(WRAPPERS[0], gold) + r" or \boxed{12345}"
    yield "<think>" + fill(WRAPPERS[0], gold)
    yield r"\boxed{}" + gold


def scores(gold: str, responses: Iterator[str]) -> dict[str, float]:
    stage = Equal()
    task = Task("a question", answer=gold)
    stage.validate(task)
    return {text: stage.check(Attempt(task, text)).score for text in responses}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_change_of_form_keeps_the_score(shape: str) -> None:
    lost = [
        (gold, text)
        for kind, gold in GOLDS
        if kind == shape
        for text, score in scores(gold, restatements(shape, gold)).items()
        if score < 1
    ]
    assert not lost, "\n".join(f"{gold!r} <- {text!r}" for gold, text in lost[:40])


@pytest.mark.parametrize("shape", SHAPES)
def test_a_change_of_meaning_loses_it(shape: str) -> None:
    paid = [
        (gold, text)
        for kind, gold in GOLDS
        if kind == shape
        for text, score in scores(gold, changes(shape, gold)).items()
        if score > 0
    ]
    assert not paid, "\n".join(f"{gold!r} <- {text!r}" for gold, text in paid[:40])


def test_the_golds_are_many_and_each_is_restated_often() -> None:
    assert len(GOLDS) >= 200
    assert all(len(set(restatements(shape, gold))) >= 20 for shape, gold in GOLDS)
