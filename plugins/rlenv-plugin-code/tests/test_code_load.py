"""What else a machine does changes no value: budgets are of a program's own clock, and a busy
machine is tried once.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from code_runs import closed_sandbox, function_task, jailed, run, task_of
from rlenv import Environment, Slot, Task
from rlenv.model.errors import VerifierFault
from rlenv.sandbox import ChannelTimeout, Exit
from rlenv_plugin_code.drive.asserts import Pair
from rlenv_plugin_code.drive.clock import FRAME_S, Clock
from rlenv_plugin_code.drive.ran import TOO_BUSY
from rlenv_plugin_code.drive.suites import Suite
from rlenv_plugin_code.stages.diff import Diff
from rlenv_plugin_code.stages.run import Run
from rlenv_plugin_code.stages.suite import Tests

pytestmark = pytest.mark.usefixtures("closed_sandbox")
__all__ = ["closed_sandbox"]

ENDLESS = "while True: pass"


class Busy:
    """A session on a machine that gives its programs nothing."""

    isolation: Any = "jail"
    workspace: Any = None

    def __init__(self, seconds: float = 0.0) -> None:
        self.seconds = seconds

    def clock(self) -> float:
        return self.seconds

    async def start(self, *_: Any, **__: Any) -> None: ...

    async def send(self, _: bytes) -> None: ...

    async def recv(self, *_: Any) -> bytes:
        raise ChannelTimeout("late", starved=True)

    async def finish(self, _: float | None = None) -> Exit:
        return Exit(None, "killed")

    async def close(self) -> None: ...


def test_a_budget_is_of_the_clocks_of_its_programs_from_when_they_are_watched() -> None:
    before = Busy(7.0)
    after = Busy(4.0)
    clock = Clock(10.0, before)
    clock.watch(after)
    assert clock.used() == 0.0
    after.seconds += 5
    before.seconds += 1

    assert clock.used() == pytest.approx(6.0)
    assert clock.left() == pytest.approx(4.0)
    before.seconds += 100
    assert clock.left() == 0.0


def test_talking_uses_up_a_budget_by_the_frame_and_by_the_byte() -> None:
    clock = Clock(10.0, Busy())
    for _ in range(10_000):
        clock.carried(0)
    assert clock.used() == pytest.approx(10_000 * FRAME_S)
    clock.carried(1 << 30)

    assert clock.left() == 0.0


def test_a_part_of_a_budget_counts_what_the_whole_does_and_ends_with_it() -> None:
    session = Busy()
    whole = Clock(10.0, session)
    session.seconds = 3.0
    part = whole.part(4.0)
    assert part.used() == 0.0
    for _ in range(5_000):
        whole.carried(0)
    assert part.used() == pytest.approx(5_000 * FRAME_S)
    assert part.left() == pytest.approx(4.0 - 5_000 * FRAME_S)
    session.seconds += 6.5

    assert part.left() == whole.left() == 0.0


def test_a_suite_that_the_machine_starves_is_tried_once() -> None:
    opened = []

    async def opening() -> Any:
        opened.append(Busy())
        return opened[-1]

    suite = Suite("assert True", "f", Clock(10.0), 1.0)
    with pytest.raises(VerifierFault) as caught:
        asyncio.run(suite.trials([0], ["def f(x): return x"], Pair(opening, opening)))
    assert caught.value.fault == TOO_BUSY
    assert len(opened) == 2


def test_the_worker_waits_longer_than_a_busy_machine_may_take() -> None:
    for stage in (Run(), Run(budget=100.0), Tests()):
        assert stage.default_timeout >= 2 * 30 * stage.budget
    assert Tests().default_timeout >= 30 * (2 + 1) * Tests().budget  # and the task's own programs'
    assert Tests().at_once == 1


@pytest.mark.parametrize("kind", ["function", "stdio"])
def test_an_endless_program_is_run_on_one_case_of_many(kind: str) -> None:
    task = function_task(*range(40), time=0.3)
    source = f"def f(x):\n    {ENDLESS}"
    if kind == "stdio":
        cases = [{"stdin": f"{n}\n", "stdout": f"{n}\n"} for n in range(40)]
        task = task_of({"kind": "stdio", "cases": cases, "time": 0.3})
        source = ENDLESS
    statuses = [answer.status for answer in run(task, source)]

    assert statuses == ["timeout", *["skipped"] * 39]


RAISES = "def bad(v): raise KeyError\nassert twice(bad, 1) == 1"
CALLS = "assert twice(len, 'ab') == 1"


@pytest.mark.parametrize("test", [RAISES, CALLS])
def test_a_callback_that_is_called_without_end_uses_up_the_time_of_its_case(test: str) -> None:
    # The sides rest in turn, so only the frames between them cost anything.
    source = (
        "def twice(call, x):\n    while True:\n        try: call(x)\n        except Exception: pass"
    )
    other = "assert twice is not None and twice(len, '') == 0"
    task = task_of({"kind": "asserts", "entry_point": "twice", "test": [test, other], "time": 0.3})
    first, second = run(task, source)

    assert (first.status, second.status) == ("timeout", "skipped")
    assert first.wall < 1.0  # of a budget of 25


# -- on a busy machine


@contextmanager
def spinning(many: int) -> Iterator[None]:
    """So many processes that compute, each in a session of its own, as whole programs are."""
    pids = []
    for _ in range(many):
        pid = os.fork()
        if pid == 0:
            os.setsid()
            while True:
                pass
        pids.append(pid)
    try:
        yield
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


SUITE = {
    "kind": "suite",
    "golden": "def clamp(x, low, high):\n    return max(low, min(high, x))",
    "entry_point": "clamp",
    "mutants": ["def clamp(x, low, high):\n    return x"],
    "inputs": [["int", -20, 20], ["int", -5, 0], ["int", 1, 6]],
}
SUM = Task(
    "Write f.",
    info={
        "tests": {"kind": "function", "entry_point": "f", "cases": [{"args": [1], "expected": 1}]}
    },
    id="f",
)
CROWD = (
    "import os\ndef f(x):\n    for _ in range(16): os.fork() or [0 for _ in iter(int, 1)]\n   "
    f" {ENDLESS}"
)


@pytest.mark.slow  # keeps every processor of the machine busy
@pytest.mark.parametrize(
    ("isolation", "tier"), [("jail", "jail"), ("docker", "container"), ("docker+gvisor", "gvisor")]
)
def test_values_at_load_are_those_of_a_quiet_machine(isolation: str, tier: str) -> None:
    if isolation == "jail":
        jailed()
    elif "DOCKER_HOST" not in os.environ:
        pytest.skip("DOCKER_HOST is not set: no docker daemon for tests")
    box: dict[str, Any] = {"isolation": isolation, "min_isolation": tier}
    run = Slot("run", Run(timeout=0.5, **box))
    diff = Slot("diff", Diff(**box))
    runs = Environment("runs", [run, diff])
    suites = Environment("suites", [Slot("tests", Tests(timeout=0.5, budget=5.0, **box))])
    task = Task("Write tests.", info={"tests": SUITE}, id="clamp")
    with spinning(5 * (os.cpu_count() or 1)):
        programs = [f"def f(x):\n    {ENDLESS}", "def f(x): return x + 0 * sum(range(300_000))"] * 3
        found = [v.value for v in runs.evaluate_many([(SUM, p) for p in programs], workers=2)]
        texts = [
            f"clamp(1, 0, 5)\n{ENDLESS}",
            "assert clamp(9, 0, 5) == 5\nassert clamp(-9, 0, 5) == 0",
        ]
        worth = [v.value for v in suites.evaluate_many([(task, t) for t in texts], workers=2)]

    assert found == [0.0, 1.0] * 3
    assert worth == [0.0, 1.0]


@pytest.mark.slow  # keeps every processor of the machine busy
def test_programs_that_make_the_load_themselves_are_worth_nothing_and_pay_the_others() -> None:
    jailed()
    runs = Environment("runs", [Slot("run", Run(timeout=0.5)), Slot("diff", Diff())])
    programs = [CROWD, "def f(x): return x", CROWD, f"def f(x):\n    {ENDLESS}"] * 3
    found = [v.value for v in runs.evaluate_many([(SUM, p) for p in programs], workers=4)]

    assert found == [0.0, 1.0, 0.0, 0.0] * 3
