"""The last rung: SymPy, asked in a worker about what nothing cheaper settles."""

from __future__ import annotations

import subprocess
import sys

import pytest
from rlenv_plugin_math.compare import Options, decide
from rlenv_plugin_math.parser import parse

SAME = [
    (r"\int_0^1 x^2 dx", r"\frac13"),
    (r"\lim_{x\to 0}\frac{\sin x}{x}", "1"),
    (r"\lim_{x\to\infty}(1+1/x)^x", "e"),
    (r"\sum_{n=1}^\infty \frac1{n^2}", r"\frac{\pi^2}{6}"),
    (r"\sum_{n=0}^\infty \frac{1}{2^n}", "2"),
    (r"\sum_{k=1}^{1000000000} k", "500000000500000000"),
    (r"\int_0^{\pi} \sin x dx", "2"),
]
DIFFERENT = [
    (r"\int_0^1 x^2 dx", r"\frac14"),
    (r"\sum_{n=1}^\infty \frac1{n^2}", r"\frac{\pi^2}{7}"),
    (r"\lim_{x\to 0}\frac{\sin x}{x}", "0"),
    (r"\sum_{k=1}^n k^2", r"\frac{n(n+1)(2n+1)}{7}"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_sympy_proves_what_is_equal(one: str, other: str) -> None:
    from rlenv_plugin_math.symbolic import equal

    assert equal(parse(one), parse(other)) is True


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_sympy_does_not_take_one_for_another(one: str, other: str) -> None:
    from rlenv_plugin_math.symbolic import equal

    assert not equal(parse(one), parse(other))


def test_what_has_no_counterpart_in_sympy_is_left_open() -> None:
    from rlenv_plugin_math.symbolic import equal

    assert equal(parse("f(x)"), parse("3")) is None
    assert equal(parse(r"2^{10^{30}}"), parse("3")) is None
    assert equal(parse("(1, 2)"), parse("3")) is None


def test_the_ladder_asks_the_worker_and_says_so() -> None:
    right = decide(parse(SAME[0][0]), parse(SAME[0][1]), key=b"key")
    assert (right.equal, right.how) == (True, "symbolic")
    assert not decide(parse(SAME[0][0]), parse(r"\frac14"), key=b"key").equal


def test_a_question_that_outruns_its_budget_is_undecided() -> None:
    gold = parse(r"\sum_{k=1}^{1000000000} \sin k")
    given = parse("3")
    decision = decide(gold, given, key=b"key", options=Options(seconds=0.2))
    assert (decision.equal, decision.how, decision.decided) == (False, "undecided", False)


def test_neither_sympy_nor_mpmath_is_imported_for_plain_answers() -> None:
    program = (
        "import sys; from rlenv_plugin_math.compare import decide; "
        "from rlenv_plugin_math.parser import parse; "
        "assert decide(parse('1/2'), parse('0.5'), key=b'k').equal; "
        "assert not {'sympy', 'mpmath'} & set(sys.modules), 'heavy'"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
