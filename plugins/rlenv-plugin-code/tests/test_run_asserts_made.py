"""Objects that a test makes of a solution's classes: when what they hold is what the test
expects.
"""

from __future__ import annotations

import pytest
from code_runs import closed_sandbox, run, task_of

pytestmark = pytest.mark.usefixtures("closed_sandbox")
__all__ = ["closed_sandbox"]


def passed(source: str, entry: str, *tests: str) -> list[object]:
    """True, False or the status of each text."""
    answers = run(task_of({"kind": "asserts", "entry_point": entry, "test": [*tests]}), source)
    return [answer.value if answer.status == "ok" else answer.status for answer in answers]


@pytest.mark.parametrize(
    ("base", "given", "expected"),
    [
        ("frozenset", "[1, 2]", "[2, 1]"),
        ("set", "(1, 2)", "(2, 1)"),
        ("set", "'ab'", "'ba'"),
        ("set", "{1: 2, 2: 1}", "{1: 1, 2: 2}"),
        ("dict", "[[1, 2], [3, 4]]", "[[3, 4], [1, 2]]"),
        ("dict", "('ab', 'cd')", "('cd', 'ab')"),
        ("list", "{1: 2}", "{1: 3}"),
        ("tuple", "{1: 2}", "{1: 3}"),
        ("int", "2.25", "2.75"),
        ("int", "'7'", "'0_7'"),
        ("float", "2**53", "2**53 + 1"),
    ],
)
def test_a_class_that_forgets_what_its_objects_are_made_of_makes_no_expected_value(
    base: str, given: str, expected: str
) -> None:
    source = f"""
class Vector({base}): pass
class Solution:
    def turn(self, v): return Vector(v)
"""
    claims = (
        f"candidate().turn(Vector({given})) == Vector({expected})",
        f"candidate().turn({given}) == Vector({expected})",
        f"candidate().turn({given}) in [Vector({expected})]",
        f"Vector({expected}) == candidate().turn({given})",
        f"candidate().turn({given}) <= Vector({expected})",
    )
    tests = [f"assert {claim}" for claim in claims]
    assert passed(source, "Solution", *tests) == [False] * 5


@pytest.mark.parametrize(
    ("base", "made"),
    [
        ("frozenset", "{1, 2}"),
        ("set", "[1]"),
        ("set", "frozenset((1, 2))"),
        ("dict", "{1: 2, 3: 4}"),
        ("dict", "a=1, b=2"),
        ("dict", "[(1, 2)]"),
        ("list", "(1, 2)"),
        ("tuple", "[2, 1]"),
        ("list", "'ab'"),
        ("str", "{1: 2}"),
        ("int", "7"),
        ("int", "'7'"),
        ("float", "0.5"),
        ("float", "2"),
        ("bytes", "3"),
        ("frozenset", ""),
    ],
)
def test_an_object_that_holds_all_it_was_made_of_is_an_expected_value(base: str, made: str) -> None:
    source = f"class Vector({base}): pass\ndef same(*v, **k): return Vector(*v, **k)"
    assert passed(source, "same", f"assert same({made}) == Vector({made})") == [True]


STUFFED = """
class Vector(list):
    def __init__(self, xs=()): super().__init__([*xs, *range(100)])
class Late(list):
    def __len__(self): self.append(7); return 1
class Empty(list):
    def __init__(self, xs=()): pass
class Keys(dict):
    def add(self, value): self[len(self)] = value; return len(self) - 1
def seven(): return 7
def pick(v): v.append(7); return 7
def fill(v, n): v.append(n)
"""


@pytest.mark.parametrize(
    ("entry", "test", "value"),
    [
        ("Keys", "k = Keys()\nassert k.add('a') in k and 5 not in k", True),
        ("Keys", "k = Keys()\nx = k.add('a')\nassert x in k", True),
        ("pick", "e = Late([1])\nx = pick(e)\nassert x in e", True),
        ("pick", "e = Late([1])\nassert pick(e) in e", False),
    ],
)
def test_what_a_call_puts_into_an_object_counts_outside_of_the_assertion(
    entry: str, test: str, value: bool
) -> None:
    """A method of the object itself may put something there at any time."""
    assert passed(STUFFED, entry, test) == [value]


def test_an_object_that_only_the_solution_filled_holds_no_answer() -> None:
    wrong = (
        "assert seven() in Vector([1])",
        "x = seven()\nassert x in Vector([1])",
        "e = Vector([1])\nassert seven() in e",
        "e = Late([1])\nlen(e)\nassert seven() in e",
        "assert seven() not in Empty([7])",
    )
    right = (
        "assert seven() in Late([1, 7])",
        "assert 7 in Vector([1]) and seven() == 7",
        "e = Late([1])\nfill(e, 7)\nassert seven() in e",
        "e = Late([1])\ne[0] = seven()\nassert seven() in e",
    )
    assert passed(STUFFED, "seven", *wrong) == [False] * 5
    assert passed(STUFFED, "seven", *right) == [True] * 4
