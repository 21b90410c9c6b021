"""What the tests of adapters share: stages, a conversation, and an answer that no log may show."""

from __future__ import annotations

from collections.abc import Sequence

import rlenv
from rlenv import Attempt, Outcome

GOLD = "the-secret-gold"
MESSAGES = [
    {"role": "system", "content": "Be short."},
    {"role": "user", "content": "Capital 1?"},
    {"role": "assistant", "content": "1"},
]


def user(text):
    return [{"role": "user", "content": text}]


def assistant(text):
    return [{"role": "assistant", "content": text}]


@rlenv.stage(where="inline")
def right(response, answer):
    if response == "break":
        raise RuntimeError(f"cannot compare with {answer}")
    return response == answer


@rlenv.stage(where="inline")
def short(response):
    return len(response) <= 5


class Longest:
    """1 for the longest of the responses to a task, 0 for the others."""

    phase = "judge"
    where = "inline"

    def check_group(self, attempts: Sequence[Attempt]) -> list[Outcome]:
        longest = max(len(attempt.response) for attempt in attempts)
        return [Outcome(float(len(attempt.response) == longest)) for attempt in attempts]
