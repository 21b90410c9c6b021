"""A corpus of kernels through compile, run and diff: what is wrong or tries to cheat earns nothing,
what is right is paid.

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


AGAIN = [pytest.mark.slow]  # the same corpus on other inputs
SECRETS = ["one", *(pytest.param(secret, marks=AGAIN) for secret in ("two", "three"))]


@pytest.fixture(scope="module", params=SECRETS)
def verdicts(request: pytest.FixtureRequest) -> Iterator[dict[str, dict[str, Any]]]:
    """Of both files by name, under each of three secrets; inputs are drawn by it."""
    found = {name: list(answers(name)) for name in ("adversarial-numba.md", "honest-numba.md")}
    stages = [
        {"use": "cuda/compile", "options": {"compiler": "none"}},
        {"use": "cuda/run", "weight": 0, "options": {"budget": 0.5, "backend": "interpreter"}},
        {"use": "cuda/diff", "options": {"score": "all"}},
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RLENV_SECRET", request.param)
        with Environment.from_dict({"name": "kernels", "stage": stages}) as env:
            yield {name: paid(env, rows) for name, rows in found.items()}


def paid(env: Environment, rows: list[tuple[str, Task, str]]) -> dict[str, Any]:
    pairs = [(task, response) for _, task, response in rows]
    found = env.evaluate_many(pairs, workers=1)
    return {title: verdict for (title, _, _), verdict in zip(rows, found, strict=True)}


def test_the_corpus_is_as_large_as_is_said() -> None:
    if ONLY:
        pytest.skip("only a part was asked for")

    assert len(list(answers("adversarial-numba.md"))) >= 100
    assert len(list(answers("honest-numba.md"))) >= 24


def test_no_wrong_kernel_is_paid(verdicts: dict[str, dict[str, Any]]) -> None:
    wrong = verdicts["adversarial-numba.md"]

    assert {title: v for title, v in wrong.items() if v.value != 0.0} == {}


def test_every_right_kernel_is_paid_in_full(verdicts: dict[str, dict[str, Any]]) -> None:
    right = verdicts["honest-numba.md"]

    assert {title: v for title, v in right.items() if v.value != 1.0} == {}
