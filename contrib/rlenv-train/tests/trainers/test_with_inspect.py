"""``inspect_scorer`` in an evaluation of Inspect, with its mock model."""

from __future__ import annotations

import math

import pytest
import rlenv
from page import run_program, write_files
from rlenv import Environment, Task
from rlenv_train import inspect_scorer
from train_cases import GOLD

pytest.importorskip(
    "inspect_ai", reason="Inspect is not installed here: `make test-trainers` runs this"
)

import inspect_ai
from inspect_ai.dataset import Sample
from inspect_policy import saying


@rlenv.stage(where="inline")
def right(response, prompt, answer):
    if response == "break":
        raise RuntimeError(f"cannot compare with {answer}")
    return prompt == "1+1=" and response == answer


def evaluated(env, tmp_path, replies, samples):
    task = inspect_ai.Task(dataset=samples, solver=saying(replies), scorer=inspect_scorer(env))
    (log,) = inspect_ai.eval(
        task, model="mockllm/model", log_dir=str(tmp_path), display="none", max_samples=1
    )
    assert log.status == "success", log.error
    return log


def test_an_unscored_response_is_left_out_of_the_mean(tmp_path):
    samples = [Sample("1+1=", target="2") for _ in range(4)]
    with Environment("sums", [right]) as env:
        log = evaluated(env, tmp_path, ["2", "3", "break", "2"], samples)
    scores = [sample.scores["rlenv"] for sample in log.samples]

    assert [score.value for score in scores if score.reason is None] == [1.0, 0.0, 1.0]
    assert [(s.reason, s.explanation, math.isnan(s.value)) for s in scores if s.reason] == [
        ("scoring_failed", "error at right", True)
    ]
    assert log.results.scores[0].metrics["mean"].value == pytest.approx(2 / 3)
    assert scores[0].metadata == {"right": 1.0}
    assert log.results.scores[0].unscored_samples == 1


def test_an_environment_finds_its_own_task_by_the_sample_s_id(tmp_path):
    with Environment("sums", [right], [Task("1+1=", answer=GOLD, id="a")]) as env:
        log = evaluated(env, tmp_path, [GOLD], [Sample("another text", id="a")])
        found = evaluated(env, tmp_path, [GOLD], [Sample("1+1=")])

    assert log.samples[0].scores["rlenv"].value == 1.0
    assert found.samples[0].scores["rlenv"].value == 1.0


def test_the_program_of_the_page_runs(tmp_path):
    write_files("evaluate-with-inspect.md", tmp_path)

    assert run_program("evaluate.py", tmp_path).splitlines()[-1] == "mean 0.5, unscored 1"
