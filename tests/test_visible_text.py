"""Hidden reasoning neither earns nor costs anything, in any stage of any plugin."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from rlenv import Environment, Task
from rlenv_plugin_cuda.examples import VADD, examples
from rlenv_testing import subjects
from rlenv_testing.subject import Subject

STAGES = [
    "core/equal", "math/equal", "math/boxed", "code/compile", "code/run", "code/diff",
    "code/limits", "code/style", "code/speed", "code/tests", "cuda/compile", "cuda/run",
    "cuda/diff", "cuda/limits", "cuda/speed", "constraints/all", "constraints/ifeval",
    "constraints/ast", "constraints/schema", "judge/reference", "judge/rubric", "judge/checklist",
    "judge/panel", "judge/steps", "judge/evolving", "judge/reward-model",
]  # fmt: skip
FRAMES = {  # VISIBLE and HIDDEN, as chat templates make models write them
    "thinking that the template opened": "HIDDEN\n</think>\n\nVISIBLE",
    "thinking": "<think>\nHIDDEN\n</think>\n\nVISIBLE<|im_end|>\n",
    "tokens": "[THINK]HIDDEN[/THINK]VISIBLE</s>",
    "channels": (
        "<|channel|>analysis<|message|>HIDDEN<|end|><|start|>assistant<|channel|>final<|message|>VISIBLE<|return|>"
    ),
    "thinking at the end": "VISIBLE\n<think>\nHIDDEN",
}


OPENED: list[Subject] = []


@pytest.fixture(scope="module", autouse=True)
def closed() -> Iterator[None]:
    """Ends all subjects: while one is open, later tests of this process would share its workers."""
    yield
    while OPENED:
        OPENED.pop().close()
    subject.cache_clear()


@cache
def subject(use: str) -> Subject:
    plugin, _, short = use.partition("/")
    OPENED.append(next(iter(subjects(plugin, short))))
    return OPENED[-1]


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
        right_visible = framed(frame, right, wrong)
        wrong_visible = framed(frame, wrong, right)
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


def harmony(*messages: tuple[str, str]) -> str:
    """Messages of gpt-oss, each (channel, text)."""
    said = "<|end|><|start|>assistant".join(f"<|channel|>{c}<|message|>{t}" for c, t in messages)
    return f"{said}<|return|>"


RIGHT = "```python\ndef add(a, b):\n    return a + b\n```"
WRONG = "```python\ndef add(a, b):\n    return a - b\n```"
BARE_WRONG = "def add(a, b):\n    return a - b\n"
TAGGED = 'def add(a, b):\n    return a + b if "</think>" != "<think>" else 0\n'
TESTS = {"kind": "function", "entry_point": "add", "cases": [{"args": [1, 2], "expected": 3}]}
KERNEL = next(response for task, response in examples()["compile"][0].right if task == VADD)
EVIL = "```python\neval('1')\n```"
ENVIRONMENTS: dict[str, tuple[list[dict[str, Any]], Task]] = {
    "equal": ([{"use": "core/equal"}], Task("A color?", "Red.")),
    "math": ([{"use": "math/equal"}], Task("2 + 2?", "4")),
    "boxed": ([{"use": "math/boxed"}], Task("2 + 2?", "4")),
    "code": (
        [{"use": "code/run", "weight": 0}, {"use": "code/diff"}],
        Task("Add.", info={"tests": TESTS}),
    ),
    "cuda": ([{"use": "cuda/compile", "weight": 1, "options": {"compiler": "none"}}], VADD),
    "words": (
        [
            {
                "use": "constraints/all",
                "options": {
                    "constraints": [{"kind": "max_words", "n": 5}, {"kind": "no_comma"}],
                    "score": "all",
                },
            }
        ],
        Task("A color?"),
    ),
    "cat": (
        [
            {
                "use": "constraints/all",
                "options": {"constraints": [{"kind": "forbids", "words": ["cat"]}]},
            }
        ],
        Task("An animal?"),
    ),
    "json": (
        [{"use": "constraints/schema", "options": {"schema": {"type": "object"}}}],
        Task("JSON?"),
    ),
    "ast": ([{"use": "constraints/ast", "options": {"forbid_calls": ["eval"]}}], Task("Code?")),
    "judge": (
        [{"use": "judge/reference", "options": {"judge": {"transport": "judge/scripted"}}}],
        Task("A color?", "Red"),
    ),
}
ATTEMPTS = [  # (environment, what the policy writes, its reward)
    ("equal", "Red.</think>Blue.", 0.0),
    ("equal", harmony(("final", "Red."), ("final", "Blue.")), 0.0),
    ("equal", harmony(("analysis", "Blue."), ("final", "Red.")), 1.0),
    ("equal", "Red.<think></think>Blue.", 0.0),
    ("equal", '<think>It is "Blue"</think>Red.', 1.0),
    ("equal", "\n<think>\r\nBlue?\r\n</think>\r\nRed.<|eot_id|>", 1.0),
    ("math", harmony(("analysis", "\\boxed{4}"), ("final", "\\boxed{5}")), 0.0),
    ("math", harmony(("commentary", "The answer is 4."), ("final", "I do not know.")), 0.0),
    ("math", "The answer is 4.<|channel|>final<|message|>The answer is 5.", 0.0),
    ("math", "<|channel|>final<|message|>The answer is 5.<|end|>The answer is 4.", 0.0),
    ("math", harmony(("final", "\\boxed{5}"), ("final", "\\boxed{4}")), 0.0),
    ("math", "The answer is 5. <think>\\boxed{4}", 0.0),
    ("math", "\\boxed{4}</think>\\boxed{5}", 0.0),
    ("math", "[THINK]\\boxed{4}[/THINK]", 0.0),
    ("math", "<think>5? [/THINK] \\boxed{4}", 0.0),
    ("math", "\\boxed{4<think>a</think>2}", 0.0),
    ("math", "`<think>` is a tag. \\boxed{4}", 1.0),
    ("math", "<think>5? I close with `</think>` now.</think>\\boxed{4}", 1.0),
    ("math", "5, so $5$\n</think>\n\n\\boxed{4}", 1.0),
    ("boxed", "\\boxed{1}</think>\\boxed{4}", 1.0),
    ("boxed", harmony(("analysis", "\\boxed{4}"), ("final", "4")), 0.0),
    ("code", harmony(("analysis", RIGHT), ("final", BARE_WRONG)), 0.0),
    ("code", harmony(("analysis", f"```python\n{BARE_WRONG}"), ("final", RIGHT)), 1.0),
    ("code", f"{RIGHT}\n</think>\n{WRONG}", 0.0),
    ("code", f"{WRONG}\n<think>\n{RIGHT}\n</think>", 0.0),
    ("code", f"<think>\n{RIGHT}", 0.0),
    ("code", f"```python\n{BARE_WRONG}</think>\n{RIGHT}", 1.0),
    ("code", TAGGED, 1.0),
    ("code", f"```python\n{TAGGED}```<|im_end|>", 1.0),
    ("code", f"<think>\n{WRONG}\n</think>\n{RIGHT}\n<think>\n{WRONG}\n</think>", 1.0),
    ("cuda", harmony(("analysis", KERNEL), ("final", "I do not know.")), 0.0),
    ("cuda", harmony(("analysis", "No."), ("final", KERNEL)), 1.0),
    ("words", "let me think about it, for long …</think>\nRed it is.", 1.0),
    (
        "words",
        harmony(("analysis", "One, two, three, four, five, six"), ("final", "Red it is.")),
        1.0,
    ),
    ("words", harmony(("final", "One, two,"), ("final", "three")), 0.0),
    ("cat", "A c<think></think>at sleeps here.", 0.0),
    ("cat", "No cat, then.</think>A dog sleeps here.", 1.0),
    ("json", "<think>{}</think>not JSON", 0.0),
    ("json", "{broken</think>{}", 1.0),
    ("ast", f"<think>\n```python\nx = f(1)\n```\n</think>\n{EVIL}", 0.0),
    ("judge", "<think>Red</think>Blue", 0.0),
    ("judge", "Blue</think>Red", 1.0),
]


@pytest.mark.parametrize(("name", "response", "reward"), ATTEMPTS)
def test_a_response_is_worth_what_can_be_seen(name: str, response: str, reward: float) -> None:
    stages, task = ENVIRONMENTS[name]
    with Environment.from_dict({"name": name, "stage": stages}) as env:
        assert env.verify(task, response) == reward
