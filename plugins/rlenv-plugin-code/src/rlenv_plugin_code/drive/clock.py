"""The budget of one response: wall seconds while it holds a place in a sandbox, not while it waits for one."""

from __future__ import annotations

from time import monotonic
from typing import Self

__all__ = ["Clock"]


class Clock:
    """A stopwatch with an end.

    Args:
        budget: seconds in all.
    """

    __slots__ = ("_since", "_spent", "budget")

    def __init__(self, budget: float) -> None:
        self.budget = budget
        self._spent = 0.0
        self._since: float | None = None

    def __enter__(self) -> Self:
        self._since = monotonic()
        return self

    def __exit__(self, *_: object) -> None:
        if self._since is not None:
            self._spent += monotonic() - self._since
        self._since = None

    def left(self) -> float:
        """Seconds that are left, 0 at the least."""
        running = 0.0 if self._since is None else monotonic() - self._since
        return max(0.0, self.budget - self._spent - running)
