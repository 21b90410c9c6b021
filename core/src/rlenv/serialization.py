"""Attempts and results as plain tuples: what crosses the pipe between the caller and its workers."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from typing import Any, TypeAlias

from .artifacts import unpack
from .record import plain
from .stages import Attempt
from .values import PLAIN, Fault, Outcome, StageResult, Task, Trajectory

Wire: TypeAlias = tuple[Any, ...]
# What a worker learned of an attempt: the new results, and the artifacts that later stages need.
Progress: TypeAlias = tuple[list[StageResult], Sequence[object]]
LONGEST = 1e9  # seconds; no stage takes more


def encode_result(result: StageResult) -> Wire:
    """What a stage said: its path and seconds, and either a fault or a score with what else there is of an outcome.

    Composites are folded again in the caller.
    """
    outcome, fault = result.outcome, result.fault
    if outcome is None:
        return result.stage, result.seconds, fault and (fault.kind, fault.message, fault.transient)
    more = outcome.detail, outcome.data, outcome.steps, outcome.private
    bare = not (more[0] or more[1] or more[3]) and more[2] is None
    return result.stage, result.seconds, outcome.score, *(() if bare else more)


def decode_result(wire: Wire, paths: Container[str]) -> StageResult:
    """The result of one of these stages.

    Raises:
        Exception: of any class, where it is none; a worker may have sent anything.
    """
    stage, seconds, score, *more = wire
    if stage not in paths or type(seconds) not in (int, float) or not 0 <= seconds < LONGEST:
        raise ValueError("not the result of a stage")
    if not more:
        if isinstance(score, (list, tuple)):
            return StageResult(stage, None, _fault(tuple(score)), seconds)
        outcome = PLAIN.get(score) if type(score) is float else None
        return StageResult(stage, outcome or Outcome(score), None, seconds)
    detail, data, steps, private = more
    if type(detail) is not str or type(data) is not dict or type(private) is not dict:
        raise ValueError("not an outcome")
    if data or private:
        data, private = plain(data), plain(private)
    return StageResult(stage, Outcome(score, detail, data, steps, private), None, seconds)


def decode_progress(paths: Container[str], kinds: Sequence[type], wire: Any) -> Progress:
    """What ``runtime.Runner`` answers.

    Raises:
        Exception: as ``decode_result``.
    """
    made, *results = wire
    new = [decode_result(each, paths) for each in results]
    return new, unpack(kinds, made) if made else ()


def decode_group(
    decode: Callable[[object], Progress], path: str, size: int, wire: Any
) -> list[Progress]:
    """What ``runtime.GroupRunner`` answers: for so many attempts one result each, of this stage.

    Raises:
        Exception: as ``decode_result``.
    """
    members = [decode(each) for each in wire]
    if [[result.stage for result in results] for results, _ in members] != [[path]] * size:
        raise ValueError("not one result for each attempt")
    return members


def _fault(wire: Wire) -> Fault:
    if [*map(type, wire)] != [str, str, bool]:
        raise ValueError("not a fault")
    return Fault(*wire)


def encode_payload(attempt: Attempt) -> Wire:
    """What ``runtime.Runner`` takes: the attempt, its results so far, its artifacts, whether it is of a group."""
    known = [encode_result(result) for result in attempt.log] if attempt.log else None
    return encode_attempt(attempt), known, attempt.artifacts or None, attempt.grouped


def encode_attempt(attempt: Attempt) -> Wire:
    task, trajectory = attempt.task, attempt.trajectory
    info = dict(task.info) if task.info else None
    asked = (task.prompt, task.answer, info, task.id, task.split)
    messages = None if trajectory is None else trajectory.messages
    return asked, attempt.response, messages, attempt.thinking


def decode_attempt(wire: Wire, artifacts: dict[type, object] | None) -> Attempt:
    (prompt, answer, info, task_id, split), response, messages, thinking = wire
    task = Task(prompt, answer, info or {}, task_id, split)
    trajectory = None if messages is None else Trajectory(messages)
    return Attempt(task, response, trajectory, artifacts or {}, thinking)
