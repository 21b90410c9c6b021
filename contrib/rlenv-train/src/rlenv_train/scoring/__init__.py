"""Scoring for a training run: equal responses once, a cache of verdicts, a queue, and metrics."""

from __future__ import annotations

from .engine import ScoringEngine

__all__ = ["ScoringEngine"]
