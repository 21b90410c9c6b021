"""Attack any verifier, and say with numbers how it fails: ``audit(target, …) -> Scorecard``."""

from __future__ import annotations

from .auditing import audit
from .model import Finding, Reply, Result, Scorecard

__all__ = ["Finding", "Reply", "Result", "Scorecard", "audit"]
