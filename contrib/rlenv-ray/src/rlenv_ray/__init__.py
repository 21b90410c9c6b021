"""Evaluate responses on a Ray cluster: ``env.evaluate_many(rows, on=RayWorkers())``."""

from __future__ import annotations

from .workers import RayWorkers, on

__all__ = ["RayWorkers", "on"]
