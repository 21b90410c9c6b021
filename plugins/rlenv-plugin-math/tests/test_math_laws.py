"""The laws of rewards, as properties of ``math/equal``."""

from __future__ import annotations

import asyncio
import locale
import os
import random
import signal
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from decimal import getcontext

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from rlenv.compose.stages import Attempt
from rlenv.model.values import Outcome, Task
from rlenv_plugin_math import rlenv_attacks, rlenv_examples, rlenv_rewrites
from rlenv_plugin_math.equal import Equal

STAGE = Equal(symbolic=False)  # the rungs below SymPy; the worker has tests of its own
few = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
many = settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])

GOLDS = (
    "18",
    "\\frac{3}{4}",
    "x^2+2x+1",
    "(3,-4)",
    "\\{2,3,5\\}",
    "5 \\text{ kg}",
    "\\text{Tuesday}",
    "x=3",
    "2\\sqrt{3}",
)
PIECES = (
    "\\boxed{", "}", "{", "(", ")", "[", "]", "$", "$$", "\\(", "\\)", "\\[", "\\]", "<think>",
    "</think>", "<answer>", "</answer>", "####", "**", "\n", " ", "The answer is ", "Answer: ",
    "or", " and ", "not ", "maybe ", "18", "3", "-", "+", "/", "\\frac", "\\sqrt", "^", "_", "x",
    "=", "<", "\\le", "\\pm", "\\infty", "\\cup", "\\text{", "\\begin{pmatrix}", "\\end{pmatrix}",
    "&", "\\\\", "%", "\\%", "kg", "!", ",", ".", ";", ":", "?", "\x00", "\ud800", "\u200b", "½",
    "²", "−", "×", "１８", "∞", "π", "\\", "'", "\"", "|", "~~", "Wait, ", "9^9^9^9",
)  # fmt: skip

golds = st.sampled_from(GOLDS)
nasty = st.one_of(
    st.text(max_size=200),
    st.text(st.characters(exclude_categories=()), max_size=60),
    st.lists(st.sampled_from(PIECES), max_size=40).map("".join),
    st.lists(st.sampled_from(PIECES), max_size=12).map("".join).map(lambda t: f"\\boxed{{{t}}}"),
)
integers = st.integers(-(10**30), 10**30)
prose = st.text("abcdefghijklmnopqrstuvw ,.;:\n-", max_size=80)


def check(gold: object, response: str) -> Outcome:
    return STAGE.check(Attempt(Task("a question", answer=gold, id="t"), response))


def pays(gold: object, response: str) -> bool:
    return check(gold, response).score == 1.0


@many
@given(golds, nasty)
def test_range_and_total(gold: str, response: str) -> None:
    found = check(gold, response)
    assert type(found.score) is float
    assert found.score in (0.0, 1.0)
    assert found.data["how"] != "undecided" or found.data["state"] == "found"
    assert len(found.detail) < 400


@few
@given(golds, nasty)
def test_deterministic(gold: str, response: str) -> None:
    assert (
        check(gold, response)
        == check(gold, response)
        == Equal(symbolic=False).check(Attempt(Task("a question", answer=gold, id="t"), response))
    )


HEDGES = (
    "\\boxed{{{a}}} or \\boxed{{{b}}}", "\\boxed{{{b}}} or \\boxed{{{a}}}",
    "\\boxed{{{a}}}\n\n\\boxed{{{b}}}", "\\boxed{{{b}}}. \\boxed{{{a}}}", "\\boxed{{{a}, {b}}}",
    "\\boxed{{{b} \\text{{ or }} {a}}}", "The answer is {a} or {b}.",
    "The answer is {b}, or maybe {a}.", "Either {a} or {b}.", "Answer: {b}\nAnswer: {a}",
    "Answer: {a}\nAnswer: {b}", "#### {b}\n#### {a}", "<answer>{b}</answer><answer>{a}</answer>",
    "#### {a} or {b}", "\\boxed{{{a}}}\nThe answer is {b}.", "The answer is {b}.\n\\boxed{{{a}}}",
    "\\boxed{{{a}}} or {b}", "{b} or \\boxed{{{a}}}", "\\boxed{{{a}}}. It could also be {b}.",
    "\\boxed{{\\{{{a}, {b}\\}}}}", "I think {b}, but it could be {a}", "{a}, {b}", "{b}\n{a}",
    "{b} or {a}", "\\boxed{{{a} \\pm 1}}", "\\boxed{{{a} = {b}}}", "\\boxed{{{b} = {a}}}",
    "\\boxed{{{b} \\approx {a}}}", "<answer>{a}</answer>\n\\boxed{{{b}}}",
    "The answer is not \\boxed{{{a}}}.", "The answer is {a}. No, {b}.",
    "\\boxed{{{a}}} or perhaps {b}, who knows", "Answer: {a}; {b}",
)  # fmt: skip


@few
@given(st.integers(0, 10**6), st.integers(0, 10**6), st.sampled_from(HEDGES))
def test_no_hedging(a: int, b: int, form: str) -> None:
    assume(a != b and f"{a}{b}" != str(a))
    assert not pays(a, form.format(a=a, b=b))


