"""Assertions that the judge decides itself mean what they mean in Python."""

from __future__ import annotations

from typing import Any

import pytest
from code_runs import closed_sandbox, run, task_of
from hypothesis import given
from hypothesis import strategies as st
from rlenv_plugin_code import prepared as module
from rlenv_plugin_code.codec import decode, encode
from rlenv_plugin_code.drive.claims import checks_of
from rlenv_plugin_code.drive.direct import _holds

pytestmark = pytest.mark.usefixtures("closed_sandbox")
__all__ = ["closed_sandbox"]

DECIDED = [
    "candidate(1) == 2",
    "candidate(1) != 2",
    "not candidate(1)",
    "candidate(1)",
    "candidate(1) is True",
    "candidate(1) is not None",
    "abs(candidate(1) - 0.5) < 1e-6",
    "abs(candidate(1) - 0.5) < 10 ** -6",
    "round(candidate(1), 2) == 0.33",
    "len(candidate(1)) == 2",
    "candidate(1) in [1, (2, 3), {4}]",
    "2 in candidate(1)",
    "1 <= candidate(1) <= 2",
    "candidate(1) == 'a' * 3 + 'b'",
    "candidate(1) == {'a': [1, -2], 'b': {3}} or False",
    "candidate(1) == [] and True",
    "candidate(1) == (None, 1.5, b'x', 2 - 3j)",
]
LEFT = [
    "candidate(x) == 2",
    "candidate(candidate(1)) == 2",
    "candidate(1) == candidate(2)",
    "sorted(candidate(1)) == [1]",
    "candidate(1) * 10 ** 9 == []",
    "candidate(1) is []",
    "candidate(*[1]) == 2",
    "candidate(**{'x': 1}) == 2",
    "candidate(1).strip() == 2",
    "candidate(1)[0] == 2",
    "candidate(...) == 2",
    "eval('1') == 1",
    "[x for x in candidate(1)] == [1]",
    "10 ** 10 ** 10 == candidate(1)",
    "1 / 0 == candidate(1)",
    "True",
    "False",
]


@pytest.mark.parametrize("test", DECIDED)
def test_predicates_over_one_call_are_decided_by_the_judge(test: str) -> None:
    made = checks_of(
        f"def check(candidate):\n    'doc'\n    assert {test}, 'why'\n    assert True", "f"
    )
    assert made is not None
    assert len(made) == 1
    assert decode(b"[" + made[0].call) == ["f", [1], {}]


@pytest.mark.parametrize("test", LEFT)
def test_everything_else_is_left_to_the_test_itself(test: str) -> None:
    assert checks_of(f"assert {test}", "f") is None


@pytest.mark.parametrize(
    "text",
    [
        "x = 1\nassert f(1) == 2",
        "import math\nassert f(1) == 2",
        "for x in [1]:\n    assert f(1) == 2",
        "def check(candidate, more):\n    assert candidate(1) == 2",
        "def check(candidate):\n    assert candidate(1) == 2\nassert f(1) == 2",
        "def test():\n    assert f(1) == 2",
        "f(1)",
        "assert f(",
    ],
)
def test_so_is_a_text_with_more_in_it(text: str) -> None:
    assert checks_of(text, "f") is None


def test_the_entry_point_may_be_called_by_its_name_or_as_candidate() -> None:
    made = checks_of("assert f(1, y=[2]) == 2\nassert candidate()", "f")
    assert made is not None
    assert decode(b"[" + made[0].call) == ["f", [1], {"y": [2]}]


plain = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats() | st.text(max_size=2),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=2)
    ),
    max_leaves=5,
)


@given(plain, st.sampled_from(DECIDED))
def test_a_predicate_says_what_python_says(value: Any, test: str) -> None:
    made = checks_of(f"assert {test}", "f")
    assert made is not None
    try:
        wanted = bool(eval(test, {"candidate": lambda _: value}))
    except Exception:
        wanted = False
    assert _holds(made[0], decode(encode(value))) is wanted


TEXTS = [
    ["assert f(2) == 4", "assert f(3) == 6"],
    ["assert f(2) == 4\nassert f(3) == 7", "assert f(1) == 2"],
    ["def check(candidate):\n    assert candidate('a') == 'aa'\n    assert not candidate(0)"],
    ["assert f(None) == 2", "assert f(1) == 2"],
    ["assert f(1) == 2\nassert f(2) == 4"] * 3,
    ["assert f(1) == 3\nassert f(2) == 4"] * 2,
]
SOLUTIONS = [
    "def f(x): return 2 * x",
    "def f(x): return x + x if x else False",
    (
        "class L(int):\n    def __eq__(self, other): return True\n    __hash__ = None\ndef f(x):"
        " return L(0)"
    ),
    "def f(x): raise SystemExit(0)",
    "def g(x): return 2 * x",
    "def f(:",
    "seen = []\ndef f(x):\n    seen.append(x)\n    return 2 * x if len(seen) < 2 else None",
]


@pytest.mark.parametrize("texts", TEXTS)
@pytest.mark.parametrize("source", SOLUTIONS)
def test_both_ways_come_to_the_same(
    monkeypatch: pytest.MonkeyPatch, texts: list[str], source: str
) -> None:
    task = task_of({"kind": "asserts", "entry_point": "f", "test": texts})
    decided = run(task, source)
    module._seen.clear()
    monkeypatch.setattr(module, "_checks", lambda _: ())
    relayed = run(task, source)
    module._seen.clear()
    assert [(a.status, a.value, a.error) for a in decided] == [
        (a.status, a.value, a.error) for a in relayed
    ]


def test_the_time_of_a_text_is_that_of_all_its_calls() -> None:
    tests = {"kind": "asserts", "entry_point": "f", "test": ["assert f(1) == 1\n" * 50] * 2}
    source = "import time\ndef f(x):\n    time.sleep(0.05)\n    return x"
    answers = run(task_of(tests), source, timeout=0.4)
    assert [answer.status for answer in answers] == ["timeout", "skipped"]
