"""Attack any verifier, and say with numbers how it fails: ``audit(target, …) -> Scorecard``."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .auditing import audit
    from .bench import Bench, OutOfBudget
    from .model import Finding, Reply, Result, Scorecard
    from .probes.base import Probe, Skip, Try

# Imported when asked for: the process of a target needs none of them, and starts a dozen times an
# audit.
_HOMES = {
    "audit": "auditing", "Bench": "bench", "OutOfBudget": "bench", "Finding": "model",
    "Reply": "model", "Result": "model", "Scorecard": "model", "Probe": "probes.base",
    "Skip": "probes.base", "Try": "probes.base",
}  # fmt: skip
__all__ = [
    "Bench", "Finding", "OutOfBudget", "Probe", "Reply", "Result", "Scorecard", "Skip", "Try",
    "audit",
]  # fmt: skip


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)
