"""Rates, pauses and rests, by a clock of the test's own."""

from __future__ import annotations

import asyncio
from email.utils import formatdate

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rlenv_plugin_judge.transport.endpoint import Endpoint
from rlenv_plugin_judge.transport.failover import IN_A_ROW, LONGEST, REST, Health
from rlenv_plugin_judge.transport.limiter import BURST, Limiter
from rlenv_plugin_judge.transport.limits import Rate, Retries
from rlenv_plugin_judge.transport.retry import pause, retry_after


class Clock:
    """Time passes only by sleeping."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds


@given(st.floats(1, 6000), st.integers(1, 300))
def test_a_rate_of_requests_is_kept_over_any_stretch(per_minute: float, count: int) -> None:
    clock = Clock()
    limiter = Limiter(Rate(requests=per_minute), clock, clock.sleep)
    entered = []

    async def run() -> None:
        for _ in range(count):
            await limiter.enter(0)
            entered.append(clock.now)

    asyncio.run(run())
    burst = max(1.0, per_minute / 60 * BURST)
    for i, at in enumerate(entered):
        assert i + 1 <= burst + (at - 1000.0) * per_minute / 60 + 1e-6


def test_a_rate_of_tokens_counts_what_was_really_used() -> None:
    clock = Clock()
    limiter = Limiter(Rate(tokens=600), clock, clock.sleep)  # 10 a second, 60 at once

    async def run() -> list[float]:
        entered = []
        for _ in range(4):
            await limiter.enter(60)
            entered.append(clock.now - 1000.0)
            limiter.settle(60, 30)
        return entered

    assert asyncio.run(run()) == pytest.approx([0.0, 3.0, 6.0, 9.0])


def test_who_gives_up_waiting_gives_back_what_he_took() -> None:
    clock = Clock()

    async def give_up(seconds: float) -> None:
        raise asyncio.CancelledError

    limiter = Limiter(Rate(requests=10), clock, give_up)

    async def run() -> None:
        await limiter.enter(0)
        for _ in range(50):
            with pytest.raises(asyncio.CancelledError):
                await limiter.enter(0)
        clock.now += 6.1
        await limiter.enter(0)

    asyncio.run(run())


def test_without_a_rate_nobody_waits() -> None:
    clock = Clock()
    asyncio.run(Limiter(Rate(), clock, clock.sleep).enter(10**9))
    assert clock.now == 1000.0


@given(st.integers(0, 10_000), st.floats(0.001, 10), st.floats(0.001, 100))
def test_a_pause_is_drawn_from_the_whole_of_a_growing_span(
    tried: int, base: float, cap: float
) -> None:
    retries = Retries(base=base, cap=cap)
    spans = []

    def draw(low: float, high: float) -> float:
        spans.append((low, high))
        return high

    assert pause(retries, tried, None, draw) <= cap
    assert spans == [(0.0, min(cap, base * 2.0 ** min(tried, 60)))]


def test_a_pause_is_as_long_as_the_server_asks_within_reason() -> None:
    retries = Retries(base=1.0, cap=4.0, after_cap=30.0)
    assert pause(retries, 0, 7.0, lambda low, high: low) == 7.0
    assert pause(retries, 0, 86_400.0, lambda low, high: low) == 30.0
    assert pause(retries, 5, 0.0, lambda low, high: high) == 4.0


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ("3", 3.0),
        (" 2.5 ", 2.5),
        ("0", 0.0),
        (formatdate(1_700_000_060, usegmt=True), 60.0),
        (formatdate(1_600_000_000, usegmt=True), 0.0),
        (None, None),
        ("", None),
        ("soon", None),
        ("-5", None),
        ("nan", None),
        ("inf", None),
        ("1e9", None),
        ("²", None),
        ("9" * 65, None),
        ("Fri, 99 Foo 2023 99:99:99 GMT", None),
    ],
)
def test_what_retry_after_says(said: str | None, seconds: float | None) -> None:
    assert retry_after(said, lambda: 1_700_000_000.0) == seconds


ENDPOINTS = [Endpoint(f"http://localhost/{i}", "m", key_env=None) for i in range(3)]


def test_the_first_that_is_well_is_asked() -> None:
    clock = Clock()
    health = Health(ENDPOINTS, clock)
    assert list(health.candidates()) == [0, 1, 2]
    health.failed(0, "now", health.falls(0))
    assert list(health.candidates()) == [1, 2]
    assert health.wait() == 0.0


def test_a_few_failures_in_a_row_make_it_rest_and_a_good_answer_forgives() -> None:
    health = Health(ENDPOINTS, Clock())
    for _ in range(3):
        for _ in range(IN_A_ROW - 1):
            health.failed(0, "soon", health.falls(0))
        health.good(0)
    assert list(health.candidates()) == [0, 1, 2]
    for _ in range(IN_A_ROW):
        health.failed(0, "soon", health.falls(0))
    assert list(health.candidates()) == [1, 2]


def test_who_has_rested_is_tried_by_one_call() -> None:
    clock = Clock()
    health = Health(ENDPOINTS[:1], clock)
    health.failed(0, "now", 0)
    assert list(health.candidates()) == []
    clock.now += REST
    assert list(health.candidates()) == [0]
    assert list(health.candidates()) == []
    health.good(0)
    assert list(health.candidates()) == [0]


def test_each_rest_is_twice_as_long_up_to_a_bound() -> None:
    clock = Clock()
    health = Health(ENDPOINTS[:1], clock)
    rests = []
    for _ in range(9):
        health.failed(0, "now", health.falls(0))
        rests.append(health.wait())
        clock.now += rests[-1]
    assert rests == pytest.approx([min(LONGEST, REST * 2**i) for i in range(9)])


def test_calls_that_were_under_way_when_it_fell_say_nothing_new() -> None:
    health = Health(ENDPOINTS[:1], Clock())
    seen = health.falls(0)
    for _ in range(64):
        health.failed(0, "now", seen)
    assert health.wait() == REST
