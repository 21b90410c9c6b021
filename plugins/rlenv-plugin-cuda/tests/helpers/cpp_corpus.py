"""The corpora of CUDA C++: one section an answer, which is read into a task and a response."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rlenv import Task

CORPUS = Path(__file__).parents[1] / "corpus"
TASKS: dict[str, Any] = json.loads((CORPUS / "tasks.json").read_text("utf-8"))
LIMITS = {"registers": 64, "stack": 1024, "spills": 0, "arch": "sm_90"}
KERNEL = (
    'extern "C" __global__ void k(const float* a, const float* b, float* o, int n) {\n'
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i < n) o[i] = a[i] + b[i];\n"
    "}"
)
WORDS = {
    "KERNEL": KERNEL,
    "LIVE": (
        "float x[128];\n"
        "  for (int i = 0; i < 128; i++) x[i] = a[i * 1024 + threadIdx.x];\n"
        "  for (int j = 0; j < 8; j++) for (int i = 0; i < 128; i++) x[i] = x[(i + 1) % 128] * x[i]"
        " + b[j];\n"
        "  float s = 0;\n"
        "  for (int i = 0; i < 128; i++) s += x[i] * x[127 - i];\n"
        "  o[threadIdx.x] = s;"
    ),
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
