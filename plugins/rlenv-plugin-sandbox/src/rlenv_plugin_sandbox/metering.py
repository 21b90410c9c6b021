"""A program's clock: wall time without what it stood ready to run and the machine ran something
else.

It stands still, too, while the program has answered and nobody has asked it anything more.

Nobody may gain by being slow.  So of the time that a program waited for a processor only 28 times
its CPU is believed: one that always computes waits less than that on any machine that gives it a
29th of a processor, and one that gives the processor up again and again, to wait for the next turn,
is stopped soon.  With that, one of the two limits is always reached before 30 times as much wall
time.  More is believed only where the machine is seen to give nobody a 20th of a processor.
"""

from __future__ import annotations

from time import monotonic, thread_time
from typing import Literal, TypeAlias

from attrs import evolve, frozen

__all__ = ["WALL", "Meter", "Over", "Span"]

WALL = 30.0  # times the CPU limit, in wall time: then the machine is at fault
_BELIEVED = 28.0  # seconds of waiting for each of CPU
_SHARE = 0.05  # of a processor: whoever gets less is on a machine that starves everybody
_TRIAL_S = 0.01  # of CPU, to learn that
_TRIAL_HOLDS_S = 5.0
# between two looks at a clock
_FIRST_S = 0.02
_LONGEST_S = 0.25
_SLOWER = 1.5
_LEAST_S = 0.005
Over: TypeAlias = Literal["", "cpu", "clock", "machine"]


@frozen
class _Reading:
    at: float  # seconds that it was asked, so far
    cpu: float = 0.0
    delay: float = 0.0


class Meter:
    """What is known of the clock of one program, from looks at it now and then.

    Args:
        first: seconds until the first look.
    """

    def __init__(self, first: float = _FIRST_S) -> None:
        self.begun = self.looked = monotonic()
        self.now = _Reading(0.0)
        self._step = first
        self._rests: float | None = None  # since when
        self._carried = 0.0  # waiting that began before the last look, and is known since it ended
        self._crowded = False  # the machine was seen to starve everybody

    def hold(self) -> None:
        """Its program has not begun: no time has passed for it."""
        self.begun = self.looked = monotonic()
        self.now = _Reading(0.0)

    def rest(self, since: float = 0.0) -> bool:
        """It has answered, or is to be killed: from then on it is asked nothing.

        Returns whether it was asked nothing before, either.
        """
        rested = self._rests is not None
        if not rested:
            self._rests = max(self.looked, since or monotonic())
        return rested

    def ask(self) -> None:
        """It is asked something."""
        if self._rests is not None:
            self.looked += monotonic() - self._rests
            self._rests = None

    def note(self, cpu: float, delay: float, asked: float | None = None) -> None:
        """Take in a look: seconds of CPU so far, and of waiting for a processor since the last
        look.

        Processes of one program that wait for each other do not make its clock slower than its CPU.

        Args:
            asked: seconds so far that it was asked, where somebody nearer to it says so.
        """
        at = max(self.now.at, self._asked() if asked is None else asked)
        cpu = max(cpu, self.now.cpu)
        delay += self._carried
        most = max(0.0, at - self.now.at - (cpu - self.now.cpu))
        self.now = _Reading(at, cpu, self.now.delay + min(delay, most))
        self.looked = monotonic()
        self._rests = self._rests and self.looked
        self._carried = min(max(0.0, delay - most), _LONGEST_S)
        self._step = min(self._step * _SLOWER, _LONGEST_S)

    @property
    def clock(self) -> float:
        """Seconds so far."""
        return max(0.0, self._asked() - self._excused(_Reading(0.0)))

    @property
    def due(self) -> bool:
        """Whether it is time for the next look."""
        return monotonic() - self.looked >= self._step

    def _asked(self) -> float:
        return self.now.at + (self._rests or monotonic()) - self.looked

    def _excused(self, since: _Reading) -> float:
        delay = self.now.delay - since.delay
        return delay if self._crowded else min(delay, self._most(since))

    def _most(self, since: _Reading) -> float:
        """How much waiting is believed without a look at the machine."""
        return _BELIEVED * max(0.0, self.now.cpu - since.cpu)

    def over(self, since: _Reading, cpu: float, clock: float) -> Over:
        """Which limit has been reached since a reading: ``cpu`` and ``clock`` in seconds."""
        wall = self.now.at - since.at
        delay = self.now.delay - since.delay
        if self.now.cpu - since.cpu >= cpu:
            return "cpu"
        if wall - delay >= clock:
            return "clock"
        if wall - self._most(since) >= clock:
            self._crowded = _is_crowded()
            if not self._crowded:
                return "clock"
        return "machine" if wall >= WALL * max(cpu, clock) else ""

    def left(self, since: _Reading, clock: float) -> float:
        """Seconds until the clock can have reached a limit; until the next look at most."""
        left = clock - (self._asked() - since.at - self._excused(since))
        return max(_LEAST_S, min(left, self._step))


class Span:
    """A limit on a part of a program's run, from now on: seconds of CPU, and on its clock."""

    def __init__(self, meter: Meter, cpu: float, clock: float) -> None:
        self.meter = meter
        self.cpu = cpu
        self.clock = clock
        self.began = monotonic()
        self._since: _Reading | None = None

    @property
    def since(self) -> _Reading:
        """When it began, or its program did.

        What was used before is known from the first look after that.
        """
        begun = max(self.began, self.meter.begun)
        looked = self.meter.looked
        now = self.meter.now
        if self._since is None and looked >= begun:
            self._since = evolve(now, at=max(0.0, now.at - (looked - begun)))
        return self._since or _Reading(now.at + begun - looked)

    def over(self) -> Over:
        """Which limit had been reached at the meter's last look."""
        return self.meter.over(self.since, self.cpu, self.clock)

    def left(self) -> float:
        """Seconds until there is reason to look again."""
        return self.meter.left(self.since, self.clock)


_trial = (0.0, False)  # when the machine was tried last, and what that showed


def _is_crowded() -> bool:
    """Whether the machine gives us, too, next to nothing: nobody's program can bring that about
    alone.
    """
    global _trial  # noqa: PLW0603 - one answer for all programs of this process
    began, busy = _trial
    if not busy or monotonic() - began > _TRIAL_HOLDS_S:
        began = monotonic()
        until = thread_time() + _TRIAL_S
        while thread_time() < until:
            pass
        _trial = monotonic(), _SHARE * (monotonic() - began) > _TRIAL_S
    return _trial[1]
