"""Whether two programs answer differently: both are called, in the jail of rlenv-plugin-code, on
inputs like those of a task's tests.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Sequence
from typing import Any

from attrs import frozen
from rlenv.model.errors import RlenvError
from rlenv.model.values import Task

from .responses import table

__all__ = ["Alike", "call", "like", "told_apart"]

MOST = 40  # inputs


def like(known: Sequence[Sequence[Any]], seed: str) -> list[list[Any]]:
    """Inputs made of known ones: themselves, their arguments in other company, numbers between
    them, parts of them.

    Nothing is larger than the largest known, or smaller than the smallest, and what was sorted
    stays so: what a task asks of its inputs is not known here.
    """
    chance = random.Random(seed)  # noqa: S311 - repeatable
    width = len(known[0])
    rows = [list(row) for row in known if len(row) == width]
    found = rows[: MOST // 2]
    for _ in range(4 * MOST):
        if len(found) == MOST:
            break
        row = list(chance.choice(rows))
        places = range(width) if chance.random() < 0.5 else [chance.randrange(width)]
        for place in places:
            column = [other[place] for other in rows]
            row[place] = _other(chance, chance.choice(column), column)
        if row not in found:
            found.append(row)
    return found


def _other(chance: random.Random, value: Any, column: Sequence[Any]) -> Any:
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, int):
        numbers = [one for one in column if isinstance(one, int) and not isinstance(one, bool)]
        return chance.randint(min(numbers), max(numbers))
    if isinstance(value, (str, list, tuple)) and len(value) > 1 and chance.random() < 0.5:
        start, stop = sorted(chance.sample(range(len(value) + 1), 2))
        return value[start:stop]
    return value


@frozen
class Alike:
    """Programs that may do the same as a golden one: its function ``name`` on ``inputs``."""

    golden: str
    others: Sequence[str]
    name: str
    inputs: Sequence[Sequence[Any]]


def told_apart(groups: Sequence[Alike]) -> list[list[list[Any] | None]]:
    """For each program of each group an input on which it answers otherwise than the golden one;
    None where none was found.

    What is not decided (a program that never ends, a jail that is not there) counts as not
    distinguished.
    """
    from rlenv.environment import Environment

    pairs = [
        (task, f"```python\n{_comparing(one, other)}\n```")
        for number, one in enumerate(groups)
        if (task := _task(one, number)) is not None
        for other in one.others
    ]
    stages = [{"use": "code/run", "weight": 0, "options": {"timeout": 5.0}}, {"use": "code/diff"}]
    try:
        with Environment.from_dict({"name": "alike", "stage": stages}) as env:
            verdicts = iter(list(env.evaluate_many(pairs)) if pairs else ())
    except RlenvError:
        verdicts = iter(())
    return [
        [_first(next(verdicts, None), one.inputs) if one.inputs else None for _ in one.others]
        for one in groups
    ]


def _comparing(one: Alike, other: str) -> str:
    """Where the golden program itself fails, an input is none that the task allows, and says
    nothing.
    """
    values = {"{golden}": one.golden, "{other}": other, "{name}": one.name}
    return re.sub(
        r"\{(golden|other|name)\}", lambda m: repr(values[m[0]]), table("comparing")["program"]
    )


def _task(one: Alike, number: int) -> Task | None:
    cases = [{"args": list(args), "expected": True} for args in one.inputs]
    tests = {"kind": "function", "entry_point": "alike", "cases": cases}
    return Task("Are they alike?", id=f"alike-{number}", info={"tests": tests}) if cases else None


def _first(verdict: Any, inputs: Sequence[Sequence[Any]]) -> list[Any] | None:
    """The first input that was answered, and otherwise."""
    for result in verdict.results if verdict is not None else ():
        private = result.outcome.private if result.outcome is not None else None
        for failure in (private or {}).get("failures", ()):
            if failure["why"] == "wrong answer":
                return list(inputs[failure["test"] - 1])
    return None


def call(name: str, args: Sequence[Any]) -> str:
    """``name(args)`` as a person would write it, in short."""
    return f"{name}({', '.join(json.dumps(a) if isinstance(a, str) else repr(a) for a in args)})"[
        :200
    ]
