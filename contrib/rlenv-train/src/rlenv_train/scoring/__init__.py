"""Scoring for a training run: each pair of a batch once, verdicts from a cache, a queue, and metrics."""

from __future__ import annotations

from .engine import ScoringEngine
from .metrics import Metrics

__all__ = ["Metrics", "ScoringEngine"]
