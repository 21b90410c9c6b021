"""Triton answers: what is right is paid, what is wrong or tries to cheat is not, and says why.

``RLENV_TRITON`` names a folder that holds triton where it is not beside rlenv.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rlenv import Environment, Task, Verdict
from rlenv.sandbox import close_all
from rlenv_plugin_cuda.lang_triton.where import missing

CORPUS = Path(__file__).with_name("corpus")
HEAD = "import math\nimport torch\nimport triton\nimport triton.language as tl\n"
TASKS: dict[str, Any] = {
    **json.loads((CORPUS / "tasks.json").read_text("utf-8")),
    "half": {
        "inputs": [["x", "bf16", ["n"]]],
        "outputs": [["o", "bf16", ["n"]]],
        "golden": "return [x * x + x]",
        "hidden": [{"n": 1}, {"n": 100}],
        "tol": {"atol": 0, "rtol": 0.01, "scale": "absdot"},
    },
    "gelu": {
        "inputs": [["x", "f4", ["n"]]],
        "outputs": [["o", "f4", ["n"]]],
        "golden": "return [0.5 * x * (1 + np.tanh(0.7978845608 * (x + 0.044715 * x ** 3)))]",
        "hidden": [{"n": 1}, {"n": 100}],
        "tol": {"atol": 1e-6, "rtol": 1e-5},
    },
}
runs = pytest.mark.skipif(bool(missing()), reason=missing() or "triton is here")


def sections(name: str) -> list[Any]:
    """Of a file of the corpus."""
    return list(_sections(name))


def _sections(name: str) -> Iterator[Any]:
    """One parameter per section: (task, program, words of the reason)."""
    for section in re.split(r"^## ", (CORPUS / name).read_text("utf-8"), flags=re.M)[1:]:
        title, _, body = section.partition("\n")
        title, _, words = title.partition(" => ")
        code = "\n".join(line.removeprefix("    ") for line in body.splitlines())
        yield pytest.param(title.partition(":")[0], HEAD + code.strip(), words, id=title)


@pytest.fixture(scope="module")
def env() -> Iterator[Environment]:
    stages = [
        {"use": "cuda/compile", "options": {"compiler": "none"}},
        {"use": "cuda/run", "weight": 0, "options": {"budget": 0.8}},
        {"use": "cuda/diff", "options": {"score": "all"}},
    ]
    with Environment.from_dict({"name": "triton", "stage": stages}) as made:
        yield made
    close_all()


def verdict(env: Environment, task: str, program: str) -> Verdict:
    info = {"kernel": {**TASKS[task], "lang": "triton"}}
    return env.evaluate(Task("Write it.", info=info, id=task), f"```python\n{program}\n```\n")


@runs
@pytest.mark.parametrize(("task", "program", "words"), sections("honest-triton.md"))
def test_what_is_right_is_paid(env: Environment, task: str, program: str, words: str) -> None:
    found = verdict(env, task, program)
    assert found.value == 1.0, [result.outcome for result in found.results]
    assert not words


@runs
@pytest.mark.parametrize(("task", "program", "words"), sections("adversarial-triton.md"))
def test_what_is_not_right_earns_nothing_and_hears_why(
    env: Environment, task: str, program: str, words: str
) -> None:
    found = verdict(env, task, program)
    assert found.value == 0.0, found.results
    details = [result.outcome.detail for result in found.results if result.outcome]
    assert words in details[-1]


@runs
def test_the_same_answer_has_the_same_verdict_under_three_secrets(
    env: Environment, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest, wrong = (sections(name) for name in ("honest-triton.md", "adversarial-triton.md"))
    race = next(one for one in wrong if one.id == "sum: plain adds of all programs")
    for secret in ("a" * 32, "b" * 32, "c" * 32):
        monkeypatch.setenv("RLENV_SECRET", secret)
        assert verdict(env, *honest[3].values[:2]).value == 1.0
        assert verdict(env, *race.values[:2]).value == 0.0


@runs
def test_a_type_that_triton_has_not_is_said_to_be_none(env: Environment) -> None:
    kernel = {
        "lang": "triton",
        "inputs": [["x", "c8", ["n"]]],
        "outputs": [["o", "c8", ["n"]]],
        "golden": "return [x * 2]",
        "hidden": [{"n": 5}],
        "tol": {"atol": 0, "rtol": 1e-6},
    }
    program = (
        "import triton\n@triton.jit\ndef k(x, o):\n    pass\ndef run(x, o):\n    k[(1,)](x, o)\n"
    )
    found = env.evaluate(Task("Write it.", info={"kernel": kernel}), f"```python\n{program}```\n")
    details = [result.outcome.detail for result in found.results if result.outcome]
    assert not found.value
    assert "no arrays of c8" in details[-1]
