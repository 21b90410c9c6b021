"""The budget of one response: seconds on the clocks of its programs."""

from __future__ import annotations

from rlenv.sandbox import Session

__all__ = ["Clock"]

# what carrying a frame counts, on however busy a machine; it takes about as long on a quiet one
FRAME_S = 0.0002
BYTE_S = 1e-8


class Clock:
    """A stopwatch with an end.

    It runs while a program has something to do, and stands still while the judge has.

    What a frame costs the judge counts a fixed time, so that talking much uses up a budget, too.

    Args:
        budget: seconds in all.
        sessions: where the programs run; more by ``watch``.
    """

    __slots__ = ("_before", "_carried", "_sessions", "_whole", "budget")

    def __init__(self, budget: float, *sessions: Session) -> None:
        self.budget = budget
        self._sessions: list[Session] = []
        self._before = self._carried = 0.0
        self._whole: Clock | None = None
        for session in sessions:
            self.watch(session)

    def part(self, budget: float) -> Clock:
        """A clock of a part of what this one measures, from now on.

        It ends with this one at the latest.

        It counts what this one counts, frames too: a test and a program that only talk to each
        other use up the time of their case.
        """
        made = Clock(budget)
        made._whole = self
        made._before = self.used()
        return made

    def watch(self, session: Session) -> None:
        """From now on the programs in this session use up the budget."""
        self._sessions.append(session)
        self._before += session.clock()

    def carried(self, size: int) -> None:
        """A frame of so many bytes came."""
        self._carried += FRAME_S + BYTE_S * size

    def used(self) -> float:
        """Seconds so far."""
        if self._whole is not None:
            return self._whole.used() - self._before
        spent = sum([session.clock() for session in self._sessions]) - self._before
        return self._carried + max(0.0, spent)

    def left(self) -> float:
        """Seconds that are left, 0 at the least."""
        left = max(0.0, self.budget - self.used())
        return left if self._whole is None else min(left, self._whole.left())
