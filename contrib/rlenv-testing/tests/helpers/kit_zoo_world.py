"""Stages that break the laws of the world around them: determinism, purity, limits, groups and
composites.
"""

from __future__ import annotations

import asyncio
import builtins
import locale
import os
import random
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from attrs import define, frozen
from kit_sound import Sound, SoundAsync, SoundWorker, same, verdict
from kit_zoo import Stateful
from rlenv import AnyOf, Attempt, Composite, Outcome, Slot
from rlenv.compose.composites import Combined, Fold

# -- determinism ----------------------------------------------------------------------------------


def noisy(attempt: Attempt) -> Outcome:
    return Outcome(float(same(attempt)), data={"noise": random.SystemRandom().random()})


@define
class Counts(Stateful):
    """Pays less the more it is asked."""

    asked: int = 0

    def check(self, attempt: Attempt) -> Outcome:
        self.asked += 1
        return verdict(same(attempt) and self.asked < 100)


@define
class Numbers(Stateful):
    """Numbers the responses."""

    asked: int = 0

    def check(self, attempt: Attempt) -> Outcome:
        self.asked += 1
        return Outcome(float(same(attempt)), f"number {self.asked}")


@define
class Remembers(Stateful):
    """Says what came before."""

    last: str = ""

    def check(self, attempt: Attempt) -> Outcome:
        before = self.last
        self.last = attempt.response
        repeated = before == "London" and attempt.response != "London"
        return Outcome(float(same(attempt)), "again" if repeated else "")


@define
class Shares(Stateful):
    """Keeps the response in a place that threads share."""

    response: str = ""

    def check(self, attempt: Attempt) -> Outcome:
        self.response = attempt.response
        time.sleep(0.0001)
        return verdict(self.response.strip() == attempt.task.answer)


def hash_ordered(attempt: Attempt) -> Outcome:
    words = {"the", "city", "of", "big", "lights", attempt.response}
    return Outcome(float(same(attempt)), data={"words": list(words)})


def localized(attempt: Attempt) -> Outcome:
    return Outcome(float(same(attempt)), locale.str(0.5))


def encoded(attempt: Attempt) -> Outcome:
    return Outcome(float(same(attempt)), locale.getpreferredencoding(False))


def zoned(attempt: Attempt) -> Outcome:
    return Outcome(float(same(attempt)), f"hour {time.localtime(0).tm_hour}")


def dated(attempt: Attempt) -> Outcome:
    return Outcome(float(same(attempt)), time.strftime("%Y"))


def placed(attempt: Attempt) -> Outcome:
    return verdict(same(attempt) and Path.cwd() != Path("/"))


@define
class Forgets(Stateful):
    """Another one after its journey to a worker."""

    kind: bool = True

    def __reduce__(self) -> Any:
        return Forgets, (False,)

    def check(self, attempt: Attempt) -> Outcome:
        return Outcome(float(same(attempt)), "well done" if self.kind else "")


# -- purity ---------------------------------------------------------------------------------------


def mutates_task(attempt: Attempt) -> Outcome:
    dict.update(attempt.task.info, seen=True)
    return verdict(same(attempt))


def mutates_environ(attempt: Attempt) -> Outcome:
    os.environ["KIT_ZOO"] = "1"
    return verdict(same(attempt))


def mutates_random(attempt: Attempt) -> Outcome:
    random.seed(0)
    return verdict(same(attempt))


def mutates_path(attempt: Attempt) -> Outcome:
    sys.path.append("/nowhere")
    return verdict(same(attempt))


def mutates_cwd(attempt: Attempt) -> Outcome:
    os.chdir(tempfile.gettempdir())
    return verdict(same(attempt))


def mutates_builtins(attempt: Attempt) -> Outcome:
    vars(builtins)["kit_zoo"] = 1
    return verdict(same(attempt))


def leaves_file(attempt: Attempt) -> Outcome:
    Path(tempfile.gettempdir(), "kit-zoo").write_text(attempt.task.prompt)
    return verdict(same(attempt))


def leaves_thread(attempt: Attempt) -> Outcome:
    threading.Thread(target=time.sleep, args=(0.2,), daemon=True).start()
    threading.Thread(target=threading.Event().wait, daemon=True).start()
    return verdict(same(attempt))


def leaves_child(attempt: Attempt) -> Outcome:
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    process.returncode = 0  # so that nobody warns
    return verdict(same(attempt))


# -- limits ---------------------------------------------------------------------------------------


@frozen
class Golf(SoundWorker):
    """Runs a pattern that the policy writes in a code span, without a budget."""

    default_timeout: ClassVar[float] = 1.0

    def check(self, attempt: Attempt) -> Outcome:
        pattern = re.search(r"`(.+?)`", attempt.response)
        try:
            found = pattern is not None and re.search(pattern[1], str(attempt.task.answer))
        except (re.error, RecursionError, OverflowError):
            found = None
        return verdict(found or same(attempt))


