"""Pools that a process shares, by what they are made of."""

from __future__ import annotations

import os
import sys
import threading

from .pool import MEMORY_MB, Pool, _cpus
from .values import Env

_lock = threading.Lock()
_shared: dict[tuple[object, ...], Pool] = {}


def shared_pool(
    size: int | None = None,
    memory_mb: int | None = None,
    secret: bytes | None = None,
    env: Env = None,
) -> Pool:
    """The pool of this process with this size, memory limit, secret and environment; made on demand.

    Every call counts as one user; ``release`` gives it back, and the last release ends the pool.
    """
    size, memory_mb = size or _cpus(), MEMORY_MB if memory_mb is None else memory_mb
    key = (
        size,
        memory_mb,
        secret,
        env,
        *sys.path,
    )  # a module on a new path is found by new workers only
    with _lock:
        pool = _shared.get(key)
        if pool is not None and pool.acquire_open():
            return pool
        pool = _shared[key] = Pool(size, memory_mb, secret=secret, env=env)
        return pool


def _forked() -> None:
    global _lock  # noqa: PLW0603 - another thread may have held it when the process forked
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_forked)
