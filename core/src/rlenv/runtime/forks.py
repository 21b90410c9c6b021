"""What keeps a forked child from waiting for threads that it does not have.

A fork waits for the imports of other threads: its child would find modules half made, and locked
for good.

Before it forks, CPython takes the lock of the import system, but not those of modules
(``importlib._bootstrap._ModuleLock``): they belong to threads that a child does not have.
"""

from __future__ import annotations

import _imp
import os
from contextlib import suppress
from importlib import _bootstrap
from threading import get_ident
from time import monotonic, sleep

IMPORTS = 10.0  # seconds that a fork waits at most, should an import wait for the thread that forks
# seconds in which a thread takes a module's lock that it has in its hands, or lets go of it
BEGUN = 0.5


def _importing() -> tuple[bool, bool]:
    """Whether other threads have locks of modules in their hands, and whether one is closed.

    The locks are not passed on: one lives as long as it is referred to.
    """
    locks = [ref() for ref in list(getattr(_bootstrap, "_module_locks", {}).values())]
    owners = [lock.owner for lock in locks if lock is not None and lock.owner != get_ident()]
    return bool(owners), any(owners)


def _before() -> None:
    """Wait, and let no import begin until the fork is done."""
    start = owned = monotonic()
    _imp.acquire_lock()
    while (importing := _importing())[0]:
        now = monotonic()
        owned = now if importing[1] else owned
        if now - start > IMPORTS or now - owned > BEGUN:
            break
        _imp.release_lock()
        sleep(0.001)
        _imp.acquire_lock()


def _after() -> None:
    with suppress(RuntimeError):  # this module was imported during the fork
        _imp.release_lock()


os.register_at_fork(before=_before, after_in_parent=_after, after_in_child=_after)