@frozen
class BudgetedGolf(Golf):
    """The same with a budget: what costs more is a 0."""

    default_timeout: ClassVar[None] = None  # type: ignore[assignment] # follows from the budget
    budget: ClassVar[float] = 0.2


@frozen
class PatientGolf(Golf):
    """The same with the usual deadline of 30 s, which a law has no time to wait for again and
    again.
    """

    default_timeout: ClassVar[float] = 30.0


@frozen
class Dozes(SoundWorker):
    """Waits for what a response asks for, which a budget of CPU time does not limit."""

    default_timeout: ClassVar[float] = 1.0
    budget: ClassVar[float] = 0.4

    def check(self, attempt: Attempt) -> Outcome:
        time.sleep(60 * attempt.response.count("9**9"))
        return verdict(same(attempt))


def converts(attempt: Attempt) -> Outcome:
    return verdict(same(attempt) or (attempt.response.isdecimal() and int(attempt.response) < 0))


def quotes(attempt: Attempt) -> Outcome:
    assert not attempt.response.startswith("');"), "a quote was closed"
    return verdict(same(attempt))


def backtracks(attempt: Attempt) -> Outcome:
    re.match(r"(a+)+$", attempt.response)
    return verdict(same(attempt))


def quadratic(attempt: Attempt) -> Outcome:
    text = attempt.response
    found = 0
    for i in range(0, len(text), 7):
        found += sum(text[i] == c for c in text)
    return verdict(same(attempt))


def endless(attempt: Attempt) -> Outcome:
    while len(attempt.response) > 900:
        pass
    return verdict(same(attempt))


def sleeps(attempt: Attempt) -> Outcome:
    time.sleep(0.002)
    return verdict(same(attempt))


def calls(attempt: Attempt) -> Outcome:
    from rlenv.workers import call

    return verdict(same(attempt) and call("operator:add", 1, 1) == 2)


def dawdles(attempt: Attempt) -> Outcome:
    for _ in range(attempt.response.count("[") ** 2 // 8):
        pass
    return verdict(same(attempt))


def sleeps_long(attempt: Attempt) -> Outcome:
    time.sleep(60 if len(attempt.response) > 900 else 0)
    return verdict(same(attempt))


class Blocks(SoundAsync):
    """Sleeps where it should await."""

    async def check(self, attempt: Attempt) -> Outcome:
        time.sleep(0.001)
        return await super().check(attempt)


class Hogs(SoundAsync):
    """Works where it should give way."""

    async def check(self, attempt: Attempt) -> Outcome:
        until = time.monotonic() + (0.6 if attempt.response == "Paris" else 0)
        while time.monotonic() < until:
            pass
        await asyncio.sleep(0)
        return verdict(same(attempt))


# -- groups and composites ------------------------------------------------------------------------


@frozen
class FirstWins:
    """The first right response of a group is right, the others are not."""

    phase: ClassVar[str] = "judge"
    uses: ClassVar[tuple[str, ...]] = ("answer",)

    def check_group(self, attempts: Sequence[Attempt]) -> list[Outcome]:
        right = [same(attempt) for attempt in attempts]
        return [verdict(ok and True not in right[:i]) for i, ok in enumerate(right)]


class Worst(Composite):
    """Pays the more, the worse its second child is."""

    name = "worst"

    def fold(self) -> Fold:
        first = yield 0
        second = yield 1
        if first.outcome is None or second.outcome is None:
            return Combined(None, None, first.fault or second.fault)
        value = first.outcome.score * (1 - second.outcome.score / 2)
        return Combined(value, value)


class Halves(Composite):
    """Never pays in full."""

    name = "halves"

    def fold(self) -> Fold:
        result = yield 0
        if result.outcome is None:
            return Combined(None, None, result.fault)
        return Combined(result.outcome.score / 2, result.outcome.score / 2)


class Zeroes(Composite):
    """Takes a broken child for a wrong response."""

    name = "zeroes"

    def fold(self) -> Fold:
        scores = []
        for i in range(len(self.slots)):
            result = yield i
            scores.append(0.0 if result.outcome is None else result.outcome.score)
        return Combined(sum(scores) / len(scores), None)


class Ratio(Halves):
    """A composite whose raw value divides by what may be 0: no JSON value, which the engine leaves
    as it is.
    """

    name: ClassVar[str] = "ratio"

    def fold(self) -> Fold:
        combined = yield from super().fold()
        value = combined.value or 0.0
        return Combined(value, 1.0 / value if value else float("inf"))


def two(kind: type[Composite] = AnyOf) -> Composite:
    """A composite of two sound stages."""
    return kind([Slot("one", Sound()), Slot("two", Sound())])
