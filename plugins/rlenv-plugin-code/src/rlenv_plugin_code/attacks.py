"""Known ways to be paid for a program without writing one; hook ``rlenv_attacks``.

The corpus of the tests is larger; these need nothing but a task, so that any verifier of programs
can be tried with them.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from rlenv import Task
from rlenv.hooks import Attack

__all__ = ["attacks"]


def attacks() -> Mapping[str, Sequence[Attack]]:
    """Attacks on every stage that runs or reads programs."""
    programs, texts, dead, suites, forbidden, hidden = (
        [Attack(name, build(text)) for name, text in _read()[kind].items()]
        for kind, build in _BUILD.items()
    )
    broken = [Attack(name, _program(source)) for name, source in _UNREADABLE.items()]
    return {
        "diff": [*programs, *texts, *broken],
        "run": [*dead, *broken],
        "speed": [*programs, *texts, *broken],
        "compile": broken,
        "tests": [*suites, *texts, *broken],
        "limits": forbidden,
        "style": [*hidden, *broken],
    }


def _program(source: str) -> Callable[[Task], str]:
    """A fenced program that has the task's entry point in place of ENTRY."""
    return lambda task: f"```python\n{source.replace('ENTRY', _entry(task)).strip()}\n```"


def _forbidden(source: str) -> Callable[[Task], str]:
    """A program that uses the first module or name that the task forbids."""

    def build(task: Task) -> str:
        tests: Any = task.info["tests"]
        limits = tests.get("limits", {})
        module = (*limits.get("imports", ()), "os")[0]
        name = (*limits.get("calls", ()), "eval")[0]
        return f"```python\n{source.replace('MODULE', module).replace('CALL', name)}\n```"

    return build


def _text(text: str) -> Callable[[Task], str]:
    return lambda task: text.replace("PROMPT", task.prompt).replace("ENTRY", _entry(task))


def _entry(task: Task) -> str:
    tests: Any = task.info.get("tests")
    entry = tests.get("entry_point") if isinstance(tests, Mapping) else None
    return entry if isinstance(entry, str) and entry.isidentifier() else "solve"


@cache
def _read() -> Mapping[str, Mapping[str, str]]:
    """The tables of ``attacks.toml``: {kind: {name of the attack: text}}, with the shared texts put
    in.
    """
    tables = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
    shared = tables.pop("shared")

    def written_out(text: str) -> str:
        for name, part in shared.items():
            text = text.replace(f"{name}\n", part)
        return text

    return {kind: {n: written_out(t) for n, t in rows.items()} for kind, rows in tables.items()}


_BUILD: Mapping[str, Callable[[str], Callable[[Task], str]]] = {
    "programs": _program,
    "texts": _text,
    "dead": _program,
    "suites": _program,
    "forbidden": _forbidden,
    "hidden": _program,
}
_UNREADABLE: Mapping[str, str] = {
    "brackets without end": f"def ENTRY(*args): return {'(' * 20_000}1{')' * 20_000}",
    "signs without end": f"def ENTRY(*args): return {'-' * 50_000}1 +",
    "a NUL": "def ENTRY(*args): return 1\x00",
    "a lone surrogate": "def ENTRY(*args): return '\ud800",
    "no body": "def ENTRY(*args):",
}
