"""Stages that do next to nothing, so that what is measured is rlenv itself; workers import them
from here.
"""

from __future__ import annotations

import time
from typing import ClassVar

from attrs import frozen
from rlenv import Attempt, Outcome, stage

HALF = "1/2"
RIGHT = Outcome(1.0)
WRONG = Outcome(0.0)


def is_half(response: str) -> bool:
    return response == HALF


@stage(where="inline")
def is_half_inline(response: str) -> bool:
    return response == HALF


@frozen
class Inline:
    phase: ClassVar[str] = "diff"
    where: ClassVar[str] = "inline"

    def check(self, attempt: Attempt) -> Outcome:
        return RIGHT if attempt.response == HALF else WRONG


@frozen
class Worker:
    phase: ClassVar[str] = "diff"
    where: ClassVar[str] = "worker"

    def check(self, attempt: Attempt) -> Outcome:
        return RIGHT if attempt.response == HALF else WRONG


@frozen
class Sleeper:
    """Sleeps for the seconds that the response names."""

    phase: ClassVar[str] = "diff"
    where: ClassVar[str] = "worker"

    def check(self, attempt: Attempt) -> Outcome:
        time.sleep(float(attempt.response))
        return RIGHT


def spin(response: str) -> bool:
    """Work for as many seconds of CPU time as the response says."""
    end = time.process_time() + float(response)
    while time.process_time() < end:
        pass
    return True


def pause(response: str) -> bool:
    """Wait for as many seconds as the response says."""
    time.sleep(float(response))
    return True
