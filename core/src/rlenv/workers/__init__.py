"""Killable worker processes: a pool of them, and ``call`` for one heavy piece of work.

Nothing here knows of stages.  See ``Pool`` for what is promised.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .call import call

if TYPE_CHECKING:
    from .pool import Pool, shared_pool, usable_cpus
    from .values import Done, Failed, PoolClosed, Program, Report

__all__ = [
    "Done",
    "Failed",
    "Pool",
    "PoolClosed",
    "Program",
    "Report",
    "call",
    "shared_pool",
    "usable_cpus",
]


def __getattr__(name: str) -> object:
    """Import on first use: a worker needs none of these."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import pool, values

    return getattr(pool if hasattr(pool, name) else values, name)
