"""How long a case may take: a kernel without an end costs a part of its budget."""

from types import SimpleNamespace
from typing import Any

from rlenv_plugin_cuda.backends.driving import LEAST_S, shares


def cases(*sizes: int) -> Any:
    return [SimpleNamespace(elements=size) for size in sizes]


def test_a_case_gets_twice_its_part_of_the_time_of_those_that_are_at_least_as_large() -> None:
    assert shares(cases(10, 1000, 10, 1000), 11.0, 10.0) == [5.5, 10.0, 5.5, 10.0]


def test_no_case_gets_more_than_a_budget_or_too_little_to_begin() -> None:
    assert shares(cases(7), 11.0, 10.0) == [10.0]
    assert shares(cases(*[5] * 100), 1.5, 0.5) == [LEAST_S] * 100
    assert shares(cases(*[5] * 100), 1.0, 0.1) == [0.1] * 100
    assert shares([], 11.0, 10.0) == []
