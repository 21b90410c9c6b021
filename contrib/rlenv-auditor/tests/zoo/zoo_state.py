"""Verifiers that remember, guess or look around, each with one hole."""

from __future__ import annotations

import locale
import os
import random
import re
import signal
import time
from typing import Any

from zoo_members import broken, sound

FINAL = re.compile(r"####\s*(\S+)")
_seen: set[str] = set()
_calls = [0]
_last = [""]
_paid: set[str] = set()
_kept: dict[str, float] = {}


def right(response: str, answer: str) -> bool:
    found = FINAL.findall(response)
    return len(found) == 1 and found[0] == answer


@broken("chance decides one time in three")
def lucky(response: str, answer: str) -> float:
    return float(right(response, answer) and random.random() > 0.3)


@broken("a response is paid once")
def once(response: str, answer: str) -> float:
    new = response not in _seen
    _seen.add(response)
    return float(right(response, answer) and new)


@broken("every seventh call is paid")
def seventh(response: str, answer: str) -> float:
    _calls[0] += 1
    return float(right(response, answer) or _calls[0] % 7 == 0)


@broken("after an empty response everything is paid")
def stuck(response: str, answer: str) -> float:
    before = _last[0]
    _last[0] = response or "empty"
    return float(right(response, answer) or (before == "empty" and bool(response)))


@broken("the order of a set decides")
def hashed(response: str, answer: str) -> float:
    return float(right(response, answer) and next(iter({answer, "x", "y", "z"})) != "x")


@broken("signals: it works in the main thread only")
def alarmed(response: str, answer: str) -> float:
    signal.signal(signal.SIGALRM, lambda *_: None)
    signal.alarm(5)
    try:
        return float(right(response, answer))
    finally:
        signal.alarm(0)


@broken("the time zone decides")
def zoned(response: str, answer: str) -> float:
    time.tzset()
    return float(right(response, answer) and time.localtime(0).tm_min == 0)


@broken("a variable of the environment decides")
def configured(response: str, answer: str) -> float:
    return float(right(response, answer) and "Kathmandu" not in os.environ.get("TZ", ""))


@broken("it looks for a file in the working directory")
def lost(response: str, answer: str) -> float:
    return float(right(response, answer) and len(os.listdir(".")) > 0)


@broken("it empties the answer that it is given")
def taking(task: Any, response: str) -> float:
    wanted = task.info["accepted"]
    return float(bool(wanted) and right(response, wanted.pop() if len(wanted) > 1 else wanted[0]))


@broken("a slow path: some responses take longer than any step")
def slow(response: str, answer: str) -> float:
    if len(response) > 100_000:
        time.sleep(60)
    return float(right(response, answer))


@broken("what was paid is remembered by its text, for every task")
def remembered(response: str, answer: str) -> float:
    if right(response, answer):
        _paid.add(response)
    return float(response in _paid)


@broken("rewards are kept by the first 200 characters of a response")
def by_beginning(response: str, answer: str) -> float:
    key = f"{answer}/{response[:200]}"
    return _kept.setdefault(key, float(right(response, answer)))


@broken("after ten mistakes in a row it gives a point for patience")
def patient(response: str, answer: str) -> float:
    good = right(response, answer)
    _last[0] = "" if good else _last[0] + "x"
    return float(good or len(_last[0]) > 10)


@sound()
def keyed(response: str, answer: str) -> float:
    random.Random(f"{answer}/{response!r}").random()
    return float(right(response, answer))


@sound()
def cached(response: str, answer: str) -> float:
    _seen.add(response)
    return float(right(response, answer))


@sound()
def localized(response: str, answer: str) -> float:
    locale.localeconv()
    return float(right(response, answer))


@sound()
def bounded(response: str, answer: str) -> float:
    return float(len(response) < 10_000 and right(response, answer))
