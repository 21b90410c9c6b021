"""Whose fault a broken run is: nobody's before it began, the program's own when it always breaks
after.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from code_runs import function_task
from rlenv.compose.stages import Attempt
from rlenv.model.errors import ConfigError, VerifierFault
from rlenv.model.values import Fault, Outcome
from rlenv.sandbox import ChannelEnded, ChannelTimeout, Exit, Profile
from rlenv_plugin_code.artifacts import Answer, Answers
from rlenv_plugin_code.codec import decode
from rlenv_plugin_code.drive.clock import Clock
from rlenv_plugin_code.drive.ran import TOO_BUSY, Ran
from rlenv_plugin_code.retry import retried
from rlenv_plugin_code.stages.run import Run

LOST = Fault("unavailable", "the zygote is gone", transient=True)
OK = Ran([Answer("ok", 1)])
BROKEN = Ran([Answer("crash", error="the sandbox was lost")], LOST)
UNBORN = Ran([Answer("crash")], LOST, started=False)
STARVED = Ran([Answer("timeout")], TOO_BUSY, starved=True)
NO_PLACE = VerifierFault(LOST)


def come_to(*tries: Ran | VerifierFault, retries: int = 2) -> tuple[Ran, int]:
    """The result of a run with these tries, and how many there were."""
    left = list(tries)

    async def play() -> Ran:
        one = left.pop(0)
        if isinstance(one, VerifierFault):
            raise one
        return one

    made = asyncio.run(retried(play, Clock(10), retries))
    return made, len(tries) - len(left)


def test_a_run_that_nothing_broke_is_the_answer() -> None:
    assert come_to(OK) == (OK, 1)
    assert come_to(BROKEN, OK) == (OK, 2)
    assert come_to(NO_PLACE, UNBORN, OK) == (OK, 3)


def test_what_breaks_every_time_after_its_start_is_the_programs_own() -> None:
    assert come_to(BROKEN, BROKEN, BROKEN) == (BROKEN, 3)
    assert come_to(BROKEN, retries=0) == (BROKEN, 1)


@pytest.mark.parametrize(
    "tries",
    [
        (NO_PLACE, NO_PLACE, NO_PLACE),
        (UNBORN, UNBORN, UNBORN),
        (BROKEN, BROKEN, NO_PLACE),
    ],
)
def test_what_is_nobodys_fault_is_unscored(tries: Sequence[Ran | VerifierFault]) -> None:
    with pytest.raises(VerifierFault) as caught:
        come_to(*tries)
    assert caught.value.fault == LOST


@pytest.mark.parametrize("first", [STARVED, VerifierFault(TOO_BUSY)])
def test_a_machine_that_is_too_busy_is_not_kept_busier(first: Ran | VerifierFault) -> None:
    with pytest.raises(VerifierFault) as caught:
        come_to(first, OK)
    assert caught.value.fault == TOO_BUSY
    assert caught.value.fault.transient


def test_a_broken_test_is_not_tried_again() -> None:
    broken = VerifierFault(Fault("error", "a test fails before the solution has answered"))
    with pytest.raises(VerifierFault):
        come_to(broken, OK)


def test_no_try_begins_after_the_budget() -> None:
    clock = Clock(0.0)

    async def play() -> Ran:
        return BROKEN

    assert asyncio.run(retried(play, clock, 5)) is BROKEN


# -- the same through the stage


class Sandbox:
    """Sessions that go wrong in ways that are told beforehand."""

    def __init__(self, *ways: str) -> None:
        self.ways = list(ways)
        self.open_sessions = 0

    async def open(self, _: Profile) -> Any:
        way = self.ways.pop(0)
        if way == "no place":
            raise NO_PLACE
        if way == "refused":
            raise ConfigError("no namespaces: sysctl kernel.unprivileged_userns_clone=1")
        self.open_sessions += 1
        return Session(self, way)


class Session:
    isolation: Any = "jail"

    def __init__(self, sandbox: Sandbox, way: str) -> None:
        self.sandbox = sandbox
        self.way = way
        self.frames: list[list[Any]] = []

    async def start(self, *_: Any, **__: Any) -> None:
        if self.way == "fork failed":
            raise NO_PLACE

    def clock(self) -> float:
        return 0.0

    async def send(self, frame: bytes) -> None:
        self.frames.append(decode(frame))

    async def recv(self, _: int, timeout: float) -> bytes:
        if self.way in ("lost", "unborn"):
            raise ChannelEnded("gone")
        if self.way == "starved":
            raise ChannelTimeout("late", starved=True)
        kind, n = map(str, self.frames.pop(0)[:2])
        answers: dict[str, bytes] = {
            "source": b'["loaded",%d]',
            "call": b'["ok",%d,7]',
            "end": b'["end",%d]',
        }
        return answers[kind] % int(n)

    async def finish(self, _: float | None = None) -> Exit:
        if self.way == "lost":
            return Exit(None, "lost", fault=LOST)
        if self.way == "unborn":
            return Exit(None, "lost", started=False, fault=LOST)
        return Exit(None, "killed")

    async def close(self) -> None:
        self.sandbox.open_sessions -= 1


def checked(monkeypatch: pytest.MonkeyPatch, *ways: str) -> tuple[Outcome, Answers]:
    sandbox = Sandbox(*ways)
    monkeypatch.setattr("rlenv.sandbox.isolation.get", lambda *_, **__: sandbox)
    attempt = Attempt(function_task(1), "def f(x): return 7")
    try:
        outcome = asyncio.run(Run().check(attempt))
    finally:
        assert sandbox.open_sessions == 0
    return outcome, attempt.get(Answers)


@pytest.mark.parametrize("first", ["no place", "fork failed", "lost", "unborn"])
def test_another_place_may_do_better(monkeypatch: pytest.MonkeyPatch, first: str) -> None:
    outcome, answers = checked(monkeypatch, first, "fine")
    assert outcome.score == 1
    assert answers.answers[0].value == 7
    assert outcome.data["isolation"] == "jail"


@pytest.mark.parametrize("way", ["no place", "fork failed", "unborn", "starved"])
def test_what_the_machine_does_is_unscored(monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    with pytest.raises(VerifierFault) as caught:
        checked(monkeypatch, way, way, way)
    assert caught.value.fault.transient


def test_no_response_buys_an_unscored_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    outcome, answers = checked(monkeypatch, "lost", "lost", "lost")
    assert outcome.score == 0
    assert answers.answers[0].status == "crash"


def test_a_sandbox_that_cannot_be_had_says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match="unprivileged_userns_clone"):
        checked(monkeypatch, "refused")
