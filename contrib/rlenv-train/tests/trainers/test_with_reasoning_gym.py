"""``train/reasoning-gym``: its data sets as tasks, and their scores as a stage."""

from __future__ import annotations

import json

import pytest
from page import run_program, write_files
from rlenv import ConfigError, Environment, Task

pytest.importorskip(
    "reasoning_gym", reason="reasoning-gym is not installed here: `make test-trainers` runs this"
)

import reasoning_gym
from reasoning_gym.factory import DATASETS
from rlenv_auditor import audit
from rlenv_train.imports.reasoning_gym import ReasoningGym, reasoning_gym_tasks

NAMES = sorted(set(DATASETS) - {"composite"})  # which is made of others


def table(dataset, size=4, seed=7, **options):
    tasks = {"dataset": dataset, "size": size, "seed": seed}
    return {
        "name": dataset,
        "tasks": {"use": "train/reasoning-gym", "options": tasks},
        "stage": [{"use": "train/reasoning-gym", "options": {"dataset": dataset, **options}}],
    }


def test_tasks_and_stage_by_name():
    with Environment.from_dict(table("leg_counting")) as env:
        again = Environment.from_dict(table("leg_counting"))
        scores = [env.verify(task, f" {task.answer}\n") for task in env.tasks]
        wrong = [env.verify(task, "no idea") for task in env.tasks]

    assert [task.id for task in env.tasks] == [f"leg_counting-7-{at}" for at in range(4)]
    assert env.tasks.sha256 == again.tasks.sha256
    assert (scores, wrong) == ([1.0] * 4, [0.0] * 4)


def test_an_answer_in_a_tag_that_the_system_prompt_asks_for():
    tasks = {"options": {"dataset": "gcd", "size": 2, "system_prompt": "default", "max_numbers": 3}}
    given = table("gcd", tag="answer")
    with Environment.from_dict({**given, "tasks": {**given["tasks"], **tasks}}) as env:
        task, _ = env.tasks
        scores = [
            env.verify(task, text)
            for text in (
                f"<answer>{task.answer}</answer>",
                task.answer,
                "<think><answer>1</answer></think>",
            )
        ]

    assert task.messages[0]["role"] == "system"
    assert "<answer>" in task.messages[0]["content"]
    assert task.messages[1]["content"] == task.prompt
    assert scores == [1.0, 0.0, 0.0]


def test_hidden_reasoning_does_not_count():
    with Environment.from_dict(table("leg_counting", size=1)) as env:
        (task,) = env.tasks
        verdict = env.evaluate(task, f"<think>It has legs.</think>{task.answer}")

    assert verdict.value == 1.0
    assert verdict.results[0].outcome.data["hidden"] > 0


def test_a_data_set_that_does_not_exist_is_an_error():
    with pytest.raises(ConfigError, match="'leg_count' not registered"):
        Environment.from_dict(table("leg_count"))


@pytest.mark.parametrize("name", NAMES)
def test_each_data_set_scores_as_in_reasoning_gym_also_after_json(name):
    dataset = reasoning_gym.create_dataset(name, size=2, seed=3)
    stage = ReasoningGym(name)
    tasks = list(reasoning_gym_tasks(name, size=2, seed=3))
    for entry, task in zip(dataset, tasks, strict=True):
        info = json.loads(json.dumps(task.info))
        for answer in (entry["answer"], "0", "nan", "no"):
            made = {"question": task.prompt, "answer": task.answer, "metadata": info}
            assert _said(stage.score, answer, made) == _said(dataset.score_answer, answer, entry)


def _said(score, answer, entry):
    try:
        return float(score(answer, entry))
    except Exception as error:
        return type(error)


def test_a_response_on_which_a_data_set_breaks_is_unscored():
    with Environment.from_dict(table("prime_factorization", size=1)) as env:
        verdict = env.evaluate(env.tasks[0], "no number")

    assert verdict.value is None
    assert verdict.results[0].fault.kind == "error"


HOLES = {"complex_arithmetic": "nan", "game_of_life_halting": "0"}


@pytest.mark.parametrize("name", [*HOLES, "leg_counting"])
def test_an_audit_finds_the_known_holes(tmp_path, name):
    path = tmp_path / "env.toml"
    path.write_text(
        f'name = "{name}"\n[tasks]\nuse = "train/reasoning-gym"\noptions = {{ dataset = "{name}",'
        ' size = 10, seed = 7 }\n[[stage]]\nuse = "train/reasoning-gym"\noptions = { dataset ='
        f' "{name}" }}\n'
    )
    card = audit(str(path), only=["baselines.constant", "gold.passes"])
    found = {result.probe: result.status for result in card.results}

    assert found["gold.passes"] == "clean"
    assert found["baselines.constant"] == ("found" if name in HOLES else "clean")


def test_an_entry_may_be_any_task():
    with Environment("x", ReasoningGym("gcd")) as env:
        assert env.verify(Task("gcd of 4 and 6", answer="2"), "2") == 1.0


def test_the_program_of_the_page_runs(tmp_path):
    write_files("import-rewards.md", tmp_path)

    assert run_program("gym_try.py", tmp_path).splitlines()[-1] == "1.0"
