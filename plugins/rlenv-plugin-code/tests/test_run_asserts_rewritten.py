"""A test's expectation is not for the solution to rewrite through the arguments that it gets."""

from __future__ import annotations

import pytest
from code_runs import closed_sandbox, run, task_of
from rlenv_plugin_code.drive.asserted import REWRITTEN
from rlenv_plugin_code.drive.pinning import lines_that_pin

pytestmark = pytest.mark.usefixtures("closed_sandbox")
__all__ = ["closed_sandbox"]

SORTED = "x = [3, 1, 2]\nout = candidate(x)\nassert out == sorted(x)"
SAME_LENGTH = SORTED + "\nassert len(out) == len(x)"
LOOPED = "d = {'a': 1}\nout = candidate(d)\nfor k, v in d.items():\n    assert out[v] == k"
HELPED = (
    "def same(given):\n    got = candidate(given)\n    return got == sorted(given)\nassert"
    " same([2, 1])"
)
CHECKED = (
    "def check(candidate):\n    x = {2, 1}\n    out = candidate(x)\n    assert all(v in out for v"
    " in x)"
)
METHOD = "s = candidate()\nx = [2, 1]\ns.fill(x)\nassert s.all() == sorted(x)"
ALIASED = "x = [3, 1, 2]\ny = x\nout = candidate(y)\nassert out == sorted(x)"

CLEARED = "def f(xs):\n    xs.clear()\n    return type(xs)()"
CLEARED_TO_NONE = "def f(xs):\n    xs.clear()"
REPLACED = "def f(xs):\n    xs[:] = [0]\n    return [0]"
SECOND_TIME = (
    "n = 0\ndef f(xs):\n    global n\n    n += 1\n    if n == 1:\n        xs.clear()\n    return []"
)
FILLED = "class f:\n    def fill(self, xs): xs.clear()\n    def all(self): return []"


def verdict(test: str, source: str, **more: object) -> tuple[object, str]:
    task = task_of({"kind": "asserts", "entry_point": "f", "test": test, **more})
    answer = run(task, source)[0]
    return answer.value if answer.status == "ok" else answer.status, answer.error


@pytest.mark.parametrize(
    ("test", "source"),
    [
        (SORTED, CLEARED),
        (SORTED, REPLACED),
        (SORTED, SECOND_TIME),
        (SAME_LENGTH, CLEARED),
        (SAME_LENGTH, REPLACED),
        (LOOPED, CLEARED),
        (LOOPED, CLEARED_TO_NONE),
        (HELPED, CLEARED),
        (CHECKED, CLEARED),
        (METHOD, FILLED),
        (ALIASED, CLEARED),
    ],
)
def test_a_rewritten_expectation_is_not_met(test: str, source: str) -> None:
    assert verdict(test, source)[0] is not True


def test_the_reason_is_given() -> None:
    assert verdict(SAME_LENGTH, REPLACED) == (False, REWRITTEN)


@pytest.mark.parametrize(
    ("test", "source"),
    [
        (SAME_LENGTH, "def f(xs):\n    xs.sort()\n    return xs"),  # right, and careless
        (SORTED, "def f(xs): return sorted(xs)"),
        ("x = [3, 1]\nf(x)\nassert x == [1, 3]", "def f(xs): xs.sort()"),
        ("x = [3, 1]\nf(x)\nassert x == sorted(x)", "def f(xs): xs.sort()"),
        (
            "x = [3, 1]\nout = f(x)\nassert out == x\nassert x == [1, 3]",
            "def f(xs):\n    xs.sort()\n    return xs",
        ),
        (
            "x = [2, 1, 2]\nk = f(x)\nassert k == 2\nassert sorted(x[:k]) == [1, 2]",
            "def f(xs):\n    xs[:] = sorted(set(xs))\n    return len(xs)",
        ),
        (
            "inner = [1]\nt = {'old': inner}\nf(t)\nassert inner == [1, 2]",
            "def f(t): t['old'].append(2)",
        ),
        (
            "def run(v): return f(v)\nx = [2, 1]\nrun(x)\nassert x == [1, 2]",
            "def f(xs):\n    xs.sort()\n    return 0",
        ),
        ("for x in ([2, 1], [4, 3]):\n    f(x)\n    assert x[0] < x[1]", "def f(xs): xs.sort()"),
    ],
)
def test_honest_work_on_arguments_passes(test: str, source: str) -> None:
    assert verdict(test, source) == (True, "")


def test_a_golden_program_says_which_changes_a_test_needs() -> None:
    # What no reading of this text tells: the result is compared with the argument, and both are to
    # be sorted.
    test = "x = [3, 1]\nout = f(x)\nassert out == x and out[0] == 1"
    honest = "def f(xs):\n    xs.sort()\n    return xs"
    assert verdict(test, honest)[0] is False
    assert verdict(test, honest, golden="def f(v):\n    v.sort()\n    return v") == (True, "")
    assert verdict(SORTED, CLEARED, golden="def f(v): return sorted(v)")[0] is False
    pinned = "x = [3, 1]\nout = f(x)\nassert len(x) >= 0\nassert sorted(x) == list(out)"
    assert verdict(pinned, CLEARED, golden="def f(v): return sorted(v)")[0] is False


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (SORTED, ()),
        (LOOPED, ()),
        ("x = [1]\nf(x)\nassert x == [2]", ((2, 2),)),
        ("x = [1]\nf(\n    x\n)\nassert x", ((2, 4),)),
        ("x = [1]\nout = f(x)\nassert len(x) > 0\nassert out == sorted(x)", ()),
        ("assert f([1]) == [1]", ()),
    ],
)
def test_an_argument_is_pinned_by_assertions_without_a_result(text: str, lines: object) -> None:
    assert lines_that_pin(text, frozenset({"f", "candidate"})) == lines
