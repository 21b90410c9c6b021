"""Mutants: one change each, repeatable, never the same twice, and none in what is only said."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rlenv_plugin_code.mutate import mutants

SOURCE = '''
def f(xs: list[int], k: int = 3) -> int:
    """The text of a docstring."""
    total = 0
    for i in range(len(xs)):
        if xs[i] > k and i % 2 == 0:
            total += xs[i]
        else:
            continue
    return max(total, k)
'''


def test_the_same_seed_draws_the_same_mutants() -> None:
    assert mutants(SOURCE, 8, 1) == mutants(SOURCE, 8, 1)
    assert mutants(SOURCE, 8, 1) != mutants(SOURCE, 8, 2)


def test_every_mutant_is_another_program_that_compiles() -> None:
    found = mutants(SOURCE, 500)
    trees = {ast.dump(ast.parse(mutant.source)) for mutant in found}

    assert len(found) == len(trees) > 20
    assert ast.dump(ast.parse(SOURCE)) not in trees


def test_docstrings_and_annotations_stay() -> None:
    for mutant in mutants(SOURCE, 500):
        assert "The text of a docstring." in mutant.source
        assert "xs: list[int], k: int" in mutant.source
        assert mutant.line != 3


@pytest.mark.parametrize(
    ("source", "changed"),
    [
        ("def f(a, b): return a + b", "a - b"),
        ("def f(a, b): return a < b", "a <= b"),
        ("def f(a): return a[0]", "a[1]"),
        ("def f(a): return not a", "return a"),
        ("def f(a, b): return a and b", "a or b"),
        ("def f(a): return a", "return None"),
        ("def f(a, b): return pow(a, b)", "pow(b, a)"),
        ("def f(n): return [i for i in range(n)]", "range(n + 1)"),
        ("def f(a):\n    if a: return 1\n    return 2", "if not a"),
    ],
)
def test_what_a_tired_programmer_gets_wrong_is_among_them(source: str, changed: str) -> None:
    assert any(changed in mutant.source for mutant in mutants(source, 100))


@given(st.integers(0, 30), st.integers(0, 5))
def test_there_are_never_more_than_asked_for(most: int, seed: int) -> None:
    assert len(mutants(SOURCE, most, seed)) <= most


def test_a_program_without_anything_to_change_has_none() -> None:
    assert mutants("import os", 5) == []
