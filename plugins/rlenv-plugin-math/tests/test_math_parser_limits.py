"""Whatever the text, parsing is quick, bounded, and ends in a tree or in ``Unparsed``."""

from __future__ import annotations

import sys
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rlenv_plugin_math.limits import DEPTH, DIGITS, HEIGHT, LENGTH, TOKENS
from rlenv_plugin_math.parser import Unparsed, parse
from rlenv_plugin_math.printer import render
from rlenv_plugin_math.tree import Mul, Num, Pow, Text, height

DEEP = [
    "(" * 10_000 + "x" + ")" * 10_000, "(" * 900 + "x" + ")" * 900, "{" * 1_500, "\\frac{" * 700,
    "\\sqrt" * 800 + "2", "-" * 1_900 + "5", "2" + "^2" * 900, "x" + "!" * 1_900, "1" + "/1" * 900,
    "1" + " mod 1" * 600, "\\sin" * 900 + " x", "|" * 1_900, "\\neg" * 900 + " x",
    "\\pm" * 900 + "1", "1" + "\\pm 1" * 700, "A" + "\\cup B\\cap C" * 300,
    "{1" + "\\over 1" * 500 + "}", "[" * 1_900, "\\{" * 1_900, "\\left(" * 600,
    "\\int" * 900 + "x dx", "\\begin{pmatrix}" * 280, "f(" * 900, "f" + "\\circ f" * 500,
    "1" + "^\\circ" * 600, "\\hat " * 700 + "x", "x_" + "{" * 1_900,
]  # fmt: skip
WIDE = [
    "x" + "'" * 1_900, "," * 4_000, "1," * 999, "1" + ",234" * 1_000, "no " * 1_400, "ab" * 2_000,
    "5" + " cm" * 900, "x" + "_1" * 1_900, "1A" * 900 + "_" * 10, "1_2" * 1_400, "x" + "<x" * 900,
    "0.(1)" * 800, "1" + ":1" * 900, "$" * 4_300, '"' * 4_300, "*" * 4_300, "\\" * 4_300,
    "\x00" * 4_000, "\ud800" * 4_000, "½²³" * 1_300, "x\u0301" * 2_000, "\ufdfa" * 4_000,
    "\\text{" * 700, "5" + "%" * 1_900, "\\$" * 1_900 + "5",
    "\\begin{pmatrix}" + "1&" * 900 + "1\\end{pmatrix}", "x" * 10_000_000, " " * 1_000_000,
    "\\mathbf{i}" * 400, "\\lim_{x\\to0}" * 300 + "x", "1" + " and 1" * 600,
    "x=1" + "\\land x=1 \\lor x=2" * 150,
]  # fmt: skip


def outcome(text: str) -> object:
    try:
        tree = parse(text)
    except Unparsed as refused:
        return refused
    hash(tree)
    render(tree)
    assert height(tree) <= HEIGHT
    return tree


@pytest.mark.parametrize("text", DEEP, ids=lambda text: text[:12])
def test_deep_nesting_is_refused_and_never_recurses_too_far(text: str) -> None:
    assert isinstance(outcome(text), Unparsed)


@pytest.mark.parametrize("text", WIDE, ids=lambda text: ascii(text[:12]))
def test_long_texts_end_in_a_tree_or_a_refusal(text: str) -> None:
    outcome(text)


def test_the_depth_that_is_allowed_works_deep_inside_a_callers_stack() -> None:
    text = "1+2(" * (DEPTH - 1) + "x" + ")" * (DEPTH - 1)

    def down(levels: int) -> object:
        return down(levels - 1) if levels else outcome(text)

    room = sys.getrecursionlimit() - 700
    results: list[object] = []
    thread = threading.Thread(target=lambda: results.append(down(room)))
    thread.start()
    thread.join()
    assert not isinstance(results[0], Unparsed)


def test_a_stack_that_is_nearly_full_gives_a_refusal_and_no_recursion_error() -> None:
    text = "(" * (DEPTH - 1) + "x" + ")" * (DEPTH - 1)

    def down(levels: int) -> object:
        if levels:
            return down(levels - 1)
        with pytest.raises(Unparsed, match="too deep"):
            parse(text)
        return "refused"

    results: list[object] = []
    thread = threading.Thread(target=lambda: results.append(down(sys.getrecursionlimit() - 150)))
    thread.start()
    thread.join()
    assert results == ["refused"]


