"""``code/speed``: what a program costs beside the golden one; no assertion here is about
seconds.
"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from code_runs import closed_sandbox, jailed, task_of
from hypothesis import given
from hypothesis import strategies as st
from rlenv.compose.stages import Attempt
from rlenv.model.errors import TaskError
from rlenv.model.values import Outcome, Task
from rlenv_plugin_code.costs import Cost, score
from rlenv_plugin_code.stages.speed import Speed

pytestmark = pytest.mark.usefixtures("closed_sandbox")
__all__ = ["closed_sandbox"]

GOLDEN = "def total(n):\n    return sum(i for i in range(n) if i % 3 == 0)\n"


def total(n: int) -> int:
    return sum(i for i in range(n) if i % 3 == 0)


def task(**more: Any) -> Task:
    cases = [{"args": [n], "expected": total(n)} for n in (10, 60_000)]
    return task_of(
        {"kind": "function", "entry_point": "total", "golden": GOLDEN, "cases": cases, **more}
    )


def measured(source: str, given: Task | None = None, **options: Any) -> Outcome:
    stage = Speed(isolation="process", min_isolation="process", **options)
    given = given or task()
    stage.validate(given)
    return asyncio.run(stage.check(Attempt(given, source)))


def test_a_program_that_does_the_same_is_not_worth_less_than_one_that_does_it_ten_times() -> None:
    tenfold = (
        "def total(n):\n    for _ in range(10):\n        t = sum(i for i in range(n) if i % 3 =="
        " 0)\n    return t"
    )

    assert measured(tenfold).score < 0.5 < measured(GOLDEN).score


def test_work_at_import_in_threads_and_in_children_is_counted() -> None:
    work = "for _ in range(10): t = sum(i for i in range(60000) if i % 3 == 0)"
    child = f"    if not os.fork():\n        {work}\n        os._exit(0)\n    os.wait()\n"
    at_import = f"{work}\n{GOLDEN}"
    in_child = f"import os\ndef total(n):\n{child}    return sum(i for i in range(n) if i % 3 == 0)"

    assert measured(at_import).score < 0.6
    assert measured(in_child).score < 0.6


def test_memory_is_measured_too() -> None:
    hungry = GOLDEN.replace("    return", "    big = b'x' * (100 << 20)\n    return")

    assert measured(hungry, metric="memory").score < 0.2
    assert measured(GOLDEN, metric="memory").score == 1.0


@pytest.mark.parametrize(
    "source", ["", "def total(n): return 0", "def total(n: pass", "while True: pass"]
)
def test_speed_is_worth_nothing_where_an_answer_is_wrong(source: str) -> None:
    assert measured(source, task(time=0.3)).score == 0.0


def test_a_golden_task_is_measured_on_the_inputs_of_its_response() -> None:
    drawn = task_of(
        {
            "kind": "golden",
            "golden": GOLDEN,
            "entry_point": "total",
            "inputs": [["int", 0, 5000]],
            "count": 5,
        }
    )

    assert (
        measured(
            "def total(n):\n    k = (n - 1) // 3\n    return 3 * k * (k + 1) // 2", drawn
        ).score
        == 1.0
    )


@pytest.mark.parametrize(
    ("more", "message"),
    [({"golden": ""}, "golden"), ({"golden": "def total(n): return 1 / 0"}, "tests.golden fails")],
)
def test_what_cannot_be_measured_against_is_refused(more: Any, message: str) -> None:
    with pytest.raises(TaskError, match=message):
        measured(GOLDEN, task(**more))


@given(st.floats(0, 100), st.floats(0, 100), st.floats(0, 2))
def test_a_score_is_in_range_and_less_cost_is_never_worth_less(
    golden: float, own: float, slack: float
) -> None:
    worth = score(golden, own, slack, 0.002)

    assert 0.0 <= worth <= 1.0
    assert score(golden, own / 2, slack, 0.002) >= worth
    assert score(golden, golden, slack, 0.002) == 1.0


def test_a_cost_below_an_empty_program_s_is_none() -> None:
    assert Cost(1.0, 10).without(Cost(2.0, 20)) == Cost(0.0, 0)


@pytest.mark.parametrize(
    "hoard",
    [
        "open('/tmp/hoard', 'wb').write(b'x' * (40 << 20))",
        "kept = os.memfd_create('x'); [os.write(kept, b'x' * (1 << 20)) for _ in range(40)]",
        (
            "[os.fork() or (bytearray(b'x' * (10 << 20)), time.sleep(60)) for _ in range(4)];"
            " time.sleep(0.3)"
        ),
    ],
    ids=["in a file", "in a file without a name", "in four children"],
)
def test_memory_is_not_hidden_in_files_or_children(hoard: str) -> None:
    jailed()
    if not pytest.importorskip("rlenv_plugin_sandbox.jail.cgroups").homes():
        pytest.skip("no control groups here: the largest process is what is measured")
    source = f"import os, time\n{GOLDEN.replace('    return', f'    {hoard}{chr(10)}    return')}"
    stage = Speed(metric="memory", rounds=1)

    assert asyncio.run(stage.check(Attempt(task(), source))).score < 0.5
