"""Rollouts: a policy plays whole episodes, and what is made of them: rows, samples, spans."""

from __future__ import annotations

from .batch import arollouts, completed, rollouts
from .single import How, Policy, Rollout, arollout, rollout, unscored

__all__ = [
    "How",
    "Policy",
    "Rollout",
    "arollout",
    "arollouts",
    "completed",
    "rollout",
    "rollouts",
    "unscored",
]
