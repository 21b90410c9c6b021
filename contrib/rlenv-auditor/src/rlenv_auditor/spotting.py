"""The spot check: a person reads responses that got nothing, and the rate of wrong refusals gets an
exact interval.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from attrs import frozen
from rich.text import Text
from rlenv.model.errors import ConfigError, InputError
from rlenv.model.values import Task
from rlenv_cli.console import block, console, one_line, visible

from .render.emitted import TEMPLATES
from .statistics import Rate, rate

__all__ = ["Zero", "drawn", "spot", "zeros"]


@frozen
class Zero:
    """A response that got 0."""

    row: int
    task: str
    response: str
    stopped_at: str = ""


def zeros(scores: Path, responses: Path | None) -> list[Zero]:
    """The rows of a file of scores that got 0, with their responses.

    Raises:
        InputError: a file cannot be read, or nowhere is the text of a response.
    """
    from rlenv.config.rows import read_rows

    rows = enumerate(read_rows(responses) if responses is not None else (), 1)
    texts = {place: str(row.get("response", "")) for place, (_, row) in rows}
    found = []
    for number, row in read_rows(scores):
        if "schema" in row or row.get("reward") != 0:
            continue
        text = row.get("response")
        place: Any = row.get("row", number)
        if not isinstance(text, str) or text in ("", None):
            text = texts.get(int(place), "")
        if not text and responses is None:
            raise InputError(
                f"{scores}: row {number} does not hold its response; name the file with --responses"
            )
        stopped = str(row.get("stopped_at") or "")
        found.append(Zero(int(place), str(row.get("task", "")), text, stopped))
    return found


def drawn(found: Sequence[Zero], count: int, seed: int) -> list[Zero]:
    """A systematic sample: every k-th of them, in the order of what stopped them and of their
    tasks.

    Each is as likely as any other, and every stage and task is met in proportion, so that the share
    of right ones in the sample is that of all.
    """
    chance = random.Random(seed)  # noqa: S311 - no secret
    mixed = list(found)
    chance.shuffle(mixed)
    ordered = sorted(mixed, key=lambda zero: (zero.stopped_at, zero.task))
    step = len(ordered) / min(count, len(ordered))
    start = chance.random() * step
    sample = [
        ordered[min(int(start + n * step), len(ordered) - 1)]
        for n in range(min(count, len(ordered)))
    ]
    chance.shuffle(sample)
    return sample


def spot(  # noqa: PLR0917 - as on the command line
    scores: Path,
    count: int,
    seed: int,
    responses: Path | None,
    labels: Path | None,
    tests: Path | None,
    ask: Callable[[Zero, int, int], str] | None = None,
    *,
    env: str = "",
) -> Rate:
    """Show a sample, keep what a person says, and print the share of right responses among those
    that got 0.

    Args:
        env: the environment of the scores, for their tasks and for the tests; "" where nobody named
            one.

    Raises:
        ConfigError: nothing got 0.
    """
    found = zeros(scores, responses)
    if not found:
        raise ConfigError(f"{scores}: no response got 0, so nothing can have been refused wrongly")
    sample = drawn(found, count, seed)
    known = _known(labels)
    tasks = _tasks(env)
    for place, zero in enumerate(sample, 1):
        if zero.row in known:
            continue
        said = ask(zero, place, len(sample)) if ask else _asked(zero, place, len(sample), tasks)
        if said == "q":
            break
        if said in ("y", "n"):
            known[zero.row] = said == "y"
            _keep(labels, zero, right=said == "y")
    labeled = [zero for zero in sample if zero.row in known]
    right = [zero for zero in labeled if known[zero.row]]
    share = rate(len(right), len(labeled))
    console().print(f"right among the responses that got 0: {share}", markup=False, highlight=False)
    if tests is not None and right:
        tests.mkdir(parents=True, exist_ok=True)
        pairs = [(zero.task, zero.response) for zero in right]
        (tests / "test_wrong_refusals.py").write_text(
            str(TEMPLATES["refused"]).format(right=pairs, env=env or "env.toml"),
            "utf-8",
            errors="backslashreplace",
        )
    return share


def _known(labels: Path | None) -> dict[int, bool]:
    if labels is None or not labels.exists():
        return {}
    from rlenv.config.rows import read_rows

    found = {}
    for number, row in read_rows(labels):
        place = row.get("row")
        right = row.get("right")
        if not isinstance(place, int) or not isinstance(right, bool):
            raise InputError(
                f"{labels}: row {number} needs row (an integer) and right (true or false)"
            )
        found[place] = right
    return found


def _keep(labels: Path | None, zero: Zero, *, right: bool) -> None:
    if labels is not None:
        with open(labels, "a", encoding="ascii") as file:
            file.write(json.dumps({"row": zero.row, "task": zero.task, "right": right}) + "\n")


def _tasks(env: str) -> Mapping[str, Task]:
    if not env:
        return {}
    from rlenv.environment import Environment

    with Environment.load(env) as loaded:
        return {str(task.id): task for task in loaded.tasks}


def _asked(zero: Zero, place: int, of: int, tasks: Mapping[str, Task]) -> str:
    screen = console()
    where = one_line(zero.stopped_at or "the end", 60)
    screen.rule(Text(f"{place} of {of}: task {one_line(str(zero.task), 60)}, stopped at {where}"))
    if (task := tasks.get(zero.task)) is not None:
        screen.print(block(task.prompt, 20), style="bold", markup=False, highlight=False)
        screen.print(
            f"its answer: {visible(str(task.answer))[:400]}", markup=False, highlight=False
        )
        screen.rule("the response")
    screen.print(block(zero.response, 40), markup=False, highlight=False)
    try:
        answer: str = click.prompt(
            "right? y n s(kip) q(uit)", type=click.Choice(["y", "n", "s", "q"]), show_choices=False
        )
    except click.Abort:  # the end of the input: what was labeled is kept
        return "q"
    return answer
