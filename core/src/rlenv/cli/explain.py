"""One verdict as a person would want to read it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from rlenv.record import dumps, plain, stage_rows
from rlenv.values import Task, Trajectory, Verdict

from .arithmetic import written_out
from .text import amount, block, duration, visible

if TYPE_CHECKING:
    from rlenv.environment import Environment

REMEDIES = {
    "error": "the stage has a bug, or the task is not what it expects: report it to the plugin with this task",
    "contract": "the stage broke the rules of a score: report it to the plugin",
    "timeout": "give the slot a longer timeout, or find out why the stage needs so long",
    "memory": "the stage needs more than a worker may have: raise memory_mb",
    "crash": "the worker died: rlenv doctor tells whether workers run here at all",
    "blocked": "the async stage blocks its loop: it should await, or run in a worker",
    "pool": "workers cannot run here: rlenv doctor says why",
    "input": "correct the row: a task or prompt of the environment and a response",
    "unavailable": "what the stage depends on could not be reached: see that it runs, and try again",
}
VALUE_CHARS = 2000


def explanation(
    env: Environment, task: Task, response: str | Trajectory, verdict: Verdict, *, public: bool
) -> Iterator[str]:
    """The whole text, line by line; ``public`` leaves out what only the operator may see."""
    yield f"Task      {visible(task.id or '(no id)')}  (split {visible(task.split)})"
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
    for row in stage_rows(env, verdict):
        yield from _stage(row, 1, public=public)
    left = len(env.slots) - len(verdict.results)
    if left and verdict.stopped_at is not None:
        yield f"  ({amount(left, 'later stage')} did not run)"
    yield ""
    yield from _reward(env, verdict, public=public)


def _reward(env: Environment, verdict: Verdict, *, public: bool) -> Iterator[str]:
    yield "Reward    " + ("none: unscored" if verdict.value is None else f"{verdict.value:.6g}")
    for line in written_out(env.root, verdict):
        yield f"          {line}"
    if verdict.value is None:
        fault = verdict.fault
        if fault is not None:
            yield from _fault(
                {"kind": fault.kind, "message": fault.message, "transient": fault.transient},
                "          ",
                public=public,
            )
    else:
        passed = verdict.value >= env.pass_mark
        yield f"Passed    {'yes' if passed else 'no'}  (pass mark {env.pass_mark:g})"
    yield f"Time      {duration(sum(result.seconds for result in verdict.results))}"


def _stage(row: Mapping[str, Any], depth: int, *, public: bool) -> Iterator[str]:
    pad = "  " * depth
    score = "broke" if row["score"] is None else f"{row['score']:.6g}"
    yield f"{pad}{visible(row['name'])}  {visible(row['use'])}  [{row['phase'] or 'composite'}]  score {score}  {_role(row)}  {duration(row['seconds'])}"
    inner = pad + "    "
    if row["detail"]:
        yield from _indented(row["detail"], 6, inner)
    for key, value in row["data"].items():
        yield f"{inner}{visible(str(key))}: {_value(value)}"
    if row["steps"]:
        yield f"{inner}steps: {_value(row['steps'])}"
    if not public:
        for key, value in row["private"].items():
            yield f"{inner}operator only: {visible(str(key))}: {_value(value)}"
    if row["fault"] is not None:
        yield from _fault(row["fault"], inner, public=public)
    for child in row["children"]:
        yield from _stage(child, depth + 1, public=public)


def _role(row: Mapping[str, Any]) -> str:
    """What the score counts for."""
    said = [f"weight {row['weight']:g}"] if row["weight"] or not _shaped(row) else []
    if row["gate"] is not None:
        failed = row["score"] is not None and row["score"] < row["gate"]
        said += [
            f"gate {row['gate']:g} {'FAILED' if failed else 'passed' if row['score'] is not None else 'open'}"
        ]
    said += [f"{name} {row[name]:g}" for name in ("bonus", "penalty") if row[name]]
    return ", ".join(said)


def _shaped(row: Mapping[str, Any]) -> bool:
    return row["gate"] is not None or bool(row["bonus"] or row["penalty"])


def _fault(fault: Mapping[str, Any], pad: str, *, public: bool) -> Iterator[str]:
    yield f"{pad}fault: {fault['kind']}{'' if public else ': ' + visible(fault['message'])}"
    again = "; a retry may help" if fault["transient"] else ""
    yield f"{pad}what to do: {REMEDIES.get(fault['kind'], 'see the message')}{again}"


def _indented(text: str, lines: int, pad: str = "          ") -> Iterator[str]:
    for line in block(text, lines).splitlines() or ["(empty)"]:
        yield f"{pad}{line}"


def _value(value: Any) -> str:
    text = value if isinstance(value, str) else dumps(plain(value))
    return visible(text[:VALUE_CHARS]).replace("\n", "\\n") + (
        "..." if len(text) > VALUE_CHARS else ""
    )
