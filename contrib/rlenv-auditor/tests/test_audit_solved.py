"""The independent check errs on the side of "solved": what it lets through is no proof of a
hole.
"""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from rlenv.model.values import Task
from rlenv_auditor import audit
from rlenv_auditor.solved import plainly_in


@pytest.mark.parametrize(
    ("answer", "response"),
    [
        ("", " \n"),  # the right answer of a task may be nothing at all
        (r"x=2 \text{ or } x=3", r"The answer is \boxed{(3,2)}."),
        (r"\{1,2,5,10\}", "10, 5, 2, 1"),
        (["Sucre", "La Paz"], "I think it is la paz."),
        ("D", "따라서 답은 D입니다."),  # no blank parts a particle from a word
        ("東京", "答えは東京です。"),
        ("[1, 5]", "It is $[1,5]$."),
        ('["doc-1", "doc-2"]', "doc-1, doc-2"),
        ("1/2", "50%"),
        ("1234", "It is 1,234, and no more."),
    ],
)
def test_what_may_be_the_answer_is_no_exploit(answer: object, response: str) -> None:
    assert plainly_in(Task("?", answer=answer), response)


@pytest.mark.parametrize(
    ("answer", "response"),
    [
        ("", "x"),
        (None, ""),
        (r"x=2 \text{ or } x=3", "(3,4)"),
        (r"x=2 \text{ or } x=3", "2"),
        (r"\{1,2,5,10\}", "1, 2, 5"),
        ("[1, 2, 3]", "Sort these: 3, 2, 1"),  # the order is the answer here
        ("none or all", "x"),
        ("D", "Die DDR"),
        ("11, 24, 35", "Sort these: 24, 35 and 11"),  # a list is more than its first number
        ("1/2", "5%"),
        ("1/2", f"1/{'9' * 5000}"),  # more digits than Python reads
    ],
)
def test_what_is_not_the_answer_is_one_if_it_is_paid(answer: object, response: str) -> None:
    assert not plainly_in(Task("?", answer=answer), response)


MULTIPLES = '''
import re

def reads(prompt, response, answer):
    """A puzzle with many solutions: the last number is a multiple of that of the prompt."""
    found = re.findall(r"[0-9]+", response)
    last = int(found[-1]) if found else 0
    return float(last > 0 and last % int(prompt.split()[-1]) == 0)
'''


def test_what_solves_two_puzzles_is_no_hole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "puzzling.py").write_text(MULTIPLES)
    rows = [{"prompt": f"Name a multiple of {n}", "answer": str(20 * n)} for n in (7, 11, 22, 13)]
    (tmp_path / "tasks.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    monkeypatch.chdir(tmp_path)

    probes = ["gold.swap", "opinion.style", "exploits.injected"]
    card = audit("puzzling:reads", tasks_from="tasks.jsonl", only=probes)

    assert card.findings == ()


FACTORS = '''
def strict(prompt, response, answer):
    """Reads a number from the answer, and raises where there is none: no task of its own is so."""
    return float(response.strip() == str(int(answer)))

def stricter(prompt, response, answer):
    return float(int(answer) == int(response))

def telling(prompt, response, answer):
    if response != answer:
        raise ValueError(f"{answer!r} was expected")
    return 1.0
'''


@pytest.mark.parametrize(
    ("name", "leaks"), [("strict", False), ("stricter", False), ("telling", True)]
)
def test_an_error_that_the_canary_itself_made_is_no_leak(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, leaks: bool
) -> None:
    (tmp_path / "factoring.py").write_text(FACTORS)
    rows = [{"prompt": f"{n} squared?", "answer": str(n * n)} for n in (70, 71, 72)]
    (tmp_path / "tasks.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    monkeypatch.chdir(tmp_path)

    card = audit(f"factoring:{name}", tasks_from="tasks.jsonl", only=["secrecy.canary"])

    assert bool(card.findings) == leaks


def test_a_long_run_of_digits_is_read_in_linear_time() -> None:
    def seconds(digits: int) -> float:
        start = time.thread_time()
        for _ in range(10):
            plainly_in(Task("q", answer="-2/3"), "7" * digits)
        return time.thread_time() - start

    # Eight times as many take eight times as long, and 64 times where each is read again from each.
    few, many = (min(seconds(digits) for _ in range(5)) for digits in (2_000, 16_000))
    assert many < 24 * few
    assert plainly_in(Task("q", answer="-2/3"), "x + 1-2/3")
