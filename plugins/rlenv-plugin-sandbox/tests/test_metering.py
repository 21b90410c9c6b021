"""A program's clock: what others do to the machine is excused, what a program does to itself is
not.
"""

from __future__ import annotations

import asyncio
import itertools
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rlenv_plugin_sandbox import metering
from rlenv_plugin_sandbox.docker.run import Run
from rlenv_plugin_sandbox.guest import wire
from rlenv_plugin_sandbox.metering import WALL, Meter, Over, Span


class Machine:
    """Time as a test tells it; ``share`` is what the judge itself gets of a processor."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, crowded: bool = False) -> None:
        self.now = 1000.0
        monkeypatch.setattr(metering, "monotonic", lambda: self.now)
        monkeypatch.setattr(metering, "_is_crowded", lambda: crowded)

    def run(self, ran: float, waited: float, *, limit: float = 1.0) -> tuple[Over, float, Meter]:
        """(which limit ended it, after how many seconds, its meter) of a program that spends its
        time so.
        """
        meter = Meter()
        span = Span(meter, limit, limit)
        used = 0.0
        for step in range(10_000):
            self.now += 0.05 * limit
            used += ran * 0.05 * limit
            meter.note(used, waited * 0.05 * limit)
            over = span.over()
            if over:
                return over, (step + 1) * 0.05 * limit, meter
        raise AssertionError("it never ends")


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine(monkeypatch)


@pytest.mark.parametrize(
    ("ran", "waited", "over", "seconds"),
    [
        (1.0, 0.0, "cpu", 1.0),  # computes on a quiet machine
        (0.1, 0.9, "cpu", 10.0),  # computes, with a tenth of a processor
        (0.04, 0.96, "cpu", 25.0),
        (4.0, 0.0, "cpu", 0.25),  # in four processes
        (0.0, 0.0, "clock", 1.0),  # sleeps
        (0.1, 0.4, "clock", 1.65),  # sleeps half of the time, on a busy machine
        (0.006, 0.97, "clock", 1.2),  # gives the processor up all the time, on a busy machine
        (0.5, 0.99, "cpu", 2.0),  # its processes wait for each other, too
        (0.0, 0.99, "clock", 1.0),
    ],
)
def test_cpu_or_clock_ends_every_program(
    machine: Machine, ran: float, waited: float, over: Over, seconds: float
) -> None:
    found, after, _ = machine.run(ran, waited)

    assert found in (over, "clock")  # one that only computes reaches both at once
    assert after == pytest.approx(seconds, rel=0.15, abs=0.06)


def test_a_machine_that_starves_everybody_is_at_fault_after_thirty_times_the_limit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    over, after, _ = Machine(monkeypatch, crowded=True).run(0.01, 0.99)

    assert over == "machine"
    assert after == pytest.approx(WALL, rel=0.05)


@given(
    st.lists(
        st.tuples(st.floats(0, 0.3), st.floats(0, 4), st.floats(0, 10)), min_size=1, max_size=400
    ),
    st.floats(0.02, 2),
)
def test_nothing_that_a_program_does_outlasts_thirty_times_its_limit(
    looks: list[tuple[float, float, float]], limit: float
) -> None:
    """Whatever it reports, where the machine is not crowded."""
    with pytest.MonkeyPatch.context() as patch:
        machine = Machine(patch)
        meter = Meter()
        span = Span(meter, limit, limit)
        used = 0.0
        for wall, cores, waited in looks * 20:
            machine.now += wall
            used += cores * wall
            meter.note(used, waited)
            over = span.over()
            assert over != "machine"
            if over or machine.now - 1000 > 2 * WALL * limit:
                break
        assert over or machine.now - 1000 < WALL * limit + 0.3


def test_before_its_program_begins_no_clock_runs(machine: Machine) -> None:
    meter = Meter()
    span = Span(meter, 1.0, 1.0)
    for _ in range(10):
        machine.now += 1
        meter.hold()
    machine.now += 0.5
    meter.note(0.0, 0.0)

    assert span.over() == ""
    assert meter.clock == pytest.approx(0.5)
    machine.now += 0.6
    meter.note(0.0, 0.0)
    assert span.over() == "clock"


def test_who_has_answered_and_is_not_asked_is_on_no_clock(machine: Machine) -> None:
    meter = Meter()
    span = Span(meter, 1.0, 1.0)
    machine.now += 0.4
    assert not meter.rest()
    machine.now += 50
    assert meter.rest()
    meter.note(0.0, 0.0)
    assert meter.clock == pytest.approx(0.4)
    machine.now += 50
    meter.ask()
    part = Span(meter, 0.5, 0.5)
    machine.now += 0.3
    meter.note(0.0, 0.0)

    assert not span.over()
    assert not part.over()
    assert meter.clock == pytest.approx(0.7)
    machine.now += 0.3
    meter.note(0.0, 0.0)
    assert part.over() == "clock"
    assert meter.clock == pytest.approx(1.0)


def test_what_carrying_its_frames_took_is_on_no_clock(machine: Machine) -> None:
    """Of ten questions, each half a second on its way, as whoever is nearer to the program says."""
    meter = Meter()
    for _ in range(10):
        meter.ask()
        machine.now += 0.5
        meter.rest()
    meter.ask()
    part = Span(meter, 1.0, 1.0)
    machine.now += 0.9
    meter.note(0.2, 0.0, asked=1.1)

    assert part.over() == ""
    assert meter.clock == pytest.approx(1.1)
    machine.now += 0.2
    meter.note(0.2, 0.0, asked=1.3)
    assert part.over() == "clock"


def test_a_part_of_a_run_is_not_charged_for_what_was_before(machine: Machine) -> None:
    meter = Meter()
    machine.now += 5
    meter.note(0.9, 4.0)
    span = Span(meter, 1.0, 1.0)
    machine.now += 0.5
    meter.note(1.4, 0.0)

    assert span.over() == ""
    machine.now += 0.6
    meter.note(2.0, 0.0)
    assert span.over() == "clock"


def test_waiting_that_two_looks_see_in_part_is_counted_once_and_in_full(machine: Machine) -> None:
    meter = Meter()
    for waited in (0.0, 0.2, 0.0, 0.2):  # known when it is over
        machine.now += 0.1
        meter.note(0.0, waited)

    assert meter.now.delay == pytest.approx(0.3)


@pytest.mark.parametrize(("share", "crowded"), [(0.02, True), (0.1, False), (1.0, False)])
def test_a_machine_is_crowded_that_gives_the_judge_nothing_either(
    monkeypatch: pytest.MonkeyPatch, share: float, crowded: bool
) -> None:
    ran = itertools.count(0.0, 0.001)
    now = itertools.count(0.0, 0.0055 / share)  # of which two pass while 11 ms of CPU do
    monkeypatch.setattr(metering, "_trial", (0.0, False))
    monkeypatch.setattr(metering, "thread_time", lambda: next(ran))
    monkeypatch.setattr(metering, "monotonic", lambda: next(now))

    assert metering._is_crowded() is crowded


@pytest.mark.parametrize(("gvisor", "cpu"), [(True, 2.75), (False, 4.25)])
def test_what_gvisor_counts_and_the_machine_did_not_give_is_no_cpu_of_an_exit(
    gvisor: bool, cpu: float
) -> None:
    whole = iter([10.0, 10.5])  # what the machine gave the container at two looks
    container: Any = SimpleNamespace(
        cpu=lambda: next(whole),
        group=None,
        kind=SimpleNamespace(gvisor=gvisor),
        link=None,
        healthy=True,
        complaint=lambda: "",
    )

    async def ended() -> float:
        run = Run(container, 9.0, 9.0)
        for within in (2.0, 4.0):
            await run.clock.look((0.0, 0.0, within))
        run.report = wire.END_BODY.pack(0, True, 0, *(False,) * 3, 0.0, 0.0, 4.0, 0.25, 5.0, 0, 0)
        return run.exit("gvisor").cpu

    assert asyncio.run(ended()) == pytest.approx(cpu)
