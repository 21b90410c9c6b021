"""Reads `attacks/` and `honest/`: tasks and responses, with the canaries of a run put in."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from attrs import frozen
from rlenv import Environment, Task, Verdict

HERE = Path(__file__).parents[1]
REPEAT = re.compile(r"⟦([^⟧]*)×(\d+)⟧")
TOKEN = "@TOKEN@"


AT_ONCE = 24
TRIES = 4


def evaluated(env: Environment, pairs: Sequence[tuple[Task, str]]) -> list[Verdict]:
    """A few at a time, so that none waits for long; where the sandbox broke, it is tried again by
    itself.
    """
    found: list[Verdict] = []
    for start in range(0, len(pairs), AT_ONCE):
        found += env.evaluate_many(pairs[start : start + AT_ONCE], workers=2)
    for at, (task, response) in enumerate(pairs):
        for _ in range(TRIES):
            fault = found[at].fault
            if fault is None or not fault.transient:
                break
            found[at] = env.evaluate(task, response)
    return found


def crowd() -> float:
    """How many processes each processor has to run now, 1 at least: programs take so many times as
    long.
    """
    return max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


@frozen
class Attack:
    """One response that must earn nothing."""

    name: str
    task: Task
    response: str
    wave: int = 1
    env: str = "plain"
    only: tuple[str, ...] = ()


def written_out(text: str) -> str:
    """The text with its repetitions and its lone surrogate."""
    text = text.replace("⟦surrogate⟧", "\ud800")
    return REPEAT.sub(lambda m: m[1] * int(m[2]), text)


def put_in(value: Any, marks: Mapping[str, str]) -> Any:
    """``value`` with every mark replaced, in nested data too."""
    if isinstance(value, str):
        for mark, text in marks.items():
            value = value.replace(mark, text)
        return value
    if isinstance(value, dict):
        return {put_in(k, marks): put_in(v, marks) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(put_in(v, marks) for v in value)
    return value


def fenced(source: str, language: str) -> str:
    return f"```{language}\n{source.strip(chr(10)) if source.strip() else source}\n```"


@cache
def hashes() -> dict[str, str]:
    """What a program would have to know of hash seed 0."""
    code = "print(hash('canary'), hash('a') % 4)"
    env = {**os.environ, "PYTHONHASHSEED": "0"}
    said = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True
    )
    one, two = said.stdout.split()
    return {"@HASH@": one, "@HASH4@": two}


@cache
def _tables(folder: str, key: str) -> list[tuple[str, dict[str, Any], dict[str, Any]]]:
    paths = sorted((HERE / folder).glob("*.toml"))
    read = [(path.stem, tomllib.loads(path.read_text("utf-8"))) for path in paths]
    return [(stem, table, row) for stem, table in read for row in table[key]]


def families(folder: str, env: str = "plain") -> list[str]:
    """How the names of its cases in environments of this kind begin: one beginning for each
    file.
    """
    found = {
        f"{stem}: ": None
        for stem, _, row in _tables(folder, "attack" if folder == "attacks" else "program")
        if row.get("env", "plain") == env
    }
    return [*found, *(["tasks: "] if folder == "honest" else [])]


def named_tasks() -> tuple[dict[str, Any], dict[str, str]]:
    """The tasks of the attacks, and a right program for most."""
    space = runpy.run_path(str(HERE / "attacks" / "tasks.py"))
    return space["TASKS"], space["HONEST"]


def _task(name: str, row: Mapping[str, Any], marks: Mapping[str, str]) -> Task:
    tests = put_in(row["tests"], marks)
    return Task(row["prompt"], info={"tests": tests}, id=name)


def attacks(marks: Mapping[str, str]) -> list[Attack]:
    """The corpus; ``marks`` says what stands for the canaries."""
    known, _ = named_tasks()
    marks = {**marks, **hashes()}
    tasks = {name: _task(name, row, marks) for name, row in known.items()}
    found = []
    for stem, table, row in _tables("attacks", "attack"):
        language = row.get("language", table.get("language", "python"))
        if "source" in row:
            text = table.get("prelude", "") + written_out(row["source"])
            response = fenced(text, language)
        else:
            response = written_out(row["response"])
        more = {key: row[key] for key in ("wave", "env") if key in row}
        only = tuple(row.get("only", ()))
        found.append(
            Attack(
                f"{stem}: {row['name']}",
                tasks[row["task"]],
                put_in(response, marks),
                only=only,
                **more,
            )
        )
    return found


def honest(env: str = "plain") -> list[tuple[str, Task, str]]:
    """(name, task, response) of every honest program that can run here, in environments of this
    kind.
    """
    known, programs = named_tasks()
    found = []
    for name, source in programs.items() if env == "plain" else ():
        language = known[name]["tests"].get("language", "python")
        found.append((f"tasks: {name}", _task(name, known[name], {}), fenced(source, language)))
    for stem, table, row in _tables("honest", "program"):
        missing = "needs" in row and find_spec(row["needs"]) is None
        if missing or row.get("env", "plain") != env:
            continue
        language = row.get("language", table.get("language", "python"))
        task = _task(f"{stem}-{row['name']}", _own(row, language, known), {})
        found.append((f"{stem}: {row['name']}", task, fenced(written_out(row["source"]), language)))
    return found


def _own(row: Mapping[str, Any], language: str, known: Mapping[str, Any]) -> dict[str, Any]:
    """The task of an honest program: a named one, or its own cases."""
    more = {**row.get("more", {}), "language": language}
    if "task" in row:
        base = known[row["task"]]
        return {"prompt": base["prompt"], "tests": {**base["tests"], **more}}
    tests: dict[str, Any] = {"kind": "function", "entry_point": row.get("entry"), **more}
    if "pairs" in row:
        cases = [{"stdin": written_out(i), "stdout": written_out(o)} for i, o in row["pairs"]]
        tests = {"kind": "stdio", "cases": cases, **more}
    elif "test" in row:
        tests |= {"kind": "asserts", "test": row["test"]}
    else:
        tests["cases"] = [{"args": a, "expected": e} for a, e in _literal(row["cases"])]
    return {"prompt": f"Solve {row['name']}.", "tests": tests}


def _literal(text: str) -> Any:
    limit = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    try:
        return eval(written_out(text), {"__builtins__": {}, "frozenset": frozenset, "set": set})
    finally:
        sys.set_int_max_str_digits(limit)
