"""Hidden reasoning neither earns nor costs anything, in any stage of any plugin."""

from __future__ import annotations

from functools import cache

import pytest
from rlenv import Task
from rlenv.testing.subject import Subject
from rlenv.testing.subjects import subjects

STAGES = [
    "core/equal", "math/equal", "math/boxed", "code/compile", "code/run", "code/diff", "code/limits", "code/speed", "code/tests",
    "cuda/compile", "cuda/run", "cuda/diff", "cuda/limits", "cuda/speed", "constraints/all", "constraints/ifeval", "constraints/ast",
    "constraints/schema", "judge/reference", "judge/rubric", "judge/checklist", "judge/panel", "judge/steps", "judge/evolving",
]  # fmt: skip
FRAMES = {  # VISIBLE and HIDDEN, as chat templates make models write them
    "thinking that the template opened": "HIDDEN\n</think>\n\nVISIBLE",
    "thinking": "<think>\nHIDDEN\n</think>\n\nVISIBLE<|im_end|>\n",
    "tokens": "[THINK]HIDDEN[/THINK]VISIBLE</s>",
    "channels": "<|channel|>analysis<|message|>HIDDEN<|end|><|start|>assistant<|channel|>final<|message|>VISIBLE<|return|>",
    "thinking at the end": "VISIBLE\n<think>\nHIDDEN",
}


@cache
def subject(use: str) -> Subject:
    plugin, _, short = use.partition("/")
    return next(iter(subjects(plugin, short)))


def pair(use: str) -> tuple[Task, str, str]:
    """The first task that has a right and a wrong response, and these."""
    found = subject(use)
    for task, right in found.right:
        for other, wrong in found.wrong:
            if other == task and wrong.strip():
                return task, right, wrong
    raise LookupError(use)


def scores(use: str, task: Task, *responses: str) -> list[float | None]:
    results = [subject(use).bench.result(task, response) for response in responses]
    return [result.outcome.score if result.outcome else None for result in results]


def framed(frame: str, visible: str, hidden: str) -> str:
    return FRAMES[frame].replace("VISIBLE", visible).replace("HIDDEN", hidden)


@pytest.mark.parametrize("use", STAGES)
def test_only_what_is_visible_is_paid(use: str) -> None:
    task, right, wrong = pair(use)
    best, least = scores(use, task, right, wrong)
    assert best is not None
    assert least is not None
    assert best > least
    for frame in FRAMES:
        right_visible, wrong_visible = framed(frame, right, wrong), framed(frame, wrong, right)
        found = scores(use, task, right_visible, wrong_visible, f"<think>{right}")
        assert found[0] == pytest.approx(best, abs=0.3), (frame, right_visible)
        assert found[1] == pytest.approx(least, abs=0.3), (frame, wrong_visible)
        assert found[2] is not None, frame
        assert found[2] < best, frame


def test_no_stage_is_missing() -> None:
    plugins = ("math", "code", "cuda", "constraints", "judge")
    offered = {one.use for plugin in plugins for one in subjects(plugin)}
    in_groups = {"judge/pairwise"}  # see the plugin's own tests
    assert offered - in_groups == set(STAGES) - {"core/equal"}
