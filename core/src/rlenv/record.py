"""Values as JSON, verdicts without what is private, and results as rows for a reader."""

from __future__ import annotations

from collections.abc import Mapping
from json import JSONEncoder
from typing import Any

import attrs

from .composites import Composite, Slot
from .stages import attribute
from .values import Fault, StageResult, Verdict

# what an outcome says, and where there is none
_SAID: dict[str, Any] = {"detail": "", "data": {}, "private": {}, "steps": None}
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


def result_rows(root: object, results: tuple[StageResult, ...]) -> list[dict[str, Any]]:
    """One mapping per stage that ran; what it counts for is None where ``root`` is not a composite."""
    slots = {slot.name: slot for slot in root.slots} if isinstance(root, Composite) else {}
    return [_row(slots.get(result.stage.rsplit("/", 1)[-1]), result) for result in results]


def _row(slot: Slot | None, result: StageResult) -> dict[str, Any]:
    outcome = result.outcome
    stage = getattr(slot, "stage", None)
    return {
        "name": result.stage,
        "use": getattr(slot, "kind", None),
        "phase": None if isinstance(stage, Composite) else attribute(stage, "phase"),
        "score": getattr(outcome, "score", None),
        **{name: getattr(slot, name, None) for name in ("weight", "gate", "penalty", "bonus")},
        **{name: getattr(outcome, name, empty) for name, empty in _SAID.items()},
        "fault": result.fault and attrs.asdict(result.fault),
        "seconds": round(result.seconds, 6),
        "children": result_rows(stage, result.children),
    }
