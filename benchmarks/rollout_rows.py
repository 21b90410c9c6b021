"""10,000 rollouts for `rollouts.py`: 70 % math, 20 % constraints, 10 % code; real tasks where
RLENV_DATA has them.

A row is a dict of JSON values: kind, prompt, answer, info, response.
"""

from __future__ import annotations

import gzip
import json
import random
import re
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path
from typing import Any

Row = dict[str, Any]

KINDS = {  # instructions of IFEval that the peers check too
    "punctuation:no_comma",
    "keywords:existence",
    "keywords:forbidden_words",
    "length_constraints:number_words",
    "detectable_format:number_highlighted_sections",
    "startend:quotation",
}


def rows(data: Path, count: int) -> list[Row]:
    """So many rows, mixed, the same each time; few are equal, where two models wrote the same."""
    parts = math(data), constraints(data), code(data)
    shares = count * 7 // 10, count * 2 // 10, count - count * 7 // 10 - count * 2 // 10
    found = [row for part, share in zip(parts, shares, strict=True) for row in islice(part, share)]
    random.Random(0).shuffle(found)
    return found


def math(data: Path) -> Iterator[Row]:
    """The solutions of four models to GSM8K with the last line as trainers ask for it; then
    variants of them.
    """
    lines = (data / "gsm8k" / "example_model_solutions.jsonl").read_text("utf-8").splitlines()
    problems = [json.loads(line) for line in lines]
    models = [name for name, value in problems[0].items() if isinstance(value, dict)]
    for number in range(1 << 20):
        for problem in problems:
            model = models[number % len(models)]
            text = problem[model]["solution"]
            answer = problem["ground_truth"].rpartition("A: ")[2]
            said, _, final = text.rpartition("A: ")
            variant = f"Attempt {number}.\n" if number >= len(models) else ""
            response = f"{variant}{said}The answer is $\\boxed{{{final.strip()}}}$."
            yield {
                "kind": "math",
                "prompt": problem["question"],
                "answer": answer.strip(),
                "info": {},
                "response": response,
            }


def constraints(data: Path) -> Iterator[Row]:
    """Tasks of IFEval, and generated texts that follow some of their instructions."""
    lines = (data / "ifeval" / "input_data.jsonl").read_text("utf-8").splitlines()
    tasks = [t for t in map(json.loads, lines) if KINDS.issuperset(t["instruction_id_list"])]
    draw = random.Random(1)
    for task in cycle(tasks):
        info = {key: task[key] for key in ("instruction_id_list", "kwargs")}
        response = _text(task, draw)
        yield {
            "kind": "constraints",
            "prompt": task["prompt"],
            "answer": None,
            "info": info,
            "response": response,
        }


def _text(task: dict[str, Any], draw: random.Random) -> str:
    words = re.findall(r"[a-z]+", task["prompt"].lower())
    said = [draw.choice(words) for _ in range(draw.randrange(40, 500))]
    for kwargs in task["kwargs"]:
        if draw.random() < 0.8:
            said += kwargs.get("keywords") or []
            said += ["*so it is*"] * (kwargs.get("num_highlights") or 0)
    if draw.random() < 0.3:
        said.insert(10, "and, then")
    text = " ".join(said)
    return f'"{text}"' if draw.random() < 0.5 else text


def code(data: Path) -> Iterator[Row]:
    """HumanEval's own solutions, and each with a mistake in its first return."""
    with gzip.open(data / "humaneval" / "HumanEval.jsonl.gz", "rt", encoding="utf-8") as file:
        problems = [json.loads(line) for line in file]
    for number in range(1 << 20):
        for problem in problems:
            body = problem["canonical_solution"]
            if number % 2:
                body = body.replace("return ", "return None if True else ", 1)
            tests = {
                "kind": "asserts",
                "entry_point": problem["entry_point"],
                "test": problem["test"],
            }
            response = f"    # attempt {number}\n{body}"
            yield {
                "kind": "code",
                "prompt": problem["prompt"],
                "answer": None,
                "info": {"tests": tests},
                "response": response,
            }
