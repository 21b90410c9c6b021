"""Verdicts as plain tuples: what crosses the pipe between the caller and its workers."""

from __future__ import annotations

from operator import attrgetter
from typing import Any, TypeAlias

from .stages import Attempt
from .values import Fault, Outcome, StageResult, Task, Trajectory, Verdict

Wire: TypeAlias = tuple[Any, ...]
_fault_fields = attrgetter("kind", "message", "transient")


def encode_result(result: StageResult) -> Wire:
    outcome, said = result.outcome, None
    if outcome is not None:
        said = outcome.score, outcome.detail, outcome.data, outcome.steps, outcome.private
    fault = None if result.fault is None else _fault_fields(result.fault)
    children = tuple(map(encode_result, result.children))
    return result.stage, said, fault, result.seconds, children


def decode_result(wire: Wire) -> StageResult:
    stage, said, fault, seconds, children = wire
    outcome = None if said is None else Outcome(*said)
    members = tuple(map(decode_result, children))
    return StageResult(stage, outcome, _fault(fault), seconds, members)


def encode_verdict(verdict: Verdict) -> Wire:
    results = tuple(map(encode_result, verdict.results))
    fault = None if verdict.fault is None else _fault_fields(verdict.fault)
    return verdict.value, results, verdict.stopped_at, verdict.raw, fault


def decode_verdict(wire: Wire, fingerprint: str) -> Verdict:
    value, results, stopped_at, raw, fault = wire
    decoded = tuple(map(decode_result, results))
    return Verdict(value, decoded, stopped_at, fingerprint, raw, _fault(fault))


def _fault(wire: Wire | None) -> Fault | None:
    return None if wire is None else Fault(*wire)


def encode_attempt(attempt: Attempt) -> Wire:
    task, trajectory = attempt.task, attempt.trajectory
    info = dict(task.info) if task.info else None
    asked = (task.prompt, task.answer, info, task.id, task.split)
    messages = None if trajectory is None else trajectory.messages
    return asked, attempt.response, messages, attempt.thinking


def decode_attempt(wire: Wire, artifacts: dict[type, Any] | None) -> Attempt:
    (prompt, answer, info, task_id, split), response, messages, thinking = wire
    task = Task(prompt, answer, info or {}, task_id, split)
    trajectory = None if messages is None else Trajectory(messages)
    return Attempt(task, response, trajectory, artifacts, thinking)
