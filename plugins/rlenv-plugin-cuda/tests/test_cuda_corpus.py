"""A corpus of kernels through compile, run and diff: what is wrong or tries to cheat earns nothing, what is right is paid.

``RLENV_KERNELS="sum:"`` runs only the answers whose name begins so.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rlenv import Environment, Task

CORPUS = Path(__file__).with_name("corpus")
TASKS: dict[str, Any] = json.loads((CORPUS / "tasks.json").read_text("utf-8"))
ONLY = os.environ.get("RLENV_KERNELS", "")
HEAD = "import math\nfrom numba import cuda, float16, float32, float64, int32\n"
LAUNCHES = {  # of the answers that say RUN
    "vadd": "k[(o.size + 127) // 128, 128]",
    "saxpy": "k[(o.size + 127) // 128, 128]",
    "sum": "k[(x.size + 127) // 128, 128]",
    "softmax": "k[(x.shape[0] + 31) // 32, 32]",
    "matmul": "k[((c.shape[0] + 7) // 8, (c.shape[1] + 7) // 8), (8, 8)]",
    "histogram": "k[(x.size + 63) // 64, 64]",
    "scan": "k[1, 256]",
    "transpose": "k[((x.shape[1] + 7) // 8, (x.shape[0] + 7) // 8), (8, 8)]",
    "layernorm": "k[(x.shape[0] + 31) // 32, 32]",
    "stencil": "k[(x.size + 31) // 32, 32]",
}


def answers(name: str) -> Iterator[tuple[str, Task, str]]:
    """(name, task, response) for every section of a file of the corpus."""
    for section in re.split(r"^## ", (CORPUS / name).read_text("utf-8"), flags=re.M)[1:]:
        title, _, body = section.partition("\n")
        task = title.partition(":")[0]
        if not title.startswith(ONLY):
            continue
        code = "\n".join(line.removeprefix("    ") for line in body.splitlines())
        arguments = ", ".join(
            array[0] for array in (*TASKS[task]["inputs"], *TASKS[task]["outputs"])
        )
        launch = f"def run({arguments}):\n    {LAUNCHES[task]}({arguments})"
        program = HEAD + code.replace("RUN", launch)
        response = f"Here is my kernel.\n\n```python\n{program.strip()}\n```\n"
        yield title, Task(f"Write {task}.", info={"kernel": TASKS[task]}, id=task), response


def paid(name: str, monkeypatch: pytest.MonkeyPatch, secret: str) -> dict[str, Any]:
    """Rewards of a whole file under one secret; inputs are drawn by it."""
    monkeypatch.setenv("RLENV_SECRET", secret)
    found = list(answers(name))
    stages = [
        {"use": "cuda/compile", "options": {"compiler": "none"}},
        {"use": "cuda/run", "weight": 0, "options": {"budget": 1.0, "backend": "interpreter"}},
        {"use": "cuda/diff", "options": {"score": "all"}},
    ]
    with Environment.from_dict({"name": "kernels", "stage": stages}) as env:
        verdicts = env.evaluate_many([(task, response) for _, task, response in found])
        return {title: v for (title, _, _), v in zip(found, verdicts, strict=True)}


def test_the_corpus_is_as_large_as_is_said() -> None:
    if ONLY:
        pytest.skip("only a part was asked for")

    assert len(list(answers("adversarial-numba.md"))) >= 100
    assert len(list(answers("honest-numba.md"))) >= 24


@pytest.mark.parametrize("secret", ["one", "two", "three"])
def test_no_wrong_kernel_is_paid(secret: str, monkeypatch: pytest.MonkeyPatch) -> None:
    verdicts = paid("adversarial-numba.md", monkeypatch, secret)

    assert {title: v for title, v in verdicts.items() if v.value != 0.0} == {}


@pytest.mark.parametrize("secret", ["one", "two", "three"])
def test_every_right_kernel_is_paid_in_full(secret: str, monkeypatch: pytest.MonkeyPatch) -> None:
    verdicts = paid("honest-numba.md", monkeypatch, secret)

    assert {title: v for title, v in verdicts.items() if v.value != 1.0} == {}
