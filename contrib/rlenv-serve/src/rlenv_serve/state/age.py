"""The clock by which episodes get old: it goes on while a server runs, whatever clocks of machines
say.
"""

from __future__ import annotations

import time


class Age:
    """Seconds that servers of a journal have run, as one of them knows them.

    A server goes on from what the journal said when it connected, by its monotonic clock.  From
    time to time it tells the journal, and takes what another server told if that is more: so a
    machine that slept does not make its episodes older than those of others.
    """

    def __init__(self) -> None:
        self._base = -time.monotonic()

    def now(self) -> float:
        """Seconds, from 0 where the journal is new."""
        return self._base + time.monotonic()

    def at_least(self, seconds: float) -> None:
        """The journal says that it is later."""
        self._base += max(0.0, seconds - self.now())
