"""How many sandboxes a server and all processes that it starts may have together, as System V
semaphores.

The kernel serves who waited longest first, whatever process that is in, and gives back what a
process held when it ends, however it ends.
"""

from __future__ import annotations

import ctypes
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from itertools import product

from rlenv import ConfigError

from . import ADAPTERS

__all__ = ["QUOTA", "SLOTS", "Quota", "gauges", "shared"]

SLOTS = "RLENV_SANDBOX_SLOTS"
QUOTA = "RLENV_SANDBOX_QUOTA"
_IDLE_S = 30.0
_ADAPTERS = tuple(name for name in ADAPTERS if name != "remote")  # which runs nothing here
_STATES = "idle", "busy", "waiting"
# semaphores; from the last on one for each state of each adapter
_FREE = 0
_TAKEN = 1
_FIRST = 2
_COUNT = _FIRST + len(_ADAPTERS) * len(_STATES)
_NOWAIT = 0o4000
_UNDO = 0x1000
_RMID = 0
_GETVAL = 12
_GETNCNT = 14
_SETVAL = 16
_libc = ctypes.CDLL(None, use_errno=True)


class _Change(ctypes.Structure):
    _fields_ = [("which", ctypes.c_ushort), ("by", ctypes.c_short), ("flags", ctypes.c_short)]


class Quota:
    """The quota of this machine's server, as one pool uses it."""

    def __init__(self, adapter: str) -> None:
        number, least, idle_s = os.environ[QUOTA].split(":")
        self._set = int(number)
        self._least = int(least)
        self.idle_s = float(idle_s)
        self._first = _FIRST + len(_STATES) * _ADAPTERS.index(adapter)
        self._shown: tuple[int, ...] = (0, 0, 0)
        self._left = 0  # of those that count as ended already

    def _change(self, *changes: tuple[int, int], flags: int = _NOWAIT) -> bool:
        """Make changes, all at one time, once they are possible; False when they are not, or the
        quota is gone.
        """
        made = (_Change * len(changes))(*[_Change(*change, flags | _UNDO) for change in changes])
        return not _libc.semop(self._set, made, len(changes))

    def take(self) -> bool:
        """Wait for a place; False when the quota is gone."""
        return self._change((_FREE, -1), (_TAKEN, 1), flags=0)

    def give(self) -> None:
        """Return one."""
        self._change((_FREE, 1), *[(_TAKEN, -1)] * (not self._left))
        self._left -= self._left > 0

    def spare(self) -> bool:
        """Whether there are more than are to stay warm.

        Then one counts as ended, which is to be returned.
        """
        kept = [(_TAKEN, self._least)] * (self._least > 0)  # 0 would be to wait for 0
        may = self._change((_TAKEN, -self._least - 1), *kept)
        self._left += may
        return may

    def waiting(self) -> int:
        """How many threads of any process wait for a place."""
        return max(0, int(_libc.semctl(self._set, _FREE, _GETNCNT)))

    def show(self, *now: int) -> None:
        """Say how many are idle and busy, and how many programs wait."""
        changes = enumerate(new - old for new, old in zip(now, self._shown, strict=True))
        if now != self._shown:
            self._change(*[(self._first + n, by) for n, by in changes if by])
            self._shown = now


def gauges() -> Mapping[tuple[str, str], Callable[[], int]]:
    """(adapter, "idle", "busy" or "waiting") → what tells how many there are now.

    Raises:
        KeyError: there is no quota.
    """
    number = int(os.environ[QUOTA].split(":")[0])
    counted = enumerate(product(_ADAPTERS, _STATES), _FIRST)
    return {name: partial(_libc.semctl, number, n, _GETVAL) for n, name in counted}


@contextmanager
def shared(bounds: str, idle_s: float = _IDLE_S) -> Iterator[None]:
    """Bound the sandboxes of this process and of all that it starts from now on, together.

    Args:
        bounds: "MIN:MAX", or "N" for both: how many stay warm once they were needed, and how many
            there are at most. Programs that run beside others (`Profile.beside`) may use as many
            again.
        idle_s: seconds after which sandboxes that were not needed are ended.

    Raises:
        ConfigError: the bounds are none, or the kernel gives no semaphores.
    """
    found = re.fullmatch("(?:([0-9]+):)?([0-9]+)", bounds)
    least, most = (found[1] or found[2], found[2]) if found else ("1", "0")
    if not max(1, int(least)) <= int(most) <= 10_000:
        raise ConfigError(
            f"sandboxes {bounds!r}: expected MIN:MAX or N, as 1:4; MIN is from 0 to MAX, and MAX"
            " from 1 to 10000"
        )
    number = _libc.semget(0, _COUNT, 0o1600)
    if number < 0:
        raise ConfigError(f"sandboxes: no semaphores: {os.strerror(ctypes.get_errno())}")
    before = {name: os.environ.get(name) for name in (SLOTS, QUOTA)}
    _libc.semctl(number, _FREE, _SETVAL, int(most))
    os.environ.update({SLOTS: most, QUOTA: f"{number}:{least}:{idle_s}"})
    try:
        yield
    finally:
        _libc.semctl(number, 0, _RMID)
        for name, value in before.items():
            os.environ.pop(name)
            os.environ.update({} if value is None else {name: value})
