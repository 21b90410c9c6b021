"""CPU budgets: what a response costs its stage, counted in a worker that has paid what comes once.

A stage is cold in a worker until it has checked a response there.  It then first checks an empty
one, which is not counted and shows that the stage works at all.  A response in a cold worker, or
one during which something is imported, may use more than the budget; where it does, it is checked
again, warm, and that counts.
"""

from __future__ import annotations

import sys
import time
from contextlib import suppress
from functools import partial

from attrs import evolve

from rlenv.compose.stages import Attempt
from rlenv.engine.checks import check_now
from rlenv.engine.plan import INLINE_SECONDS, LARGE, CompiledSlot
from rlenv.model.values import Outcome, StageResult
from rlenv.workers.board import LEAST_SHARE, UNCOUNTED
from rlenv.workers.report import SlotReport, crowded, own_seconds

FIRST = 60.0  # wall seconds for the check of the empty response, and from an import on
NEAR = 0.8  # of a budget; another run of the same response may cross it


def undecided(slot: CompiledSlot, seconds: float, *, memory: bool = False) -> StageResult:
    """The result of a response that costs more than the budget, or more memory than there is."""
    what = "memory than a worker has" if memory else f"than {slot.budget:g} s of CPU time"
    detail = f"undecided: checking this response takes more {what}"
    data = {"budget": slot.budget} | ({} if memory else {"cpu_seconds": round(seconds, 3)})
    # A composite around it counts no more than the budget: a response cannot use up its time.
    return StageResult(slot.path, Outcome(0.0, detail, data), None, min(seconds, slot.budget or 0))


def limit_of(slot: CompiledSlot) -> float:
    """Wall seconds that a check of it may take in a worker, whatever comes first there
    (``Meter``).
    """
    if slot.place == "inline":
        return max(slot.timeout, INLINE_SECONDS * LARGE / max(1, slot.inline_limit))
    if slot.budget is None:
        return slot.timeout
    return 2 * (FIRST + slot.timeout) + loose(slot.timeout, slot.budget) / LEAST_SHARE


def loose(seconds: float, budget: float) -> float:
    """CPU seconds of a check that may pay for what comes once."""
    return max(seconds / 2, 2 * budget)


class Meter:
    """Checks the stages with a budget in this worker, one at a time."""

    def __init__(self, *, looped: bool) -> None:
        self._warm: set[int] = set()
        # a loop runs other checks beside it
        self._clock = time.thread_time if looped else own_seconds
        self._paid = True  # what comes once

    def check(
        self, slot: CompiledSlot, attempt: Attempt, seconds: float, report: SlotReport
    ) -> StageResult:
        """A result that is right for the response, whatever came before in this worker."""
        begin = partial(report.begin, mark=slot.index)
        budget = slot.budget or 0.0
        self._paid = slot.index in self._warm
        if not self._paid:
            report.begin(max(seconds, FIRST), UNCOUNTED - slot.index)
            empty = check_now(slot, Attempt(attempt.task, "", thinking=attempt.thinking), ())
            if empty.fault is not None and empty.fault.kind == "memory":
                return empty
            self._warm.add(slot.index)
        most = -loose(seconds, budget)
        self._loosen = partial(begin, max(seconds, FIRST), cpu=most)
        sys.meta_path.insert(0, self)
        crowd = crowded()
        for limit in (budget if self._paid else most, budget):
            begin(seconds, cpu=limit)
            start = self._clock()
            result = check_now(slot, attempt, ())
            spent = self._clock() - start
            if spent <= budget or self._paid:
                break
        with suppress(ValueError):
            sys.meta_path.remove(self)
        if spent > budget:
            report.worn = crowd
            return undecided(slot, spent)
        if spent < NEAR * budget or result.outcome is None:
            return result
        data = {**result.outcome.data, "cpu_seconds": round(spent, 3), "budget": budget}
        return evolve(result, outcome=evolve(result.outcome, data=data))

    def find_spec(self, *_: object) -> None:
        """As a finder of modules that finds none: an import begins, and the response does not pay
        for it.

        The first one of a check gives it time, or a module that is looked for again and again would
        give it all.
        """
        self._paid = False
        loosen = self._loosen
        self._loosen = partial(vars(self).update)
        loosen()
