"""One whole verification of a small kernel task, in a warm worker: the section of
`benchmarks/cuda.py`.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rlenv import Environment, Task

from benchmarks.spent import cpu_of_tree

EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "kernels"
SMALL = ("vadd", "sum", "softmax", "matmul", "transpose")
WAYS: dict[str, tuple[float, list[dict[str, Any]]]] = {
    "run and compare": (0.3, [{"use": "cuda/run", "weight": 0}, {"use": "cuda/diff"}]),
    "with the compile gate and limits": (
        1.0,
        [
            {"use": "cuda/compile"},
            {"use": "cuda/run", "weight": 0},
            {"use": "cuda/diff"},
            {"use": "cuda/limits"},
        ],
    ),
}


def section(*, quick: bool) -> None:
    """Median and p99 of answers that nobody has seen, one after another."""
    table = Table(title="Verifying a small numba task, warm, seconds")
    for column in ("stages", "answers", "CPU, mean", "p50", "p99", "goal of p50", "reached?"):
        table.add_column(column, justify="left" if column == "stages" else "right")
    pairs = _pairs(2 if quick else 12)
    for name, (goal, stages) in WAYS.items():
        times, cpu = _times(stages, pairs)
        p50 = statistics.median(times)
        p99 = sorted(times)[int(len(times) * 0.99)]
        reached = "yes" if p50 <= goal else "MISSED"
        table.add_row(
            name, str(len(times)), f"{cpu:.3f}", f"{p50:.3f}", f"{p99:.3f}", f"{goal}", reached
        )
    Console().print(table)


def _rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (EXAMPLE / name).read_text("utf-8").splitlines()]


def _pairs(each: int) -> list[tuple[Task, str]]:
    """Honest answers to small tasks; a constant makes each program new, and its inputs with it."""
    tasks = {
        row["id"]: Task(row["prompt"], info={"kernel": row["kernel"]}, id=row["id"])
        for row in _rows("tasks.jsonl")
    }
    answers = {row["task"]: row["response"] for row in _rows("responses.jsonl") if row["right"]}
    names = [f"{name}-numba" for name in SMALL]
    return [
        (tasks[name], answers[name].replace("```python\n", f"```python\nANSWER = {number}\n"))
        for number in range(each)
        for name in names
    ]


def _times(
    stages: Sequence[dict[str, Any]], pairs: Sequence[tuple[Task, str]]
) -> tuple[list[float], float]:
    """Seconds of each, and the mean of CPU seconds of all processes."""
    times = []
    with Environment.from_dict({"name": "kernels", "stage": list(stages)}) as env:
        for task, response in pairs[: len(SMALL)]:
            env.verify(task, response.replace("ANSWER", "FIRST"))
        spent = cpu_of_tree()
        for task, response in pairs:
            start = time.perf_counter()
            value = env.verify(task, response)
            times.append(time.perf_counter() - start)
            assert value == 1.0, (task.id, value)
        spent = cpu_of_tree() - spent
    return times, spent / len(times)
