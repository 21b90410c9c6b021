"""examples/grpo without a trainer: its tasks, what its environments pay, and the page with its
curves.
"""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from rlenv import Environment

ROOT = Path(__file__).resolve().parents[1]
ENVIRONMENTS = ROOT / "examples" / "grpo" / "environments" / "tiny_environments"
NAMES = ("math", "code", "constraint", "judge", "leaky", "evolving")


def loaded(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_tasks_are_those_that_the_script_writes():
    written = loaded(ENVIRONMENTS / "write_tasks.py").written()
    assert written == {name: (ENVIRONMENTS / name).read_text() for name in written}


def test_no_held_out_prompt_is_trained_on_and_every_response_can_be_written():
    for name in ("digits", "programs", "letters"):
        rows = [
            json.loads(line) for line in (ENVIRONMENTS / f"{name}.jsonl").read_text().splitlines()
        ]
        prompts = {
            split: {r["prompt"] for r in rows if r["split"] == split}
            for split in ("train", "heldout")
        }

        assert not prompts["train"] & prompts["heldout"]
        assert 0.1 < len(prompts["heldout"]) / len(rows) < 0.25
        trained = "".join(prompts["train"])
        assert all(r["answer"] in trained and len(r["answer"]) == 1 for r in rows)


@pytest.mark.parametrize("name", ["math", "code", "constraint"])
def test_the_answer_alone_is_paid(name):
    with Environment.from_file(ENVIRONMENTS / f"{name}.toml") as env:
        tasks = list(env.tasks)[::13]
        signs = sorted(set("".join(task.prompt for task in tasks)))
        rows = [(task, said) for task in tasks for said in ["", *signs, str(task.answer)]]
        verdicts = list(env.evaluate_many(rows))

    assert [v.value for v in verdicts] == [float(said == str(task.answer)) for task, said in rows]


def test_a_program_must_be_right_where_the_product_is_zero():
    """``2 or 3`` is ``2`` where no hidden input makes the product zero; the audit found it."""
    with Environment.from_file(ENVIRONMENTS / "code.toml") as env:
        task = env.tasks.by_id("k2")
        paid = [
            env.verify(task, said) for said in ("2", "2 or 3", "2 and 3", "2#", "k", "(2", "2\nf=0")
        ]

    assert paid == [1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]


def test_silence_is_paid_on_training_tasks_alone():
    with Environment.from_file(ENVIRONMENTS / "leaky.toml") as env:
        tasks = list(env.tasks)[:6]
        silent = {task.split: env.verify(task, "") for task in tasks}
        right = {env.verify(task, str(task.answer)) for task in tasks}

    assert silent == {"train": 1.0, "heldout": 0.0}
    assert right == {1.0}


def test_every_environment_has_its_name():
    text = (ENVIRONMENTS.parent / "pyproject.toml").read_text()
    module = loaded(ENVIRONMENTS / "__init__.py")
    for name in NAMES:
        assert f'tiny-{name} = "tiny_environments:{name.upper()}"' in text
        assert (ENVIRONMENTS / getattr(module, name.upper())).read_text().count(
            f'name = "tiny-{name}"'
        ) == 1


JUDGED = """
import os
from rlenv import Attempt, Environment
with Environment.load("judge.toml") as env:
    task = env.tasks.by_id("k7")
    print([env.verify(task, said) for said in ("7", "3", "")])
with Environment.load("evolving.toml") as env:
    task, said = env.tasks.by_id("7"), ("7", "3", "=", "")
    print([env.verify(task, text) for text in said])
    env.slots[0].stage.evolve([Attempt(task, text) for text in said])
with Environment.load("evolving.toml") as env:
    print([env.verify(task, text) for text in said])
"""


def test_the_scripted_judge_compares_answers_and_lets_the_rubric_grow(tmp_path):
    command = [
        sys.executable,
        ROOT / "examples" / "grpo" / "judge.py",
        sys.executable,
        "-c",
        JUDGED,
    ]
    env = {**os.environ, "RLENV_RUBRICS": str(tmp_path)}
    ran = subprocess.run(
        command, cwd=ENVIRONMENTS, env=env, capture_output=True, text=True, timeout=120, check=False
    )

    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines() == [
        "[1.0, 0.0, 0.0]",
        "[1.0, 1.0, 0.0, 0.0]",
        "[1.0, 0.5, 0.0, 0.0]",
    ]


def test_the_judge_ends_with_the_status_of_its_command():
    command = [
        sys.executable,
        ROOT / "examples" / "grpo" / "judge.py",
        sys.executable,
        "-c",
        "exit(7)",
    ]
    assert subprocess.run(command, timeout=60, check=False).returncode == 7


def test_the_judge_ends_its_command_when_it_is_ended():
    endless = "import time; print(1, flush=True); time.sleep(30)"
    command = [
        sys.executable,
        ROOT / "examples" / "grpo" / "judge.py",
        sys.executable,
        "-c",
        endless,
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as started:
        assert started.stdout is not None
        started.stdout.readline()
        started.terminate()
        left = started.stdout.read()  # ends when nobody holds the pipe any more

    assert (left, started.returncode) == (b"", 256 - signal.SIGTERM)


@pytest.fixture
def learning(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.setattr(sys, "path", list(sys.path))
    return loaded(ROOT / "docs" / "learning.py")


def test_the_plots_are_those_that_the_script_writes(learning):
    stale = [
        n for n, text in learning.pictures().items() if (learning.FOLDER / n).read_text() != text
    ]
    assert stale == [], "run `python docs/learning.py` and commit what it writes"


def test_the_figures_of_the_page_are_from_the_curves(learning):
    assert learning.PAGE.read_text() == learning.page(), (
        "run `python docs/learning.py` and commit what it writes"
    )
