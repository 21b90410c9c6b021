"""Verdicts as JSON values, and back again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, cast

from attrs import asdict
from rlenv.compose.composites import Composite, Slot, is_number
from rlenv.compose.stages import attribute
from rlenv.model.values import Fault, Outcome, StageResult, Verdict, unit_score

from .records import FaultRecord, OutcomeRecord, ResultRecord, StageRecord, VerdictRecord

if TYPE_CHECKING:
    from rlenv.environment import Environment


def stage_rows(env: Environment, verdict: Verdict) -> list[StageRecord]:
    """The ``stages`` of a row of a score file: each stage that ran, with what it counts for.

    Args:
        env: the environment that gave the verdict.
        verdict: as it is, or without its private part (``verdict.public()``).
    """
    return _rows(env.root, verdict.results)


def _rows(composite: object, results: Sequence[StageResult]) -> list[StageRecord]:
    """One record per stage that ran; what it counts for is None where ``composite`` is not one."""
    slots = (
        {slot.name: slot for slot in composite.slots} if isinstance(composite, Composite) else {}
    )
    return [_row(slots.get(result.stage.rsplit("/", 1)[-1]), result) for result in results]


def _row(slot: Slot | None, result: StageResult) -> StageRecord:
    outcome = result.outcome
    stage = getattr(slot, "stage", None)
    return {
        "name": result.stage,
        "use": getattr(slot, "kind", None),
        "phase": None if isinstance(stage, Composite) else attribute(stage, "phase"),
        "score": None if outcome is None else outcome.score,
        "weight": None if slot is None else slot.weight,
        "gate": None if slot is None else slot.gate,
        "penalty": None if slot is None else slot.penalty,
        "bonus": None if slot is None else slot.bonus,
        "detail": "" if outcome is None else outcome.detail,
        "data": {} if outcome is None else outcome.data,
        "private": {} if outcome is None else outcome.private,
        "steps": None if outcome is None else outcome.steps,
        "fault": fault_to_dict(result.fault),
        "seconds": round(result.seconds, 6),
        "children": _rows(stage, result.children),
    }


def fault_to_dict(fault: Fault | None) -> FaultRecord | None:
    """The fault as a record; None where there is none."""
    return cast("FaultRecord", asdict(fault)) if fault else None


def verdict_to_dict(verdict: Verdict) -> VerdictRecord:
    """The verdict by itself; ``verdict_from_dict`` makes an equal one of it."""
    return {
        "value": verdict.value,
        "raw": verdict.raw,
        "stopped_at": verdict.stopped_at,
        "fingerprint": verdict.fingerprint,
        "fault": fault_to_dict(verdict.fault),
        "results": [_result_to_dict(result) for result in verdict.results],
    }


def _result_to_dict(result: StageResult) -> ResultRecord:
    return {
        "stage": result.stage,
        "outcome": cast("OutcomeRecord", result.outcome and asdict(result.outcome, recurse=False)),
        "fault": fault_to_dict(result.fault),
        "seconds": result.seconds,
        "children": [_result_to_dict(child) for child in result.children],
    }


def verdict_from_dict(record: object) -> Verdict:
    """The verdict that ``verdict_to_dict`` wrote, also after a trip through JSON.

    The record may come from a file or a process that is not trusted: every value is checked, none
    is executed.

    Raises:
        ValueError: when it is no such record, or a score in it is no finite float in [0, 1].
    """
    match record:
        case {
            "value": value,
            "raw": raw,
            "stopped_at": str() | None as stopped_at,
            "fault": fault,
            "fingerprint": str(fingerprint),
            "results": [*results],
        } if raw is None or is_number(raw):
            score = None if value is None else unit_score(value)
            found = tuple(map(_result_from_dict, results))
            return Verdict(
                value=score,
                results=found,
                stopped_at=stopped_at,
                fingerprint=fingerprint,
                raw=raw,
                fault=_fault_from_dict(fault),
            )
    raise ValueError("not the record of a verdict")


def _result_from_dict(record: object) -> StageResult:
    match record:
        case {
            "stage": str(stage),
            "outcome": outcome,
            "fault": fault,
            "seconds": seconds,
            "children": [*children],
        } if is_number(seconds) and (outcome is None or fault is None):
            inner = tuple(map(_result_from_dict, children))
            said = _outcome_from_dict(outcome), _fault_from_dict(fault)
            return StageResult(stage, *said, seconds, inner)
    raise ValueError("not the record of a stage")


def _outcome_from_dict(record: object) -> Outcome | None:
    match record:
        case None:
            return None
        case {
            "score": score,
            "detail": str(detail),
            "data": Mapping() as data,
            "steps": steps,
            "private": Mapping() as private,
        }:
            return Outcome(score, detail, data, steps, private)
    raise ValueError("not the record of an outcome")


def _fault_from_dict(record: object) -> Fault | None:
    match record:
        case None:
            return None
        case {"kind": str(kind), "message": str(message), "transient": bool(transient)}:
            return Fault(kind, message, transient)
    raise ValueError("not the record of a fault")
