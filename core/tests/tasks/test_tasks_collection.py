"""Tasks as a collection: ordered, found by id and prompt, named by a hash that is the same
everywhere.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rlenv import ConfigError, Task, UnknownTask
from rlenv.model.tasks import Tasks, canonical, task_hash

THREE = Tasks([Task("one", "1", id="a"), Task("two", "2", id="b"), Task("two", "3", id="c")])


def test_tasks_are_a_sequence() -> None:
    assert len(THREE) == 3
    assert [task.id for task in THREE] == ["a", "b", "c"]
    assert THREE[0].prompt == "one"
    assert THREE[1:] == (THREE[1], THREE[2])
    assert THREE.ids == ("a", "b", "c")
    assert not Tasks()


def test_a_task_that_there_is_not_may_be_looked_for_without_an_error() -> None:
    assert THREE.get("b") is THREE.by_id("b")
    assert THREE.get("zz") is None


def test_a_task_is_found_by_id() -> None:
    assert THREE.by_id("b").answer == "2"
    with pytest.raises(UnknownTask, match="no task has the id 'zz'; the ids are: a, b, c"):
        THREE.by_id("zz")


def test_a_misspelt_id_is_guessed() -> None:
    with pytest.raises(UnknownTask, match='did you mean "gsm8k-17"'):
        Tasks([Task("p", id="gsm8k-17")]).by_id("gsm8k-71")


def test_a_task_is_found_by_its_exact_prompt() -> None:
    assert THREE.by_prompt("one").id == "a"
    with pytest.raises(UnknownTask, match="there are 3 tasks, compared by exact text"):
        THREE.by_prompt("one ")


def test_a_prompt_that_two_share_is_unknown() -> None:
    with pytest.raises(UnknownTask, match=r"2 tasks share the prompt 'two'.*'b', 'c'"):
        THREE.by_prompt("two")


def test_a_long_prompt_is_cut_in_messages() -> None:
    with pytest.raises(UnknownTask) as caught:
        THREE.by_prompt("x" * 10_000)

    assert len(str(caught.value)) < 300


def test_no_tasks_know_no_prompt() -> None:
    with pytest.raises(UnknownTask):
        Tasks().by_prompt("p")
    with pytest.raises(UnknownTask, match="there are no tasks"):
        Tasks().by_id("p")


def test_two_of_one_id_are_both_named() -> None:
    with pytest.raises(ConfigError, match="tasks 0 and 2 have the same id 'a'"):
        Tasks([Task("1", id="a"), Task("2", id="b"), Task("3", id="a")])


def test_of_many_doubled_ids_twenty_are_told() -> None:
    with pytest.raises(ConfigError) as caught:
        Tasks([Task(str(i), id=str(i % 30)) for i in range(60)])

    assert len(caught.value.problems) == 21
    assert caught.value.problems[-1] == "and 10 more"


def test_only_tasks_are_tasks() -> None:
    with pytest.raises(TypeError, match="a Task is expected, not str"):
        Tasks(["p"])  # type: ignore[list-item]


def test_an_id_is_a_hash_of_prompt_answer_and_info() -> None:
    first = Tasks([Task("p", "1", {"a": [1], "b": 2})])[0]

    assert first.id == Tasks([Task("p", "1", {"b": 2, "a": [1]}, split="test")])[0].id
    assert first.id == task_hash("p", "1", {"a": [1], "b": 2})
    others = [Task("q", "1", {}), Task("p", "2", {}), Task("p", "1", {"a": 1}), Task("p", 1, {})]
    assert len({first.id, *(task.id for task in Tasks(others))}) == 5


def test_the_digest_sees_every_field_and_the_order() -> None:
    base = Task("p", "a", {"k": 1}, "id", "train")
    changed = [
        Task("q", "a", {"k": 1}, "id", "train"),
        Task("p", "b", {"k": 1}, "id", "train"),
        Task("p", "a", {"k": 2}, "id", "train"),
        Task("p", "a", {"k": 1}, "di", "train"),
        Task("p", "a", {"k": 1}, "id", "test"),
    ]
    other = Task("r", id="r")
    digests = {Tasks([base]).sha256, *(Tasks([task]).sha256 for task in changed)}

    assert len(digests) == 6
    assert Tasks([base, other]).sha256 != Tasks([other, base]).sha256
    assert Tasks([base]).sha256 == Tasks([base]).sha256


def test_the_digest_is_the_same_under_another_hash_seed() -> None:
    code = """
from rlenv import Task
from rlenv.model.tasks import Tasks
print(Tasks([Task("\\ud800é", {"a", "b", "c", "d"}, {"x": (1, 2.5), "y": {3: None}})]).sha256)
"""
    runs = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "1", "2")
    }

    assert len(runs) == 1


@pytest.mark.parametrize(
    "value", [{1, "a"}, {1: "a", "b": 2}, Decimal("1.5"), float("nan"), b"x", object, (1, {2})]
)
def test_canonical_takes_any_value(value: Any) -> None:
    assert canonical(value) == canonical(value)
    assert canonical(value).isascii()


@given(st.dictionaries(st.text(), st.integers() | st.text() | st.lists(st.booleans())))
def test_canonical_does_not_see_the_order_of_keys(value: dict[str, Any]) -> None:
    turned = dict(reversed(list(value.items())))

    assert canonical(value) == canonical(turned)
    assert json.loads(canonical(value)) == value
