"""The environment that `make run` scores: every reward of the built-in responses is what their
labels say.
"""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

import pytest
from rlenv import Environment

FOLDER = Path(__file__).parents[3] / "examples" / "everyday"
BOXES = r"\boxed"


def rows(name: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in (FOLDER / name).read_text("utf-8").splitlines()]


def test_right_is_paid_in_full_in_a_box_and_nearly_so_without_one_and_wrong_is_not_paid() -> None:
    every = rows("responses.jsonl")
    surprises = []
    with Environment.from_file(FOLDER / "env.toml") as env:
        by_id = {task.id: task for task in env.tasks}
        for row in every:
            reward = env.verify(by_id[str(row["task"])], str(row["response"]))
            text = str(row["response"])
            expected = [1.0, 0.9] if text.count(BOXES) == 1 else [0.9]
            if reward not in ([pytest.approx(e) for e in expected] if row["right"] else [0.0]):
                surprises.append((row["task"], text, reward))
    assert not surprises


def test_every_task_has_right_and_wrong_and_adversarial_responses() -> None:
    kinds: dict[object, set[object]] = defaultdict(set)
    for row in rows("responses.jsonl"):
        kinds[row["task"]].add(row["kind"])
        assert row["right"] == (row["kind"] == "right")
    tasks = rows("tasks.jsonl")
    assert len(tasks) >= 60
    assert {task["id"] for task in tasks} == set(kinds)
    assert all(found == {"right", "wrong", "adversarial"} for found in kinds.values())
    assert len({task["split"] for task in tasks}) >= 5
