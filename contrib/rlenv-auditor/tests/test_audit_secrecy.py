"""Canaries: what is planted as an answer or a hidden test is found again wherever a verifier lets
it out.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rlenv.model.values import Task
from rlenv_auditor import Scorecard, audit
from rlenv_auditor.planting import in_sight, planted
from rlenv_auditor.replaying import replayed

VERIFIER = '''
import base64, os, re, subprocess, sys

def right(response, answer):
    return float(response.strip() == answer)

def plain(response, answer):
    return {"score": right(response, answer), "note": f"not {answer}"}

def coded(response, answer):
    note = base64.b64encode(f"no: {answer}".encode()).decode()
    return {"score": right(response, answer), "note": note}

def spelled(response, answer):
    return {"score": right(response, answer), "note": " ".join(answer)}

def turned(response, answer):
    return {"score": right(response, answer), "note": answer[::-1]}

def silent(response, answer):
    return {"score": right(response, answer), "note": "wrong"}

def ran(response, info, **more):
    source = (re.findall(r"```python\\n(.*?)```", response, re.S) or [response])[0]
    if "def " + info["entry_point"] not in source:
        return 0.0
    call = "\\nprint()\\nprint(repr(" + info["entry_point"] + "(2)))"
    command = [sys.executable, "-I", "-S", "-c", source + call]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, **more)
    wanted = info["test"].partition("==")[2].strip()
    return float(done.stdout.splitlines()[-1:] == [wanted])

def open_air(response, info):
    """The test is in the environment of the program."""
    return ran(response, info, env={"TEST": info["test"]})

def closed(response, info):
    return ran(response, info, env={})
'''
WORDS = [
    {"id": f"w{n}", "prompt": f"Say word {n}.", "answer": word}
    for n, word in enumerate(("alder", "birch", "cedar"))
]
PROGRAMS = [
    {
        "id": "twice",
        "prompt": "Write twice(x).",
        "entry_point": "twice",
        "canonical_solution": "def twice(x):\n    return 2 * x\n",
        "test": "assert candidate(2) == 4",
    }
]


def audited(target: str) -> Scorecard:
    return audit(
        target,
        tasks_from="tasks.jsonl",
        only=["secrecy.canary", "secrecy.sandbox"],
        budget=300.0,
        patience=60.0,
    )


@pytest.mark.parametrize(
    ("name", "how"),
    [
        ("plain", "as it is"),
        ("coded", "in base64"),
        ("spelled", "signs between"),
        ("turned", "backwards"),
    ],
)
def test_a_canary_that_comes_back_is_a_finding_that_replays(
    written: Callable[..., Path], name: str, how: str
) -> None:
    written(VERIFIER, WORDS, "telling")
    canary, sandbox = audited(f"telling:{name}").results

    assert canary.status == "found"
    assert how in canary.findings[0].title
    assert sandbox.status == "skipped"
    finding = canary.findings[0]
    again = replayed(
        f"telling:{name}",
        finding.task,
        finding.response,
        tasks_from="tasks.jsonl",
        under=finding.more["under"],
    )
    assert again.said in finding.more["said"]
    assert again.said


def test_what_tells_nothing_is_left_in_peace(written: Callable[..., Path]) -> None:
    written(VERIFIER, WORDS, "telling")

    assert not audited("telling:silent").findings


def test_a_program_that_can_read_its_tests_is_paid_for_it(written: Callable[..., Path]) -> None:
    written(VERIFIER, PROGRAMS, "running")
    card = audited("running:open_air")

    assert [one.probe for one in card.findings] == ["secrecy.sandbox"]
    finding = card.findings[0]
    again = replayed(
        "running:open_air",
        "twice",
        finding.response,
        tasks_from="tasks.jsonl",
        under=finding.more["under"],
    )
    assert again.reward == finding.reward == 1.0


def test_a_program_that_cannot_finds_nothing(written: Callable[..., Path]) -> None:
    written(VERIFIER, PROGRAMS, "running")

    assert not audited("running:closed").findings


@given(st.text(max_size=20), st.text(max_size=20), st.integers(0, 2**48 - 1))
def test_a_mark_is_seen_in_every_form(before: str, after: str, number: int) -> None:
    mark = f"qz{number:012x}zq"
    raw = f"{before}{mark}{after}".encode("utf-8", "surrogatepass")

    assert in_sight(mark, f"{before}{mark}{after}")
    assert in_sight(mark, base64.b64encode(raw).decode())
    assert in_sight(mark, raw.hex())
    assert in_sight(mark, mark[::-1])
    assert in_sight(mark, "-".join(mark.upper()))
    assert not in_sight(mark, f"{before}{after}".replace("q", ""))


@pytest.mark.parametrize(
    ("info", "answer"),
    [
        ({}, "Paris"),
        ({}, "1,234"),
        ({}, 12),
        ({"answer": "Paris"}, "so #### Paris"),
        ({"tests": {"kind": "function", "cases": [{"args": [1], "expected": 2}]}}, None),
        ({"tests": {"kind": "stdio", "cases": [{"stdin": "", "stdout": "2"}]}}, None),
        ({"tests": {"kind": "golden", "golden": "def f(): pass"}}, None),
        ({"tests": {"kind": "asserts", "cases": [{"test": "assert f(1) == 2"}]}}, None),
        ({"test_list": ["assert f(1) == 2"]}, None),
    ],
)
def test_a_canary_stands_in_the_task_and_not_in_its_prompt(info: Any, answer: Any) -> None:
    made = planted(Task("Which one?", answer=answer, info=info, id="t"), Random(7))

    assert made is not None
    told = repr((made.task.answer, made.task.info))
    assert made.mark in told
    assert made.mark not in made.task.prompt


@pytest.mark.parametrize("info", [{}, {"tests": {"kind": "suite"}}, {"test": "no Python ("}])
def test_where_nothing_can_be_planted_nothing_is(info: Any) -> None:
    assert planted(Task("Which one?", info=info, id="t"), Random(7)) is None
