"""One verdict as a person would want to read it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import click
from attrs import evolve
from rlenv.model.messages import NOTE_LINES, folded
from rlenv.model.record import dumps, plain
from rlenv.model.values import Fault, Task, Trajectory, Verdict

from rlenv_cli.scores.records import StageRecord
from rlenv_cli.scores.unscored import remedy
from rlenv_cli.scores.verdicts import stage_rows

from .arithmetic import written_out
from .console import amount, block, duration, one_line, visible

if TYPE_CHECKING:
    from rlenv.environment import Environment

VALUE_CHARS = 2000


def explanation(
    env: Environment, task: Task, response: str | Trajectory, verdict: Verdict, *, public: bool
) -> Iterator[str]:
    """The whole text, line by line; ``public`` leaves out what only the operator may see."""
    yield f"Task      {one_line(task.id or '(no id)', 200)}  (split {one_line(task.split)})"
    yield from _indented(task.prompt, 12)
    if not public:
        yield f"          operator only: the answer is {_value(task.answer)}"
    yield ""
    text = response if isinstance(response, str) else response.final
    what = (
        ""
        if isinstance(response, str)
        else f", the last assistant text of {amount(len(response.messages), 'message')}"
    )
    yield f"Response  {amount(len(text), 'character')}{what}"
    yield from _indented(text, 15)
    yield ""
    yield "Stages"
    shown = verdict.public() if public else verdict
    yield from _stage_lines(stage_rows(env, shown), public=public)
    left = len(env.slots) - len(verdict.results)
    if left and verdict.stopped_at is not None:
        yield f"  ({amount(left, 'later stage')} did not run)"
    yield ""
    yield from _reward(env, verdict, public=public)


def _stage_lines(rows: Iterable[StageRecord], *, public: bool) -> Iterator[str]:
    """A line per stage (path, score, what it counts for); under it, indented, all else about it."""
    for row in rows:
        yield from folded("  ", f"{row['name']}: {', '.join(filter(None, _worth(row)))}", 1)
        note = str(Fault(**row["fault"])) if row["fault"] else str(row["detail"])
        yield from folded("      ", note, NOTE_LINES)
        yield from _more(row, public=public)
        yield from _stage_lines(row["children"], public=public)


def _worth(row: StageRecord) -> tuple[str, str]:
    """The score of a stage, and what it counts for."""
    gate = row["gate"]
    score = row["score"]
    said = [f"{name} {row[name]:g}" for name in ("weight", "bonus", "penalty") if row[name]]
    if gate is not None:
        passed = "open"
        if score is not None:
            passed = "FAILED" if score < gate else "passed"
        said.append(f"gate {gate:g} {passed}")
    shown = "no score" if score is None else f"score {score:.6g}"
    return shown, ", ".join(said) or ("" if row["weight"] is None else "weight 0")


def _reward(env: Environment, verdict: Verdict, *, public: bool) -> Iterator[str]:
    yield "Reward    " + ("none: unscored" if verdict.value is None else f"{verdict.value:.6g}")
    for line in written_out(env.root, verdict):
        yield f"          {visible(line)}"
    if verdict.value is None:
        fault = verdict.fault
        if fault is not None:
            told = evolve(fault, message="") if public else fault
            yield f"          {one_line(str(told), VALUE_CHARS)}"
            yield f"          what to do: {one_line(remedy(told.kind, told.message), VALUE_CHARS)}"
    else:
        passed = verdict.value >= env.pass_mark
        yield f"Passed    {'yes' if passed else 'no'}  (pass mark {env.pass_mark:g})"
    yield f"Time      {duration(sum(result.seconds for result in verdict.results))}"


def _more(row: StageRecord, *, public: bool) -> Iterator[str]:
    """What is written under a stage beside its score and detail."""
    pad = "      "
    yield (
        f"{pad}{visible(row['use'] or '?')}, {row['phase'] or 'composite'},"
        f" {duration(row['seconds'])}"
    )
    for key, value in row["data"].items():
        yield f"{pad}{visible(str(key))}: {_value(value)}"
    if row["steps"]:
        yield f"{pad}steps: {_value(row['steps'])}"
    if not public:
        for key, value in row["private"].items():
            yield f"{pad}operator only: {visible(str(key))}: {_value(value)}"
    if row["fault"] is not None:
        message = "" if public else row["fault"]["message"]
        what = remedy(row["fault"]["kind"], message)
        yield f"{pad}what to do: {one_line(what, VALUE_CHARS)}"


def painted(line: str) -> str:
    """The same line with color; text of a model stands deeper than what is colored here by its
    words.
    """
    if not line.startswith(" "):
        return click.style(line, bold=True)
    if line.lstrip().startswith("operator only: "):
        return click.style(line, dim=True)
    if re.match(r"  \S", line):
        color = {"score 1": "green", "score 0": "red", "no score": "yellow"}
        return re.sub(
            r"(?<=: )(score [01](?![.\d])|no score)|FAILED",
            lambda m: click.style(m[0], fg=color.get(m[0], "red")),
            line,
        )
    return line


def _indented(text: str, lines: int, pad: str = "          ") -> Iterator[str]:
    for line in block(text, lines).splitlines() or ["(empty)"]:
        yield f"{pad}{line}"


def _value(value: Any) -> str:
    text = value if isinstance(value, str) else dumps(plain(value))
    return visible(text[:VALUE_CHARS]).replace("\n", "\\n") + (
        "..." if len(text) > VALUE_CHARS else ""
    )
