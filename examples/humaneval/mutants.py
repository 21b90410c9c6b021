"""How many mistakes in HumanEval's own solutions do HumanEval's own tests miss?

python mutants.py HumanEval.jsonl.gz --each 4

Makes programs with one mistake each from the canonical solutions and scores them with env.toml.
Those that pass are asked beside the canonical solution, on inputs like those of the tests: where
they answer otherwise, the tests missed them.
"""

from __future__ import annotations

import argparse
import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from attrs import frozen
from rlenv import Environment, Task, Verdict
from rlenv_plugin_code.mutate import mutants

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
from convert import problems  # noqa: E402 - it is next to this file

# An exception is an answer of a program, and so are arguments that it changes.
PROBE = """

def probe_(args):
    try:
        found = [NAME(*args), args]
    except Exception as error:
        found = type(error).__name__
    return found
"""
GENERATE = """
KNOWN = {known!r}


def other(rng, value):
    if isinstance(value, bool):
        return rng.random() < 0.5
    if isinstance(value, int):
        return value + rng.choice((-2, -1, 0, 0, 1, 2, 10))
    if isinstance(value, float):
        return value + rng.choice((-1.0, -0.5, 0.0, 0.25, 1.0))
    if isinstance(value, str):
        at = rng.randrange(len(value) + 1)
        shorter = value[:at] + value[at + 1:]
        return rng.choice((value, value[:at], value[at:], shorter, value + value[:at]))
    if isinstance(value, (list, tuple)):
        kept = [other(rng, item) if rng.random() < 0.3 else item for item in value]
        rng.shuffle(kept) if rng.random() < 0.3 else None
        return type(value)(kept[:rng.randrange(len(kept) + 1)] if rng.random() < 0.3 else kept)
    return value


def generate(rng):
    return [[other(rng, value) for value in rng.choice(KNOWN)]]
"""


@frozen
class Made:
    """A program with one mistake."""

    record: dict[str, Any]
    source: str
    what: str


def made(source: Path, each: int) -> Iterator[Made]:
    for number, record in enumerate(problems(source)):
        whole = record["prompt"] + record["canonical_solution"]
        for mutant in mutants(whole, each, seed=number):
            yield Made(record, mutant.source, mutant.what)


def arguments(test: str) -> list[list[Any]]:
    """The literal arguments of the calls in a problem's tests."""
    found = []
    for node in ast.walk(ast.parse(test)):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "candidate":
            try:
                found.append([ast.literal_eval(arg) for arg in node.args])
            except ValueError:
                continue
    return found


def beside(mutant: Made) -> Task | None:
    """The canonical solution as a golden program, on inputs like those of the tests."""
    known = arguments(mutant.record["test"])
    if not known:
        return None
    golden = mutant.record["prompt"] + mutant.record["canonical_solution"]
    tests = {
        "kind": "golden",
        "entry_point": "probe_",
        "golden": golden + PROBE.replace("NAME", mutant.record["entry_point"]),
        "generate": GENERATE.format(known=known),
        "count": 200,
        "time": 3.0,
    }
    return Task(f"like {mutant.record['task_id']}", info={"tests": tests})


def differ(survivors: list[Made]) -> list[Verdict | None]:
    """1 where the survivor answers as the canonical solution does, 0 where it does not."""
    stages = [
        {"use": "code/run", "weight": 0},
        {"use": "code/diff", "options": {"score": "all"}},
    ]
    tasks = [beside(mutant) for mutant in survivors]
    with Environment.from_dict({"name": "beside", "stage": stages}) as env:
        asked = [
            (task, f"```python\n{m.source}{PROBE.replace('NAME', m.record['entry_point'])}\n```")
            for task, m in zip(tasks, survivors, strict=True)
            if task is not None
        ]
        verdicts = iter(list(env.evaluate_many(asked)))
    return [None if task is None else next(verdicts) for task in tasks]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("source", type=Path, help="HumanEval.jsonl.gz")
    parser.add_argument("--each", type=int, default=4, help="mutants of each problem at most")
    args = parser.parse_args()
    every = list(made(args.source, args.each))
    with Environment.from_file(HERE / "env.toml") as env:
        tasks = [env.tasks.by_id(m.record["task_id"]) for m in every]
        fenced = [f"```python\n{m.source}\n```" for m in every]
        scored = list(env.evaluate_many(zip(tasks, fenced, strict=True)))
    refused = sum(verdict.value == 0.0 for verdict in scored)
    survivors = [m for m, verdict in zip(every, scored, strict=True) if verdict.value == 1.0]
    said = differ(survivors)
    missed = [m for m, v in zip(survivors, said, strict=True) if v is not None and v.value == 0.0]
    same = sum(v is not None and v.value == 1.0 for v in said)
    for mutant in missed:
        print(f"missed: {mutant.record['task_id']}: {mutant.what}")
    print(
        f"{len(every)} mutants: {refused} refused by the tests, {len(missed)} missed by them,"
        f" {same} that answer as the canonical solution does,"
        f" {len(every) - refused - len(missed) - same} undecided"
    )
    if refused + len(missed):
        print(f"share missed: {len(missed) / (refused + len(missed)):.1%}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
