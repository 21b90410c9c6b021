"""Verdicts as JSON: for files, for reports, and back again."""

from __future__ import annotations

from collections.abc import Mapping
from json import JSONEncoder
from typing import TYPE_CHECKING, Any

import attrs

from .composites import Composite, Slot
from .values import Fault, Outcome, StageResult, Verdict

if TYPE_CHECKING:
    from .environment import Environment

_encode = JSONEncoder(ensure_ascii=True, allow_nan=False, separators=(", ", ": ")).encode


def dumps(value: Any) -> str:
    """One line of ASCII JSON; a lone surrogate survives as its escape, what is no JSON becomes its text.

    Two surrogates that meet are read back as the one character they make: JSON cannot tell.
    """
    try:
        return _encode(value)
    except (TypeError, ValueError):
        return _encode(plain(value))


def plain(value: Any) -> Any:
    """The nearest JSON value: tuples and sets become lists, other objects their text, NaN becomes "nan"."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if -float("inf") < value < float("inf") else str(value)
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted((plain(item) for item in value), key=str)
    name = getattr(value, "__qualname__", None)
    if name is not None:  # a class or function: its place, not its address
        return f"{getattr(value, '__module__', '')}:{name}"
    return str(value).partition(" at 0x")[0]


def fault_to_dict(fault: Fault | None) -> dict[str, Any] | None:
    if fault is None:
        return None
    return {"kind": fault.kind, "message": fault.message, "transient": fault.transient}


def verdict_to_dict(verdict: Verdict) -> dict[str, Any]:
    """The verdict by itself; ``verdict_from_dict`` makes an equal one of it."""
    return {
        "value": verdict.value,
        "raw": verdict.raw,
        "stopped_at": verdict.stopped_at,
        "fingerprint": verdict.fingerprint,
        "fault": fault_to_dict(verdict.fault),
        "results": [_result_to_dict(result) for result in verdict.results],
    }


def _result_to_dict(result: StageResult) -> dict[str, Any]:
    outcome = result.outcome
    return {
        "stage": result.stage,
        "outcome": None if outcome is None else attrs.asdict(outcome, recurse=False),
        "fault": fault_to_dict(result.fault),
        "seconds": result.seconds,
        "children": [_result_to_dict(child) for child in result.children],
    }


def verdict_from_dict(record: Mapping[str, Any]) -> Verdict:
    """The verdict that ``verdict_to_dict`` wrote, also after a trip through JSON."""
    return Verdict(
        record["value"],
        tuple(_result_from_dict(result) for result in record["results"]),
        record["stopped_at"],
        record["fingerprint"],
        record["raw"],
        _fault_from_dict(record["fault"]),
    )


def _result_from_dict(record: Mapping[str, Any]) -> StageResult:
    outcome = record["outcome"]
    return StageResult(
        record["stage"],
        None if outcome is None else _outcome_from_dict(outcome),
        _fault_from_dict(record["fault"]),
        record["seconds"],
        tuple(_result_from_dict(child) for child in record["children"]),
    )


def _outcome_from_dict(record: Mapping[str, Any]) -> Outcome:
    return Outcome(
        record["score"], record["detail"], record["data"], record["steps"], record["private"]
    )


def _fault_from_dict(record: Mapping[str, Any] | None) -> Fault | None:
    return None if record is None else Fault(record["kind"], record["message"], record["transient"])


def strip_private(verdict: Verdict) -> Verdict:
    """What a policy may see: no private data, and of a fault only its kind."""
    return attrs.evolve(
        verdict,
        results=tuple(_public_result(result) for result in verdict.results),
        fault=_public_fault(verdict.fault),
    )


def _public_result(result: StageResult) -> StageResult:
    return attrs.evolve(
        result,
        outcome=result.outcome and attrs.evolve(result.outcome, private={}),
        fault=_public_fault(result.fault),
        children=tuple(_public_result(child) for child in result.children),
    )


def _public_fault(fault: Fault | None) -> Fault | None:
    return fault and attrs.evolve(fault, message="")


def stage_rows(env: Environment, verdict: Verdict) -> list[dict[str, Any]]:
    """The ``stages`` of one line of scored output: each stage that ran, with what it counts for."""
    return result_rows(env.root, verdict.results)


def result_rows(root: object, results: tuple[StageResult, ...]) -> list[dict[str, Any]]:
    """``stage_rows`` of these results; what they count for is None where ``root`` is no composite."""
    slots = {slot.name: slot for slot in root.slots} if isinstance(root, Composite) else {}
    return [_row(slots.get(result.stage.rsplit("/", 1)[-1]), result) for result in results]


def _row(slot: Slot | None, result: StageResult) -> dict[str, Any]:
    outcome = result.outcome
    stage = getattr(slot, "stage", None)
    return {
        "name": result.stage,
        "use": getattr(slot, "kind", None),
        "phase": getattr(stage, "phase", None),
        "score": None if outcome is None else outcome.score,
        **{name: getattr(slot, name, None) for name in ("weight", "gate", "penalty", "bonus")},
        "detail": "" if outcome is None else outcome.detail,
        "data": {} if outcome is None else outcome.data,
        "private": {} if outcome is None else outcome.private,
        "steps": None if outcome is None else outcome.steps,
        "fault": fault_to_dict(result.fault),
        "seconds": round(result.seconds, 6),
        "children": result_rows(stage, result.children),
    }
