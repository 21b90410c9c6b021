"""``code/tests``: a suite is worth the mistakes that it finds, and cannot tell them by anything but
behavior.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from code_runs import closed_sandbox, jailed, task_of
from rlenv.compose.stages import Attempt
from rlenv.model.errors import TaskError
from rlenv.model.values import Outcome, Task
from rlenv_plugin_code.drive.clock import Clock
from rlenv_plugin_code.drive.suites import Suite, Trial
from rlenv_plugin_code.stages.suite import Tests

pytestmark = pytest.mark.usefixtures("closed_sandbox")
__all__ = ["closed_sandbox"]

CLAMP = """
def clamp(x, low, high):
    if x < low:
        return low
    if x > high:
        return high
    return x
"""
INPUTS = [["int", -20, 20], ["int", -5, 0], ["int", 1, 6]]
THOROUGH = "for x in range(-10, 11):\n    assert clamp(x, -3, 4) == max(-3, min(4, x))"


def clamp(**more: Any) -> Task:
    tests = {
        "kind": "suite",
        "golden": CLAMP,
        "entry_point": "clamp",
        "inputs": INPUTS,
        "time": 1.0,
    }
    return task_of({**tests, **more})


def scored(suite: str, task: Task | None = None, **options: Any) -> Outcome:
    stage = Tests(isolation="process", min_isolation="process", **options)
    task = task or clamp()
    stage.validate(task)
    return asyncio.run(stage.check(Attempt(task, suite)))


def test_a_suite_that_finds_every_mistake_is_worth_everything() -> None:
    outcome = scored(THOROUGH)

    assert outcome.score == 1.0
    data: Any = outcome.data
    assert data["killed"] == data["mutants"] > 4


def test_a_suite_that_looks_at_one_case_is_worth_less_and_says_what_it_missed() -> None:
    outcome = scored("def test_high():\n    assert clamp(10, 0, 5) == 5")

    assert 0 < outcome.score < 1
    assert outcome.private["survivors"]
    assert scored("def test_high():\n    assert clamp(10, 0, 5) == 5", score="all").score == 0.0


@pytest.mark.parametrize(
    "suite",
    [
        (
            "def check(candidate):\n    for x in range(-9, 10):\n        assert candidate(x, -3, 4)"
            " == max(-3, min(4, x))"
        ),
        (
            "import pytest\n@pytest.mark.parametrize('x, y', [(1, 1), (9, 4), (-9, -3), (4, 4),"
            " (-3, -3)])\ndef test_it(x, y):\n    assert clamp(x, -3, 4) == y"
        ),
        (
            "import unittest\nclass TestIt(unittest.TestCase):\n    def test_it(self):\n"
            "        for x, y in [(1, 1), (9, 4), (-9, -3)]: self.assertEqual(clamp(x, -3, 4), y)"
        ),
        (
            "class TestIt:\n    def test_it(self):\n        for x, y in [(1, 1), (9, 4), (-9, -3)]:"
            " assert clamp(x, -3, 4) == y"
        ),
        f"```python\nfrom solution import clamp\n{THOROUGH}\n```\nThat is all.",
    ],
)
def test_suites_are_read_as_people_write_them(suite: str) -> None:
    assert scored(suite).score == 1.0


@pytest.mark.parametrize(
    "suite",
    [
        "",
        "def test_nothing(): pass",
        "assert clamp(1, 0, 5) == 2",
        "def test_it(: pass",
        "import sys; sys.exit(0)",
        "import os; os._exit(0)",
        "def test_refuse(): assert False",
        "clamp(1, 0, 5); assert clamp.__code__",
        "clamp(1, 0, 5); assert 'mutant' in repr(clamp)",
        "import inspect\nassert inspect.getsource(clamp)",
        (
            "import os, struct\nt = b'[\"end\",true]'\nos.write(3, struct.pack('<I', len(t)) +"
            " t)\nos._exit(0)"
        ),
        (
            "import os, struct\nclamp(1, 0, 5)\nt = b'[\"end\",1]'\nos.write(3, struct.pack('<I',"
            " len(t)) + t)\nos._exit(0)"
        ),
    ],
)
def test_nothing_is_paid_for_a_suite_that_tests_nothing(suite: str) -> None:
    assert scored(suite).score == 0.0


CHANCES = pytest.mark.slow  # five suites each, as for the one that stays


@pytest.mark.parametrize(
    "bound", [*(pytest.param(bound, marks=CHANCES) for bound in (64, 96, 192)), 128]
)
def test_a_suite_that_decides_by_chance_earns_next_to_nothing(bound: int) -> None:
    coin = f"import os\nclamp(1, 0, 5)\nassert os.urandom(1)[0] >= {bound}"

    worth = [scored(f"{coin}  # {i}").score for i in range(5)]

    assert sum(worth) / len(worth) < 0.25  # less than 0.03 is expected of the best of coins


def test_a_suite_that_never_ends_is_worth_nothing_and_ends_early() -> None:
    outcome = scored("while True: pass", clamp(time=0.2))

    assert outcome.score == 0.0
    assert "correct program" in outcome.detail


def test_a_mutant_that_hangs_is_found_by_a_suite_that_calls_it() -> None:
    count = "def count(n):\n    while n > 0:\n        n = n - 1\n    return n"
    endless = count.replace("n - 1", "n + 1")
    task = task_of(
        {
            "kind": "suite",
            "golden": count,
            "entry_point": "count",
            "cases": [{"args": [3]}],
            "mutants": [endless],
            "time": 0.3,
        }
    )

    outcome = scored("assert count(3) == 0", task)

    assert outcome.score == 1.0
    assert outcome.data["trials"] == {"hang": 1}


def test_mutants_that_answer_like_the_golden_program_do_not_count() -> None:
    same = CLAMP.replace("x < low", "x <= low")
    wrong = CLAMP.replace("return high", "return low")

    assert scored(THOROUGH, clamp(mutants=[same, wrong])).data["mutants"] == 1
    with pytest.raises(TaskError, match="every mutant answers as the golden program does"):
        scored(THOROUGH, clamp(mutants=[same]))


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"kind": "function"}, "tasks of kind \"suite\", not 'function'"),
        ({"mutants": 0}, "a number from 1 to 200"),
        ({"golden": "def other(): pass"}, "clamp"),
        ({"inputs": None}, "inputs"),
        ({"io": "stdio", "entry_point": None}, "a suite calls a function"),
    ],
)
def test_a_task_that_makes_no_sense_is_refused_when_it_loads(more: Any, message: str) -> None:
    with pytest.raises(TaskError, match=message):
        Tests(isolation="process", min_isolation="process").validate(clamp(**more))


class Shown:
    """Stands for the trials of a suite: notes which programs were shown."""

    def __init__(self, said: Callable[[int], Trial]) -> None:
        self.said = said
        self.numbers: list[int] = []

    async def __call__(self, _: None, source: str, __: Any) -> Trial:
        number = SOURCES.index(source)
        self.numbers.append(number)
        return self.said(number)


SOURCES = [f"def f(): return {n}" for n in range(5)]
ORDER = [3, 0, 1, 4, 2, 2, 0, 4, 1, 3]


@pytest.mark.parametrize(
    "said",
    [
        lambda _: Trial("pass", 1),
        lambda _: Trial("fail", 1),
        lambda number: Trial("fail" if number == 0 else "pass", 1),
        lambda number: Trial("hang" if number % 2 == 0 else "fail", 1),
    ],
)
def test_every_program_is_shown_equally_often_whatever_a_suite_says(
    said: Callable[[int], Trial], monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = Shown(said)
    monkeypatch.setattr(Suite, "_next", staticmethod(partial(shown, None)))
    suite = Suite("", "f", Clock(9.0), 1.0)
    pair: Any = None

    asyncio.run(suite.trials(ORDER, SOURCES, pair))

    assert shown.numbers == ORDER


def test_what_comes_after_an_endless_trial_does_not_depend_on_the_program(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pair: Any = None
    for endless in range(5):
        trials = [Trial("broken" if number == endless else "pass", 1) for number in range(5)]
        shown = Shown(trials.__getitem__)
        monkeypatch.setattr(Suite, "_next", staticmethod(partial(shown, None)))
        asyncio.run(Suite("", "f", Clock(9.0), 1.0).trials(ORDER, SOURCES, pair))
        first = ORDER.index(endless)
        assert shown.numbers == [n for i, n in enumerate(ORDER) if n != endless or i == first]


def test_a_suite_that_complains_before_it_calls_anything_is_tried_once() -> None:
    outcome = scored("assert False")

    assert outcome.score == 0.0
    assert "correct program" in outcome.detail


def test_a_suite_that_does_not_end_with_one_mutant_is_paid_for_the_others() -> None:
    endless = CLAMP.replace("return low", "return low + 100")
    wrong = CLAMP.replace("return high", "return low")
    suite = f"while clamp(-9, -3, 4) > 90: pass\n{THOROUGH}"  # calls, and nothing else

    outcome = scored(suite, clamp(mutants=[endless, wrong], time=2.0))

    assert outcome.data["trials"] == {"broken": 1, "fail": 1}
    assert outcome.score == 0.5


@pytest.mark.slow  # every mistaken program runs in the jail, for two responses
def test_the_order_of_the_programs_is_drawn_for_each_response() -> None:
    jailed()
    stage = Tests()
    one, other = (
        asyncio.run(stage.check(Attempt(clamp(), f"{THOROUGH}\n# {i}"))) for i in range(2)
    )

    assert one.score == other.score == 1.0
    assert one.data["isolation"] == "jail"
