"""Verdicts as plain tuples: what crosses the pipe between the caller and its workers."""

from __future__ import annotations

from typing import Any, TypeAlias

from .stages import Attempt
from .values import Fault, Outcome, StageResult, Task, Trajectory, Verdict

Wire: TypeAlias = tuple[Any, ...]


def encode_result(result: StageResult) -> Wire:
    outcome, fault = result.outcome, result.fault
    return (
        result.stage,
        None
        if outcome is None
        else (outcome.score, outcome.detail, outcome.data, outcome.steps, outcome.private),
        None if fault is None else (fault.kind, fault.message, fault.transient),
        result.seconds,
        tuple([encode_result(child) for child in result.children]),
    )


def decode_result(wire: Wire) -> StageResult:
    stage, outcome, fault, seconds, children = wire
    return StageResult(
        stage,
        None if outcome is None else Outcome(*outcome),
        None if fault is None else Fault(*fault),
        seconds,
        tuple([decode_result(child) for child in children]),
    )


def encode_verdict(verdict: Verdict) -> Wire:
    fault = verdict.fault
    return (
        verdict.value,
        tuple([encode_result(result) for result in verdict.results]),
        verdict.stopped_at,
        verdict.raw,
        None if fault is None else (fault.kind, fault.message, fault.transient),
    )


def decode_verdict(wire: Wire, fingerprint: str) -> Verdict:
    value, results, stopped_at, raw, fault = wire
    return Verdict(
        value,
        tuple([decode_result(result) for result in results]),
        stopped_at,
        fingerprint,
        raw,
        None if fault is None else Fault(*fault),
    )


def encode_attempt(attempt: Attempt) -> Wire:
    task, trajectory = attempt.task, attempt.trajectory
    return (
        (task.prompt, task.answer, dict(task.info) if task.info else None, task.id, task.split),
        attempt.response,
        None if trajectory is None else trajectory.messages,
        attempt.thinking,
    )


def decode_attempt(wire: Wire, artifacts: dict[type, Any] | None) -> Attempt:
    (prompt, answer, info, task_id, split), response, messages, thinking = wire
    return Attempt(
        Task(prompt, answer, info or {}, task_id, split),
        response,
        None if messages is None else Trajectory(messages),
        artifacts,
        thinking,
    )