def test_the_longest_literal_is_read_and_one_digit_more_is_refused() -> None:
    assert parse("$-" + "7" * DIGITS + "$") == Num(-parse("7" * DIGITS).value)  # type: ignore[union-attr, operator]
    with pytest.raises(Unparsed, match="too many digits"):
        parse("x+" + "7" * (DIGITS + 1))
    with pytest.raises(Unparsed, match="too long"):
        parse("7" * (LENGTH + 1))


def test_too_many_signs_are_refused_by_number() -> None:
    with pytest.raises(Unparsed, match="too many signs"):
        parse("x+" * (TOKENS // 2 + 1) + "x")


@pytest.mark.parametrize(
    "text", ["10^{999999999}", "9^{9^{9^9}}", "1000000!", "2^{2^{100}}", "10^10^10^10"]
)
def test_nothing_huge_is_computed(text: str) -> None:
    assert not isinstance(parse(text), Num)


@pytest.mark.parametrize("text", ["1e999999999", "1.5 \\times 10^{99999}"])
def test_scientific_notation_beyond_the_limit_stays_a_power(text: str) -> None:
    tree = parse(text)
    assert isinstance(tree, Mul)
    assert isinstance(tree.args[1], Pow)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        "$$",
        "+",
        "=",
        "3+",
        "(1,2",
        "1)",
        "\\frac{1}{",
        "\\frac{1}{}",
        "x^",
        "1 2",
        "4?",
        "\\foo",
        "\\sqrt{}",
        "0.\\overline{33}1",
        "1.2.3.4",
        "\\begin{pmatrix}1",
        "\\begin{pmatrix}1\\end{bmatrix}",
        "\\left(1",
        "|x",
        "\\int 12",
    ],
)
def test_broken_mathematics_is_refused_with_a_reason_and_a_place(text: str) -> None:
    with pytest.raises(Unparsed) as caught:
        parse(text)
    assert caught.value.reason
    assert 0 <= caught.value.at <= len(text)


def test_a_refusal_survives_pickling() -> None:
    import pickle

    error = pickle.loads(pickle.dumps(Unparsed("too long", 7)))
    assert (error.reason, error.at) == ("too long", 7)


TEXTS = r"""
    \frac{1}{2} \sqrt \left( \right) [ ] { } ( ) , ; : . ... 1 2 10 1,234 0.5 .5 x y i e \pi \infty
    + - * / ^ _ ! ' % \% $ \$ = < > \le \ne \in \cup \setminus \pm \sin \log_2 \ln f( f' \sum_{k=1}^n
    \int_0^1 dx \lim_{x\to0} \text{ and or } \text{cm} cm apples no solution \mathbb{R} & \\
    \begin{pmatrix} \end{pmatrix} \begin{cases} \end{cases} \mathbf{i} | \{ \} \mid \pmod{7} (mod 101_2
    3:45 pm March 5 (C) A ^\circ ° ² ½ − π ≤ ∪ \overline{3} \binom \choose \over \implies \land \lnot
    \angle \circ twenty half million per \, ~ { , } ١
"""
PIECES = [*TEXTS.split(), "\x00", "\ud800", "\u200b"]


@settings(max_examples=400, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(PIECES), st.sampled_from(["", " "])), max_size=14))
def test_any_heap_of_pieces_gets_a_tree_or_a_refusal(pieces: list[tuple[str, str]]) -> None:
    outcome("".join(piece + gap for piece, gap in pieces))


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=60))
def test_any_text_gets_a_tree_or_a_refusal(text: str) -> None:
    outcome(text)


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.sampled_from(["the", "cat", "sat", "on", "a", "mat", "while", "it", "rained"]),
        min_size=2,
        max_size=8,
    )
)
def test_sentences_become_text(words: list[str]) -> None:
    assert isinstance(parse(" ".join(["so", *words, "indeed"])), Text)
