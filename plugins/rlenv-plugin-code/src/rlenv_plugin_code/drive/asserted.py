"""Tests of kind "asserts" judged twice where a solution changed what it was given.

The first time a test sees every change of its arguments, as in Python.  A test that passed and saw
some is run again, against a solution that is loaded anew, and sees only those changes that it
cannot do without.  It passes if it does both times: a solution earns nothing by rewriting what it
is compared with.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from hashlib import sha256

from attrs import evolve

from rlenv_plugin_code.artifacts import Answer
from rlenv_plugin_code.spec import Tests

from .asserts import Changes
from .clock import Clock
from .ran import Ran
from .runs import Runs

__all__ = ["REWRITTEN", "asserted"]

REWRITTEN = "it passes only because the program changed the arguments of the test"
_KEPT = 256
_needed: OrderedDict[bytes, tuple[Changes, ...]] = OrderedDict()


async def asserted(
    runs: Runs, tests: Tests, source: str, frames: Sequence[bytes]
) -> tuple[Answer, ...]:
    """Whether each test passes.

    Raises:
        ConfigError: such a sandbox cannot be had here.
        VerifierFault: the sandbox broke, or a test fails by itself.
    """
    first = await runs.asserts(source, frames)
    doubtful = [place for place, seen in enumerate(first.leaning) if _passed(first, place, seen)]
    if not doubtful:
        return first.answers
    needed = await _needs(runs, tests, frames)
    answers = list(first.answers)
    for changes in ("pinned", "none"):
        places = [place for place in doubtful if needed[place] == changes]
        if not any(_is_wider(first.leaning[place], changes) for place in places):
            continue
        again = (await runs.asserts(source, frames, changes)).answers
        for place in places:
            answers[place] = _stricter(answers[place], again[place])
    return tuple(answers)


def _passed(ran: Ran, place: int, seen: str) -> bool:
    answer = ran.answers[place]
    return seen != "none" and answer.status == "ok" and answer.value is True


def _is_wider(seen: str, changes: str) -> bool:
    """Whether a test has seen more changes than these."""
    order = ("none", "pinned", "all")
    return order.index(seen) > order.index(changes)


def _stricter(first: Answer, again: Answer) -> Answer:
    if again.status != "ok":
        return again
    return first if again.value is True else evolve(first, value=False, error=REWRITTEN)


async def _needs(runs: Runs, tests: Tests, frames: Sequence[bytes]) -> tuple[Changes, ...]:
    """Which changes each test has to see: the fewest with which the golden program passes it.

    Without a golden program, those that the test pins.
    """
    if not tests.golden:
        pinned: Changes = "pinned"
        return (pinned,) * len(frames)
    key = sha256(b"\0".join([tests.golden.encode("utf-8", "surrogatepass"), *frames])).digest()
    found = _needed.get(key)
    if found is None:
        found = _needed[key] = await _needs_of_golden(runs, tests, frames)
        if len(_needed) > _KEPT:
            _needed.popitem(last=False)
    return found


async def _needs_of_golden(
    runs: Runs, tests: Tests, frames: Sequence[bytes]
) -> tuple[Changes, ...]:
    needed: list[Changes] = ["all"] * len(frames)
    own = Runs(runs.box, Clock(runs.clock.budget), runs.timeout, runs.retries)
    steps: tuple[Changes, ...] = ("pinned", "none")
    for changes in steps:
        answers = (await own.asserts(tests.golden, frames, changes)).answers
        for place, answer in enumerate(answers):
            if answer.status == "ok" and answer.value is True:
                needed[place] = changes
    return tuple(needed)
