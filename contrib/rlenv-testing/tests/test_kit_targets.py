"""The laws on what an environment takes: functions, lists of them and of stages, by name and by
file, and env.tomls.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import kit_sound as sound
import pytest
import rlenv
from rlenv_testing import broken_laws

SOURCE = """
def score(response, answer):
    return float(response.strip() == answer)

def constant(response):
    return 1.0

def picky(response, answer):
    return None if "[" in response else float(response == answer)
"""
TASKS = (
    '{"id": "france", "prompt": "Capital of France?", "answer": "Paris"}\n{"id": "italy", "prompt":'
    ' "Capital of Italy?", "answer": "Rome"}\n'
)
RIGHT = (
    '{"task": "france", "response": "Paris"}\n{"task": "italy", "response": "Rome"}\n{"task":'
    ' "france", "response": "Rome", "right": false}\n'
)
ENV = (
    '[tasks]\npath = "tasks.jsonl"\nid = "id"\nprompt = "prompt"\nanswer = "answer"\n[[stage]]\nuse'
    ' = "./reward.py:{name}"\n'
)
LAWS = [
    "contract",
    "right-passes",
    "constants",
    "travels",
    "order",
    "together",
    "leaves-nothing",
    "unscored",
]


def exact(response: str, answer: str) -> float:
    return float(response.strip() == answer)


@rlenv.stage(where="inline")
def brief(response: str) -> bool:
    return len(response) < 100


@rlenv.stage(may_abstain=True)
def unsure(response: str, answer: str) -> float | None:
    return None if "[" in response else exact(response, answer)


def falls_through(response: str, answer: str) -> float | None:
    return None if "[" in response else exact(response, answer)


SOUND: dict[str, Any] = {
    "a function": exact,
    "a lambda": lambda response, answer: response.strip() == answer,
    "a list": [exact, sound.Sound(), brief],
    "a module's": "kit_sound:SoundWorker",
    "one that may abstain": unsure,
}


SLOW = pytest.mark.slow  # seven laws in processes of their own


@pytest.mark.parametrize(
    "form",
    [pytest.param(form, marks=[SLOW] * (form in ("a lambda", "a list"))) for form in SOUND],
)
def test_every_form_of_a_verifier_is_held_to_the_laws(form: str) -> None:
    found = broken_laws(SOUND[form], sound.EXAMPLES, laws=LAWS, max_examples=5)

    assert found == {}


def test_a_function_that_pays_everything_is_told() -> None:
    found = broken_laws(lambda response: 1.0, sound.EXAMPLES, laws=LAWS, max_examples=5)

    assert list(found) == ["constants"]


def test_none_without_leave_forces_an_unscored_verdict() -> None:
    found = broken_laws(falls_through, sound.EXAMPLES, laws=["unscored"])

    assert "the function returned no score: None" in found["unscored"]


def test_what_is_no_verifier_is_an_error() -> None:
    with pytest.raises(rlenv.ConfigError, match="is not a stage"):
        broken_laws(7, sound.EXAMPLES)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "reward.py").write_text(SOURCE)
    (tmp_path / "tasks.jsonl").write_text(TASKS)
    (tmp_path / "right.jsonl").write_text(RIGHT)
    return tmp_path


def check(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "PYTHONPATH": str(home)}
    laws = [word for law in LAWS for word in ("--law", law)]
    argv = [sys.executable, "-m", "rlenv", "check", *words, *laws, "--examples", "5"]
    return subprocess.run(
        argv, cwd=home, env=environ, capture_output=True, text=True, timeout=120, check=False
    )


@pytest.mark.parametrize(
    "target", ["./reward.py:score", pytest.param("reward:score", marks=SLOW), "env.toml"]
)
def test_a_function_is_checked_without_a_distribution(home: Path, target: str) -> None:
    (home / "env.toml").write_text('name = "mine"\n' + ENV.replace("{name}", "score"))
    files = ["--right", "right.jsonl"] + ([] if ":" not in target else ["--tasks", "tasks.jsonl"])
    ran = check(home, target, *files)

    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "8 passed, 0 skipped, 0 broken" in ran.stdout


def test_what_is_not_known_is_said(home: Path) -> None:
    ran = check(home, "./reward.py:constant")

    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert (
        "skipped: right-passes: no right response is known: give some with --right FILE"
        in ran.stdout
    )
    assert "skipped: constants: its tasks are not known: give some with --tasks FILE" in ran.stdout


def test_a_broken_law_of_a_function_says_how_to_see_it_again(home: Path) -> None:
    files = ["--tasks", "tasks.jsonl", "--right", "right.jsonl"]
    ran = check(home, "./reward.py:picky", *files)

    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert "./reward.py:picky breaks the law 'unscored'" in ran.stdout
    assert (
        f"reproduce: rlenv check ./reward.py:picky {' '.join(files)} --law unscored" in ran.stdout
    )
    assert "by its own exception or by returning None" in ran.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["./reward.py:nothing"], "defines no function"),
        (["./nowhere.py:score"], "nowhere.py"),
        (["./reward.py:score", "--tasks", "none.jsonl"], "none.jsonl"),
        (["./reward.py:score", "--right", "right.jsonl"], "no task 'france'"),
    ],
)
def test_a_mistake_of_a_target_is_told(home: Path, words: list[str], said: str) -> None:
    ran = check(home, *words)

    assert ran.returncode == 2, ran.stdout
    assert said in ran.stderr
    assert "Traceback" not in ran.stderr
