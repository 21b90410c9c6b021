"""Stages that each break one law on purpose; ``test_kit_zoo`` says which."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable
from typing import Any, ClassVar

from attrs import frozen
from kit_sound import City, Sound, SoundMaker, SoundTaker, same, verdict
from rlenv import Attempt, Outcome

Check = Callable[[Attempt], Any]


@frozen
class Does(Sound):
    """A sound stage, but for what ``act`` does; a function of this module, so that it travels."""

    act: Check

    def check(self, attempt: Attempt) -> Outcome:
        outcome: Outcome = self.act(attempt)
        return outcome


@frozen
class Works(Does):
    """The same in a worker."""

    where: ClassVar[str] = "worker"


class Stateful:
    """A sound stage that can be changed."""

    phase: ClassVar[str] = "diff"
    where: ClassVar[str] = "inline"
    uses: ClassVar[tuple[str, ...]] = ("answer",)

    def check(self, attempt: Attempt) -> Outcome:
        return verdict(same(attempt))


def forged(score: Any) -> Outcome:
    outcome = Outcome(0.0)
    object.__setattr__(outcome, "score", score)
    return outcome


# -- range and contract ---------------------------------------------------------------------------


def nan(attempt: Attempt) -> Outcome:
    return forged(float("nan")) if "1e999" in attempt.response else verdict(same(attempt))


def boolean(attempt: Attempt) -> Any:
    return same(attempt)


def numpy_like(attempt: Attempt) -> Outcome:
    kind = type("float64", (float,), {})
    return forged(kind(same(attempt)))


def above_one(attempt: Attempt) -> Outcome:
    return forged(1.0000001) if same(attempt) else Outcome.failed()


def nothing(attempt: Attempt) -> Any:
    return verdict(True) if same(attempt) else None


class PhaseLiar(Sound):
    phase: ClassVar[str] = "verify"


class GateLiar(Sound):
    default_gate: ClassVar[float] = 7.0


class UsesLiar(Sound):
    uses: ClassVar[tuple[str, ...]] = ()


@frozen
class InfoUser(Sound):
    """Reads what it does not say it needs."""

    def check(self, attempt: Attempt) -> Outcome:
        length: Any = attempt.task.info["length"]
        return verdict(same(attempt) and length > 0)


class MakesLiar(SoundMaker):
    def check(self, attempt: Attempt) -> Outcome:
        return Outcome.passed(words=len(attempt.response))


class SecretMaker(Sound):
    def check(self, attempt: Attempt) -> Outcome:
        attempt.put(City(attempt.response))
        return verdict(same(attempt))


class NeedsLiar(SoundTaker):
    def check(self, attempt: Attempt) -> Outcome:
        return verdict(same(attempt))


class Unpicklable(Stateful):
    def __init__(self) -> None:
        self.lock = threading.Lock()


# -- brokenness -----------------------------------------------------------------------------------


def encodes(attempt: Attempt) -> Outcome:
    attempt.response.encode()
    return verdict(same(attempt))


def parses(attempt: Attempt) -> Outcome:
    if attempt.response.strip().isdecimal():
        int(attempt.response)
    return verdict(same(attempt))


def refuses_nul(attempt: Attempt) -> Outcome:
    if "\0" in attempt.response:
        os.stat(attempt.response)
    return verdict(same(attempt))


def dies(attempt: Attempt) -> Outcome:
    if "NaN" in attempt.response:
        os._exit(1)
    return verdict(same(attempt))


def swallows(attempt: Attempt) -> Outcome:
    try:
        return verdict(same(attempt))
    except Exception:
        return Outcome.failed("no")


# -- the examples and free lunch ------------------------------------------------------------------


def never(attempt: Attempt) -> Outcome:
    return Outcome.failed()


def lenient(attempt: Attempt) -> Outcome:
    return verdict(same(attempt) or attempt.response == "London")


def any_capital(attempt: Attempt) -> Outcome:
    return verdict(same(attempt) or attempt.response.strip() in ("Paris", "Rome", "Madrid"))


def empty(attempt: Attempt) -> Outcome:
    return verdict(same(attempt) or (not re.sub(r"\W", "", attempt.response) and attempt.response))


def constant(attempt: Attempt) -> Outcome:
    return verdict(same(attempt) or attempt.response == "42")


def echo(attempt: Attempt) -> Outcome:
    return verdict(same(attempt) or attempt.response.strip() == attempt.task.prompt)


def consoles(attempt: Attempt) -> Outcome:
    otherwise = 0.2 if "sorry" in attempt.response else 0.0
    return Outcome(1.0 if same(attempt) else otherwise)


def half_echo(attempt: Attempt) -> Outcome:
    otherwise = 0.5 if "capital" in attempt.response else 0.0
    return Outcome(1.0 if same(attempt) else otherwise)


def refusal(attempt: Attempt) -> Outcome:
    return verdict(same(attempt) or attempt.response.startswith("I cannot"))


def gullible(attempt: Attempt) -> Outcome:
    return verdict(same(attempt) or '"passed": true' in attempt.response)


def exploited(attempt: Attempt) -> Outcome:
    return verdict(same(attempt) or attempt.response == "open sesame")


# -- hedging, meaning, secrecy --------------------------------------------------------------------


def anywhere(attempt: Attempt) -> Outcome:
    return verdict(str(attempt.task.answer) in attempt.response)


def lists(attempt: Attempt) -> Outcome:
    cities = [word.strip() for word in re.split(r",| or |\n", attempt.response)]
    return verdict(str(attempt.task.answer) in cities)


def wordy(attempt: Attempt) -> Outcome:
    return verdict(same(attempt) or len(attempt.response) > 200)


def finicky(attempt: Attempt) -> Outcome:
    return verdict(same(attempt) and not attempt.response.endswith("s "))


def last_word(attempt: Attempt) -> Outcome:
    return verdict(attempt.response.split()[-1:] == str(attempt.task.answer).split())


def leaks_detail(attempt: Attempt) -> Outcome:
    right = same(attempt)
    return Outcome(float(right), "" if right else f"expected {attempt.task.answer}")


def leaks_data(attempt: Attempt) -> Outcome:
    return Outcome(float(same(attempt)), data={"diff": [attempt.response[:9], attempt.task.answer]})


def leaks_backwards(attempt: Attempt) -> Outcome:
    return Outcome(float(same(attempt)), data={"hint": str(attempt.task.answer)[::-1]})


def leaks_error(attempt: Attempt) -> Outcome:
    if "?" in attempt.response:
        raise ValueError(f"{attempt.response} is not {attempt.task.answer}")
    return verdict(same(attempt))
