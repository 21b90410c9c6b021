"""Mathematical answers: accuracy and CPU time per answer, against Math-Verify and SymPy's LaTeX
parser.

Every judge runs in a process of its own over the same cases: by default a sample of our corpus and
of the built-in data. Peers are run by the interpreters named in RLENV_PEERS (see README.md).
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[0] = str(ROOT)  # so that `benchmarks` is a package

import argparse
import json
import os
import random
import re
import select
import statistics
import subprocess
import tempfile
from collections.abc import Iterator
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

from benchmarks.core import child_cpu

PEERS = Path(__file__).parent / "peers"
CORPUS = ROOT / "plugins/rlenv-plugin-math/tests/cases"
EVERYDAY = ROOT / "examples/everyday"
REPEAT = re.compile(r"⟦([^⟧]*)×(\d+)⟧")
PATIENCE = 20.0  # wall seconds after which a judge that is stuck on one case is killed

INSTALL = {
    "math-verify": (
        "python3 -m venv .venv-mathverify && .venv-mathverify/bin/pip install"
        " 'math-verify[antlr4_13_2]'"
    ),
    "sympy": "python3 -m venv .venv-mathverify && .venv-mathverify/bin/pip install sympy lark",
}
BY_OBJECTS = """
from rlenv import Environment, Pipeline, Slot, Task
from rlenv_plugin_math.equal import Equal
task = Task("?", "18")
env = Environment("x", Pipeline([Slot("equal", Equal())]), [task])
assert env.verify(task, "The answer is 18.") == 1.0
"""
BY_DICT = """
from rlenv import Environment
spec = {"name": "x", "stage": [{"use": "math/equal"}], "task": [{"prompt": "?", "answer": "18"}]}
assert Environment.from_dict(spec).verify("?", "The answer is 18.") == 1.0
"""


class Judged(NamedTuple):
    name: str
    scores: list[int]  # 1 right, 0 wrong, -1 raised, -2 stuck
    cpu: list[float]


def corpus() -> Iterator[dict[str, Any]]:
    for path in sorted(CORPUS.glob("*.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            case = json.loads(line)
            case["response"] = REPEAT.sub(lambda m: m[1] * int(m[2]), case["response"])
            yield case
    yield from everyday()


def everyday() -> Iterator[dict[str, Any]]:
    """The built-in data: 64 tasks with the answers that models commonly give."""
    golds = {t["id"]: t["answer"] for t in map(json.loads, (EVERYDAY / "tasks.jsonl").open())}
    for row in map(json.loads, (EVERYDAY / "responses.jsonl").open()):
        yield {"gold": golds[row["task"]], **row}


def gsm8k(path: Path) -> Iterator[dict[str, Any]]:
    """The labelled solutions of GSM8K: a gold and four answers per line."""
    for line in path.read_text("utf-8").splitlines():
        record = json.loads(line)
        gold = record["ground_truth"].rpartition("A: ")[2].strip()
        for found in record.values():
            if isinstance(found, dict):
                yield {
                    "gold": gold,
                    "response": found["solution"],
                    "right": found["is_correct"],
                }


def judge(name: str, python: str, script: str, file: Path, count: int) -> Judged:
    """One judge over all cases; one that is stuck is killed and goes on behind the case."""
    scores = [-2] * count
    cpu = [PATIENCE] * count
    at = 0
    while at < count:
        command = [python, str(PEERS / script), str(file), str(at)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as child:
            assert child.stdout is not None
            began = at
            while select.select([child.stdout], [], [], PATIENCE + 40.0 * (at == began))[0]:
                line = child.stdout.readline()
                if not line:
                    break
                number, scores[at], cpu[at] = json.loads(line)
                assert number == at
                at += 1
            child.kill()
        if at < count:
            at += 1
    return Judged(name, scores, cpu)


def peers() -> Iterator[tuple[str, str, str]]:
    """(name, interpreter, script) of what the interpreters in RLENV_PEERS have."""
    probe = "import importlib.metadata as m, sys; print(m.version(sys.argv[1]))"
    missing = dict(INSTALL)
    for python in filter(None, os.environ.get("RLENV_PEERS", "").split(os.pathsep)):
        for package, script in (("math-verify", "mathverify.py"), ("sympy", "sympy_latex.py")):
            wanted = [package] if package != "sympy" else ["sympy", "lark"]
            asked = [
                subprocess.run(
                    [python, "-c", probe, p], capture_output=True, text=True, check=False
                )
                for p in wanted
            ]
            if package in missing and not any(a.returncode for a in asked):
                del missing[package]
                label = "sympy lark" if package == "sympy" else package
                yield f"{label} {asked[0].stdout.strip()}", python, script
    for package, command in missing.items():
        print(
            f"{package} was not measured: no interpreter in RLENV_PEERS has it. Put it beside this"
            f" project with\n  {command}\nand name it: RLENV_PEERS=.venv-mathverify/bin/python"
            " python benchmarks/math_answers.py"
        )


def answers_table(judged: list[Judged], labels: list[bool]) -> Table:
    table = Table(title=f"{len(labels):,} answers, {sum(labels):,} of them right")
    for column in ("judge", "accuracy", "right refused", "wrong paid", "raised or stuck"):
        table.add_column(column, justify="left" if column == "judge" else "right")
    for column in ("CPU median", "CPU p99", "median / ours", "p99 / ours"):
        table.add_column(column, justify="right")
    ours = judged[0]
    for one in judged:
        table.add_row(*answers_row(one, ours, labels))
    return table


def middle_and_tail(cpu: list[float]) -> tuple[float, float]:
    ordered = sorted(cpu)
    return statistics.median(ordered), ordered[min(len(ordered) - 1, int(0.99 * len(ordered)))]


def answers_row(one: Judged, ours: Judged, labels: list[bool]) -> list[str]:
    hits = sum((s == 1) == right for s, right in zip(one.scores, labels, strict=True))
    refused = sum(s != 1 and right for s, right in zip(one.scores, labels, strict=True))
    paid = sum(s == 1 and not right for s, right in zip(one.scores, labels, strict=True))
    median, tail = middle_and_tail(one.cpu)
    our_median, our_tail = middle_and_tail(ours.cpu)
    return [
        one.name,
        f"{hits / len(labels):.2%}",
        f"{refused / max(1, sum(labels)):.2%}",
        str(paid),
        str(sum(s < 0 for s in one.scores)),
        f"{median * 1e3:.3f} ms",
        f"{tail * 1e3:.2f} ms",
        f"{median / our_median:.1f}×",
        f"{tail / our_tail:.1f}×",
    ]


def cold_table(runs: int) -> Table:
    codes = {"python -c pass": "pass", "by objects": BY_OBJECTS, "by from_dict": BY_DICT}
    goals = {"by objects": 9.0, "by from_dict": 14.0}
    for code in codes.values():
        child_cpu(code)  # writes the bytecode
    samples: dict[str, list[float]] = {name: [] for name in codes}
    for _ in range(runs):
        for name, code in codes.items():
            samples[name].append(child_cpu(code))
    cost = {name: statistics.median(found) for name, found in samples.items()}
    table = Table(title="a plain number, verified in a fresh process")
    for column in ("how", "CPU", "against python", "goal", "met"):
        table.add_column(column, justify="left" if column == "how" else "right")
    for name, seconds in cost.items():
        ratio = seconds / cost["python -c pass"]
        goal = goals.get(name)
        verdict = ""
        limit = ""
        if goal is not None:
            verdict = "yes" if ratio <= goal else "NO"
            limit = f"≤ {goal:.0f}×"
        table.add_row(name, f"{seconds * 1e3:.1f} ms", f"{ratio:.1f}×", limit, verdict)
    return table


def _cases(data: Path | None, *, everyday_only: bool) -> Iterator[dict[str, Any]]:
    if data:
        return gsm8k(data)
    return everyday() if everyday_only else corpus()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="example_model_solutions.jsonl of GSM8K instead")
    parser.add_argument("--sample", type=int, default=600, help="how many cases; 0 for all")
    parser.add_argument("--quick", action="store_true", help="few samples: shows that it runs")
    parser.add_argument("--everyday", action="store_true", help="the built-in data alone")
    args = parser.parse_args()
    cases = list(_cases(args.data, everyday_only=args.everyday))
    size = 40 if args.quick else args.sample
    if 0 < size < len(cases):
        cases = random.Random(0).sample(cases, size)
    console = Console(width=None if sys.stdout.isatty() else 120)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "cases.jsonl"
        file.write_text("".join(json.dumps(case) + "\n" for case in cases), "utf-8")
        judges = [("rlenv", sys.executable, "rlenv_math.py"), *peers()]
        judged = [judge(*who, file, len(cases)) for who in judges]
    console.print(answers_table(judged, [bool(case["right"]) for case in cases]))
    console.print(cold_table(3 if args.quick else 15))


if __name__ == "__main__":
    main()
