"""Tests that call a proxy: what crosses over between a test and a solution, and what does not."""

from __future__ import annotations

import pytest
from code_runs import closed_sandbox, judged, run, task_of
from rlenv.model.errors import TaskError, VerifierFault
from rlenv_plugin_code.drive.plan import Unproxied, plan

pytestmark = pytest.mark.usefixtures("closed_sandbox")
__all__ = ["closed_sandbox"]

SOLUTION = """
class Pair:
    kind = "pair"
    def __init__(self, a, b): self.a, self.b = a, b
    def total(self): return self.a + self.b
    def swapped(self): return Pair(self.b, self.a)
    def __len__(self): return 7
    def __getitem__(self, i): return (self.a, self.b)[i]
    def __eq__(self, other): return True
    def __sub__(self, other): return 0
    __hash__ = None
class Trouble(ValueError): pass
def half(x):
    if x % 2: raise Trouble("odd")
    return x // 2
def sort(xs): xs.sort(); return None
def cheat(xs): xs.clear(); return xs
def unique(xs): xs[:] = sorted(set(xs)); return len(xs)
def grow(table): table.setdefault("new", []).append(1); table["old"].append(2)
def best(pairs): return max(pair.total() for pair in pairs)
def twice(call, x): return call(call(x))
def count(n):
    for i in range(n): yield i
def adder(a): return lambda b: a + b
def liar(x): return Pair(1, 2)
def stop(x): raise SystemExit(0)
"""


