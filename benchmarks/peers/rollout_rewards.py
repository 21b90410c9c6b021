"""Shared by the peers of rollouts.py.

Has rewards as people write them, and turns that another process asks for.
"""

import json
import re
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

TIMEOUT = 10.0


def followed(name: str, kwargs: dict[str, Any], text: str) -> bool:
    """As the checkers of IFEval decide."""
    match name:
        case "punctuation:no_comma":
            return "," not in text
        case "keywords:existence":
            return all(re.search(word, text, re.I) for word in kwargs["keywords"])
        case "keywords:forbidden_words":
            return not any(
                re.search(rf"\b{word}\b", text, re.I) for word in kwargs["forbidden_words"]
            )
        case "length_constraints:number_words":
            enough = len(re.findall(r"\w+", text)) >= kwargs["num_words"]
            return enough if kwargs["relation"] == "at least" else not enough
        case "detectable_format:number_highlighted_sections":
            found = [*re.findall(r"\*[^\n\*]*\*", text), *re.findall(r"\*\*[^\n\*]*\*\*", text)]
            return sum(bool(each.strip("*").strip()) for each in found) >= kwargs["num_highlights"]
        case "startend:quotation":
            return len(text.strip()) > 1 and text.strip()[0] == text.strip()[-1] == '"'
    raise ValueError(name)


def constraints(info: dict[str, Any], response: str) -> float:
    names = zip(info["instruction_id_list"], info["kwargs"], strict=True)
    return float(all(followed(name, kwargs, response) for name, kwargs in names))


def program(prompt: str, info: dict[str, Any], response: str) -> list[str]:
    """A process for a program and its tests."""
    tests = info["tests"]
    source = f"{prompt}{response}\n{tests['test']}\ncheck({tests['entry_point']})\n"
    return [sys.executable, "-c", source]


def code(prompt: str, info: dict[str, Any], response: str) -> float:
    argv = program(prompt, info, response)
    try:
        done = subprocess.run(argv, capture_output=True, timeout=TIMEOUT, check=False)
    except subprocess.TimeoutExpired:
        return 0.0
    return float(done.returncode == 0)


def serve(prepare: Callable[[list[dict[str, Any]]], Callable[[], Sequence[float]]]) -> None:
    """Score the rows of the file argv[1].

    A line "3 10" on standard input asks for the scores of rows 3 to 9.

    Args:
        prepare: makes what scores some rows; its own time does not count.
    """
    rows = [json.loads(line) for line in Path(sys.argv[1]).read_text("utf-8").splitlines()]
    out, sys.stdout = sys.stdout, sys.stderr  # what a library prints goes elsewhere
    for line in sys.stdin:
        first, end = map(int, line.split())
        score = prepare(rows[first:end])
        start = time.perf_counter()
        scores = list(map(float, score()))
        seconds = time.perf_counter() - start
        print(json.dumps({"seconds": seconds, "scores": scores}), file=out, flush=True)
