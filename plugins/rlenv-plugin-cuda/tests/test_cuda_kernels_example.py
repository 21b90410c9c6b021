"""The environment `examples/kernels`: right kernels are paid, wrong ones get 0, and the rest is
unscored with a reason.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rlenv import Environment
from rlenv.model.values import Task
from rlenv_plugin_cuda.choosing import lacking
from rlenv_plugin_cuda.lint import lint
from rlenv_plugin_cuda.reading import kernel_of

EXAMPLE = Path(__file__).resolve().parents[3] / "examples" / "kernels"
LANGUAGES = ("numba", "triton", "cuda")
ENDLESS = "never ends"
ALL = pytest.mark.slow  # all rows; every eighth is run always


def read(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (EXAMPLE / name).read_text("utf-8").splitlines()]


@pytest.fixture(scope="module")
def env() -> Iterator[Environment]:
    with Environment.from_file(EXAMPLE / "env.toml") as found:
        yield found


def test_there_are_ten_tasks_in_three_languages_and_each_has_an_honest_answer() -> None:
    tasks = {row["id"] for row in read("tasks.jsonl")}
    names = {task.rpartition("-")[0] for task in tasks}
    assert len(names) == 10
    assert tasks == {f"{name}-{lang}" for name in names for lang in LANGUAGES}
    assert {row["task"] for row in read("responses.jsonl") if row["right"]} == tasks


@pytest.mark.parametrize("row", read("tasks.jsonl")[:10], ids=lambda row: row["id"])
def test_no_task_pays_for_a_cheat(row: dict[str, Any]) -> None:
    lint(kernel_of(Task(row["prompt"], info={"kernel": row["kernel"]}, id=row["id"])), row["id"])


def test_the_same_task_is_asked_in_every_language() -> None:
    said: dict[str, list[Any]] = {}
    for row in read("tasks.jsonl"):
        kernel = {key: value for key, value in row["kernel"].items() if key != "lang"}
        said.setdefault(row["id"].rpartition("-")[0], []).append(kernel)
    assert all(kernels == kernels[:1] * 3 for kernels in said.values())


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("every", [8, pytest.param(1, marks=ALL)])
def test_every_reward_is_the_one_that_its_label_wants(
    env: Environment, lang: str, every: int
) -> None:
    rows = [row for row in read("responses.jsonl") if row["task"].endswith(lang)]
    check(env, [row for row in rows if row["kind"] != ENDLESS][::every])


@pytest.mark.slow  # every answer to two tasks; test_cuda_corpus_cpp.py has some of each sort
@pytest.mark.skipif(bool(lacking("cuda", "cpu")), reason=lacking("cuda", "cpu"))
def test_kernels_in_cuda_cpp_are_decided_without_a_gpu(env: Environment) -> None:
    rows = [row for row in read("responses.jsonl") if row["task"] in ("softmax-cuda", "scan-cuda")]
    pairs = [(env.tasks.by_id(row["task"]), row["response"]) for row in rows]
    found = [verdict.value for verdict in env.evaluate_many(pairs, workers=1)]

    assert [value is not None and value > 0.7 for value in found] == [row["right"] for row in rows]


@pytest.mark.slow  # endless kernels burn their whole budget
def test_a_kernel_that_never_ends_is_worth_nothing(env: Environment) -> None:
    check(env, [row for row in read("responses.jsonl") if row["kind"] == ENDLESS])


def check(env: Environment, rows: list[dict[str, Any]]) -> None:
    """Numba kernels are decided on any machine.

    Others may be unscored where what they need is not here.
    """
    pairs = [(env.tasks.by_id(row["task"]), row["response"]) for row in rows]
    for row, verdict in zip(rows, env.evaluate_many(pairs, workers=1), strict=True):
        what = (row["task"], row["kind"], verdict.value, verdict.stopped_at, verdict.fault)
        if verdict.value is None:
            assert not row["task"].endswith("numba"), what
            assert verdict.fault is not None, what
            assert verdict.fault.kind == "unavailable", what
        else:
            assert verdict.value >= 0.7 if row["right"] else verdict.value == 0.0, what
            speed = next((one for one in verdict.results if one.stage == "speed"), None)
            if speed and speed.outcome and not speed.outcome.data.get("measured", True):
                assert verdict.value <= 0.8, what
