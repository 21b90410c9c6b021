"""The corpus of CUDA C++ through the rules, the compiler and the limits: without a GPU nothing of it is run."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rlenv import Environment, Task, Verdict
from rlenv_plugin_cuda.building.toolchain import missing

pytestmark = pytest.mark.skipif(bool(missing("cuda")), reason=missing("cuda"))
CORPUS = Path(__file__).with_name("corpus")
TASKS: dict[str, Any] = json.loads((CORPUS / "tasks.json").read_text("utf-8"))
LIMITS = {"registers": 64, "stack": 1024, "spills": 0, "arch": "sm_90"}
STAGES = [{"use": "cuda/compile"}, {"use": "cuda/limits", "weight": 1}]
WORDS = {
    "KERNEL": 'extern "C" __global__ void k(const float* a, const float* b, float* o, int n) {\n'
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) o[i] = a[i] + b[i];\n}",
    "LIVE": "float x[128];\n  for (int i = 0; i < 128; i++) x[i] = a[i * 1024 + threadIdx.x];\n"
    "  for (int j = 0; j < 8; j++) for (int i = 0; i < 128; i++) x[i] = x[(i + 1) % 128] * x[i] + b[j];\n"
    "  float s = 0;\n  for (int i = 0; i < 128; i++) s += x[i] * x[127 - i];\n  o[threadIdx.x] = s;",
}
PLAN = "def run(a, b, o):\n    k[(o.size + 127) // 128, 128](a, b, o, o.size)\n"
_PLAN = re.compile(r"^(?:import \w+(?: as \w+)?\n\n|[A-Z]+ = \d+\n\n)?def run\(", re.M)


def answers(name: str) -> Iterator[tuple[str, Task, str]]:
    """(name, task, response) for every section of a file of the corpus."""
    for section in re.split(r"^## ", (CORPUS / name).read_text("utf-8"), flags=re.M)[1:]:
        title, _, body = section.partition("\n")
        code = "\n".join(line.removeprefix("    ") for line in body.splitlines())
        for word, text in WORDS.items():
            code = code.replace(word, text)
        plan = _PLAN.search(code)
        cpp, launch = (code[: plan.start()], code[plan.start() :]) if plan else (code, PLAN)
        task = title.partition(":")[0]
        kernel = {**TASKS[task], "lang": "cuda", "limits": LIMITS}
        response = f"```cuda\n{cpp.strip()}\n```\n\n```python\n{launch.strip()}\n```\n"
        yield title, Task(f"Write {task}.", info={"kernel": kernel}, id=task), response


@pytest.fixture(scope="module")
def verdicts() -> dict[str, dict[str, Verdict]]:
    found = {}
    with Environment.from_dict({"name": "kernels", "stage": STAGES}) as env:
        for name in ("honest-cuda.md", "adversarial-cuda.md"):
            given = list(answers(name))
            scored = env.evaluate_many([(task, response) for _, task, response in given], workers=1)
            found[name] = {title: v for (title, _, _), v in zip(given, scored, strict=True)}
    return found


def test_the_corpus_of_cuda_cpp_is_as_large_as_is_said(
    verdicts: dict[str, dict[str, Verdict]],
) -> None:
    assert len(verdicts["adversarial-cuda.md"]) >= 33
    assert len(verdicts["honest-cuda.md"]) >= 10


def test_no_answer_that_cheats_the_compile_gate_is_paid(
    verdicts: dict[str, dict[str, Verdict]],
) -> None:
    wrong = {title: v for title, v in verdicts["adversarial-cuda.md"].items() if v.value != 0.0}
    assert wrong == {}


def test_every_answer_that_compiles_within_its_limits_is_paid(
    verdicts: dict[str, dict[str, Verdict]],
) -> None:
    wrong = {title: v for title, v in verdicts["honest-cuda.md"].items() if v.value != 1.0}
    assert wrong == {}


def test_no_refusal_shows_a_file_of_the_machine(verdicts: dict[str, dict[str, Verdict]]) -> None:
    for verdict in verdicts["adversarial-cuda.md"].values():
        assert "root:" not in repr(verdict)