def test_one_place_is_enough_for_a_test_and_its_solution(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RLENV_SANDBOX_SLOTS", "1")

    assert outcome("half", "assert half(4) == 2") is True


def outcome(entry: str, test: str, **more: object) -> object:
    """True, False or the status of the one case; the text of a test is what is asserted."""
    task = task_of({"kind": "asserts", "entry_point": entry, "test": test, **more})
    answer = run(task, SOLUTION)[0]
    return answer.value if answer.status == "ok" else answer.status


@pytest.mark.parametrize(
    ("entry", "test"),
    [
        ("half", "assert half(4) == 2"),
        (
            "half",
            "def check(candidate):\n    assert candidate(4) == 2\n    assert candidate(x=6) == 3",
        ),
        ("half", "def test_a():\n    assert half(4) == 2\ndef test_b():\n    assert half(0) == 0"),
        ("half", "assert [candidate(n) for n in (2, 4)] == list(map(half, [2, 4]))"),
        (
            "half",
            (
                "try:\n    half(3)\n    assert False\nexcept ValueError as err:\n    assert"
                " str(err) == 'odd'"
            ),
        ),
        (
            "half",
            (
                "try:\n    half(3)\n    assert False\nexcept Trouble as err:\n    assert str(err)"
                " == 'odd'"
            ),
        ),
        (
            "half",
            (
                "import pytest\nwith pytest.raises(ValueError, match='od'):\n    half(3)\nassert"
                " half(2) == 1"
            ),
        ),
        ("half", "import pytest\nassert half(5 + 1) == pytest.approx(3.0000001)"),
        ("sort", "xs = [3, 1, 2]\nassert sort(xs) is None\nassert xs == [1, 2, 3]"),
        (
            "grow",
            (
                "inner = [1]\nt = {'old': inner}\ngrow(t)\nassert inner == [1, 2] and t == {'old':"
                " [1, 2], 'new': [1]}"
            ),
        ),
        ("unique", "xs = [2, 1, 2]\nk = unique(xs)\nassert xs[:k] == [1, 2]"),
        ("twice", "assert twice(lambda v: v + 1, 3) == 5"),
        ("twice", "seen = []\ntwice(seen.append, 3)\nassert seen == [3, None]"),
        ("twice", "assert twice(adder(2), 3) == 7"),
        (
            "twice",
            (
                "def deep(v): return v if v > 9 else candidate(deep, v + 1)\nassert twice(deep, 1)"
                " == 10"
            ),
        ),
        (
            "twice",
            (
                "def bad(v): raise KeyError('k')\ntry:\n    twice(bad, 1)\n    assert 0\nexcept"
                " KeyError as e:\n    assert e.args == ('k',)"
            ),
        ),
        ("adder", "assert adder(1)(2) == 3"),
        (
            "count",
            (
                "assert list(count(3)) == [0, 1, 2]\nassert count(3) != [0, 1, 2]\nassert"
                " next(count(2)) == 0"
            ),
        ),
        ("best", "assert best([Pair(1, 2), Pair(a=3, b=4)]) == 7"),
        (
            "Pair",
            (
                "p = Pair(1, 5)\nassert (p.a, p.total(), len(p), p[1], p.swapped().a) == (1, 6, 7,"
                " 5, 5)"
            ),
        ),
        ("Pair", "p = Pair(1, 5)\np.a = 9\nassert p.total() == 14\nassert list(p) == [9, 5]"),
        ("Pair", "p = Pair(1, 5)\nassert isinstance(p, Pair) and p == p and Pair.kind == 'pair'"),
    ],
)
def test_what_a_test_may_ask_for(entry: str, test: str) -> None:
    assert outcome(entry, test) is True


@pytest.mark.parametrize(
    ("entry", "test"),
    [
        ("half", "assert half(4) == 3"),
        (
            "half",
            "def check(candidate):\n    assert candidate(4) == 2\n    assert candidate(6) == 4",
        ),
        ("half", "def test_a():\n    assert half(4) == 2\ndef test_b():\n    assert half(0) == 1"),
        ("liar", "assert liar(1) == 5"),
        ("liar", "assert liar(1)"),
        ("liar", "assert not liar(1)"),
        ("liar", "assert abs(liar(1) - 5) < 1e-6"),
        ("liar", "assert liar(1) in [5]"),
        ("liar", "assert liar(1) is not None"),
        ("Pair", "assert Pair(1, 2) == Pair(1, 2)"),
        ("Pair", "assert Pair(1, 2) == 5"),
        ("adder", "assert adder(1)"),
        ("stop", "assert stop(1) == 1"),
        ("count", "assert count(3) == [0, 1, 2]"),
        ("none", "assert none(1) is None"),
        ("cheat", "xs = [2, 1]\nassert cheat(xs) == sorted(xs)"),
    ],
)
def test_what_does_not_pass(entry: str, test: str) -> None:
    assert outcome(entry, test) is False


def test_each_text_is_a_case() -> None:
    task = task_of(
        {
            "kind": "asserts",
            "entry_point": "half",
            "test": ["assert half(2) == 1", "assert half(4) == 1"],
        }
    )
    answers = run(task, SOLUTION)
    assert [answer.value for answer in answers] == [True, False]
    assert answers[1].error == "AssertionError"


def test_what_the_prompt_defines_is_the_authors() -> None:
    prompt = "import math\ndef poly(x):\n    return x + 1\ndef root(x):\n    '''...'''\n"
    tests = {
        "kind": "asserts",
        "entry_point": "root",
        "test": "assert math.fabs(poly(root(2))) == 3",
    }
    mine = "def root(x): return x\ndef poly(x): return 1 / 0"
    assert run(task_of(tests, prompt), mine)[0].value is True


def test_setup_runs_before_each_test() -> None:
    tests = {"kind": "asserts", "entry_point": "half", "setup": "import math\nbase = [4]"}
    texts = ["assert half(base.pop()) == math.sqrt(4)", "assert half(base.pop()) == 2"]
    answers = run(task_of({**tests, "test": texts}), SOLUTION)
    assert [answer.value for answer in answers] == [True, True]


def test_a_solution_that_does_not_load_or_answer_passes_nothing() -> None:
    task = task_of({"kind": "asserts", "entry_point": "f", "test": ["assert f(1) == 1"] * 2})
    for source, status in (
        ("def f(:", "error"),
        ("import os\ndef f(x): os._exit(0)", "crash"),
        ("import os\ndef f(x): os.write(3, b'\\2\\0\\0\\0[]')", "protocol"),
        ("def f(x):\n    while True: pass", "timeout"),
    ):
        answers = run(task, source, timeout=0.7)
        assert answers[0].status == status
        assert all(answer.value is None for answer in answers)


def test_a_test_that_hangs_on_an_answer_is_the_answers_doing() -> None:
    assert (
        outcome("half", "for _ in range(half(10**30)): pass\nassert half(2) == 1", time=0.7)
        == "timeout"
    )


def test_endless_calls_back_and_forth_end() -> None:
    assert outcome("twice", "def deep(v): return candidate(deep, v + 1)\nassert deep(1)") == "error"


def test_a_test_that_fails_by_itself_is_nobodys_zero() -> None:
    for test in ("import no_such_module\nassert half(2) == 1", "assert half\nassert half(2) == 1"):
        with pytest.raises(VerifierFault, match="before the solution has answered"):
            outcome("half", test)


def test_the_detail_never_tells_what_was_expected() -> None:
    test = "got = half(4)\nassert got == 3, f'expected 3, got {got}'"
    task = task_of({"kind": "asserts", "entry_point": "half", "test": test})
    made, answers = judged(task, SOLUTION)
    assert "3" not in made.detail + answers.answers[0].error


@pytest.mark.parametrize(
    ("test", "said"),
    [
        ("from unittest.mock import patch\nassert half(2) == 1", "unittest"),
        ("import inspect\nassert half(2) == 1", "another sandbox"),
        ("from solution import half\nassert half(2) == 1", "another sandbox"),
        ("def test_a(monkeypatch):\n    assert half(2) == 1", "plain function"),
        ("half(2) ==", "line 1"),
        ("half(2)", "asserted"),
    ],
)
def test_what_cannot_be_proxied_is_refused_at_load(test: str, said: str) -> None:
    with pytest.raises(TaskError, match=said) as caught:
        outcome("half", test)
    assert caught.value.task_id == "the task"


def test_a_plan_names_what_the_text_takes_from_the_solution() -> None:
    text = (
        "def check(candidate):\n    x = Pair(1)\n    try: candidate(x, helper)\n    except Odd:"
        " assert len(x)"
    )
    made = plan(text, "def helper(): pass", "prose", "f")
    assert made.names == ("Pair", "f")
    assert made.errors == ("Odd",)
    assert made.classes == ("Pair",)
    assert made.calls == ("check",)
    with pytest.raises(Unproxied, match="asserts nothing"):
        plan("f(1)", "", "", "f")


def test_a_module_that_a_test_forgot_to_import_is_the_librarys() -> None:
    made = plan("assert math.isclose(f(2), 1.4, abs_tol=0.1)\nassert copy(f)(1)", "", "", "f")
    assert made.names == ("copy", "f")
    assert made.setup.strip() == "import math"
