"""Rollouts: a policy plays whole episodes, and what is made of them: rows, samples, spans."""

from __future__ import annotations

from .batch import arollouts, as_completed, rollouts
from .single import How, Policy, Rollout, arollout, rollout, unscored_rollout

__all__ = [
    "How",
    "Policy",
    "Rollout",
    "arollout",
    "arollouts",
    "as_completed",
    "rollout",
    "rollouts",
    "unscored_rollout",
]