@pytest.mark.parametrize("form", HEDGES)
def test_no_hedge_form_is_paid(form: str) -> None:
    assert not pays(18, form.format(a=18, b=17))


@few
@given(st.integers(100, 10**6), st.integers(1, 99), prose, prose)
def test_talk_around_a_wrong_answer_does_not_make_it_right(
    gold: int, wrong: int, before: str, after: str
) -> None:
    for form in (
        "{before} {gold} {before}\n\\boxed{{{wrong}}}\n{after}",
        "{before} \\boxed{{{wrong}}}. {after} {gold} {after}",
        "{before} {gold}.\n{after}\n#### {wrong}",
    ):
        assert not pays(gold, form.format(before=before, after=after, gold=gold, wrong=wrong))


@few
@given(integers, prose)
def test_talk_before_a_right_answer_costs_nothing(gold: int, before: str) -> None:
    assert pays(gold, f"{before}\n\nSo we get 17 of them.\n\n\\boxed{{{gold}}}")
    assert pays(gold, f"<think>{before} \\boxed{{17}}</think>\n\nThe answer is {gold}.")


FORMS = (
    "\\boxed{{{}}}",
    "$\\boxed{{ {} }}$.",
    "The answer is {}.",
    "Answer: ${}$",
    "#### {}",
    "<answer>{}</answer>",
    "**Final Answer**\n\n$${}$$",
    "A: {}",
    "{}",
)


@few
@given(integers, st.sampled_from(FORMS))
def test_an_integer_is_right_in_any_form_and_its_neighbor_in_none(gold: int, form: str) -> None:
    assert pays(gold, form.format(gold))
    assert not pays(gold, form.format(gold + 1))
    assert not pays(gold, form.format(-gold if gold else 1))


@few
@given(st.integers(-999, 999), st.integers(1, 999), st.integers(1, 99), st.sampled_from(FORMS))
def test_a_fraction_is_right_however_it_is_reduced(
    top: int, bottom: int, factor: int, form: str
) -> None:
    gold = f"\\frac{{{top}}}{{{bottom}}}"
    for same in (
        f"{top}/{bottom}",
        f"\\dfrac{{{top * factor}}}{{{bottom * factor}}}",
        f"-\\frac{{{-top}}}{{{bottom}}}",
    ):
        assert pays(gold, form.format(same))
    assert not pays(gold, form.format(f"{top * bottom + 1}/{bottom * bottom}"))


def test_meaning_not_form_over_all_examples() -> None:
    for suite in rlenv_examples()["equal"]:
        for task, response in suite.right:
            for rewrite in rlenv_rewrites()["equal"]:
                changed = rewrite.apply(task, response)
                if changed is not None:
                    assert STAGE.check(Attempt(task, changed)).score == float(rewrite.keeps), (
                        rewrite.name,
                        changed,
                    )


@few
@given(
    golds,
    st.sampled_from(
        [
            "",
            " ",
            "\n",
            "0",
            "1",
            "-1",
            "42",
            "nan",
            "inf",
            "true",
            "\\boxed{}",
            "\\boxed{x=x}",
            "\\boxed{0=0}",
            "I do not know.",
            "{}",
        ]
    ),
)
def test_no_free_lunch(gold: str, response: str) -> None:
    assert not pays(gold, response)


@few
@given(golds, st.text(max_size=30))
def test_random_text_is_not_paid(gold: str, response: str) -> None:
    assume(not any(c.isdigit() for c in response))
    assert not pays(gold, response)


def mixture() -> list[tuple[Task, str]]:
    suites = rlenv_examples()["equal"]
    pairs = [pair for suite in suites for pair in (*suite.right, *suite.wrong)]
    attacks = [
        (task, attack.build(task)) for task, _ in pairs[:3] for attack in rlenv_attacks()["equal"]
    ]
    return pairs + attacks


def outcomes(pairs: list[tuple[Task, str]]) -> list[Outcome]:
    return [STAGE.check(Attempt(task, response)) for task, response in pairs]


def test_purity() -> None:
    def state() -> tuple[object, ...]:
        return (
            dict(os.environ), os.getcwd(), sys.getrecursionlimit(), sys.get_int_max_str_digits(),
            locale.setlocale(locale.LC_ALL), signal.getsignal(signal.SIGALRM), random.getstate(),
            getcontext().prec, sys.gettrace(),
        )  # fmt: skip

    outcomes(mixture())
    before = state()
    threads = set(threading.enumerate())
    outcomes(mixture())
    assert state() == before
    assert set(threading.enumerate()) <= threads  # those of earlier tests may end meanwhile


def test_the_same_in_threads_and_in_asyncio() -> None:
    pairs = mixture()
    alone = outcomes(pairs)
    with ThreadPoolExecutor(8) as pool:
        assert (
            list(pool.map(lambda order: outcomes(pairs[::order])[::order], [1, -1, 1, -1]))
            == [alone] * 4
        )

    async def inside() -> list[Outcome]:
        return outcomes(pairs)

    assert asyncio.run(inside()) == alone


def test_the_same_whatever_came_before() -> None:
    pairs = mixture()
    alone = outcomes(pairs)
    order = list(range(len(pairs)))
    random.Random(7).shuffle(order)
    assert [outcomes([pairs[at]])[0] for at in order] == [alone[at] for at in order]
