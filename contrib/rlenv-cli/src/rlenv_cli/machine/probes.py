"""What ``rlenv doctor`` sends into workers to see whether their limits hold."""

from __future__ import annotations

import time
from typing import ClassVar

from attrs import frozen
from rlenv.compose.stages import Attempt
from rlenv.model.values import Outcome


@frozen
class Answers:
    """Passes at once."""

    phase: ClassVar[str] = "diff"

    def check(self, _attempt: Attempt) -> Outcome:
        return Outcome(1.0)


@frozen
class Loops:
    """Never ends, and catches what it can."""

    phase: ClassVar[str] = "execute"

    def check(self, _attempt: Attempt) -> Outcome:
        while True:
            try:
                time.sleep(0.01)
            except Exception:  # noqa: BLE001, S112 - it is here to be killed
                continue


@frozen
class Hoards:
    """Asks for more memory than any limit of a probe."""

    phase: ClassVar[str] = "execute"

    def check(self, _attempt: Attempt) -> Outcome:
        held = [bytearray(64 << 20) for _ in range(32)]
        return Outcome(1.0, f"{len(held)} blocks")
