"""The cases of a response: every shape, every distribution, in an order and number that its key
decides.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from rlenv.model.values import Task
from rlenv_plugin_cuda.cases import MOST, Case, cases_of
from rlenv_plugin_cuda.numbers import to_bytes
from rlenv_plugin_cuda.reading import kernel_of
from rlenv_plugin_cuda.spec import Kernel


def kernel(**more: Any) -> Kernel:
    said: dict[str, Any] = {
        "inputs": [["a", "f4", ["n"]]],
        "outputs": [["o", "f4", ["n"]], ["flags", "b1", [4]]],
        "golden": "return [a, a[:4] > 0]",
        "hidden": [{"n": 1}, {"n": 31}, {"n": 257}],
        "dists": ["normal", "big"],
        **more,
    }
    return kernel_of(Task("p", info={"kernel": said}))


def key(number: int) -> bytes:
    return number.to_bytes(32, "big")


def said(case: Case) -> tuple[Any, ...]:
    values = [to_bytes(value, "f4") for value in case.values.values()]
    return (case.sizes["n"], case.dist, case.seed, case.poison, values)


def test_the_same_key_gives_the_same_cases() -> None:
    first = cases_of(kernel(), key(1))
    again = cases_of(kernel(), key(1))
    assert [said(case) for case in first] == [said(case) for case in again]
    assert first == again


def test_other_keys_give_other_inputs_orders_and_numbers() -> None:
    drawn = [cases_of(kernel(), key(number)) for number in range(12)]
    assert len({len(cases) for cases in drawn}) > 1
    assert len({tuple((case.sizes["n"], case.dist) for case in cases) for cases in drawn}) > 8
    inputs = {
        case.values["a"].tobytes() for cases in drawn for case in cases if case.sizes["n"] == 257
    }
    assert len(inputs) >= 2 * 12


def test_every_shape_meets_every_distribution() -> None:
    pairs = {(case.sizes["n"], case.dist) for case in cases_of(kernel(), key(2))}
    assert pairs == {(n, dist) for n in (1, 31, 257) for dist in ("normal", "big")}


def test_one_case_comes_twice_over_complementary_outputs() -> None:
    for number in range(6):
        cases = cases_of(kernel(), key(number))
        (turned,) = [case for case in cases if case.inverted]
        (other,) = [c for c in cases if not c.inverted and said(c)[-1] == said(turned)[-1]]
        floats, flags = (np.frombuffer(part, "u1") for part in turned.poison)
        assert (floats ^ np.frombuffer(other.poison[0], "u1") == 255).all()
        assert (flags ^ np.frombuffer(other.poison[1], "u1") == 1).all()
        assert turned.seed != other.seed


def test_a_shape_comes_again_with_other_inputs_even_where_there_is_but_one() -> None:
    for number in range(6):
        cases = cases_of(kernel(hidden=[{"n": 9}], dists=["normal"]), key(number))
        assert len(cases) >= 3
        assert len({case.values["a"].tobytes() for case in cases}) == len(cases) - 1


def test_outputs_that_begin_as_zeros_do() -> None:
    for case in cases_of(kernel(output_init="zero"), key(3)):
        assert not any(map(any, case.poison))


def test_many_shapes_are_each_tried_though_not_with_every_distribution() -> None:
    many = kernel(hidden=[{"n": n} for n in range(1, 41)], dists=["normal", "big", "tiny", "spike"])
    cases = cases_of(many, key(4))
    assert {case.sizes["n"] for case in cases} == set(range(1, 41))
    assert {case.dist for case in cases} == {"normal", "big", "tiny", "spike"}
    assert len(cases) <= 40 + 4 + 3
    few = kernel(hidden=[{"n": n} for n in range(1, 11)], dists=["normal", "big", "tiny", "spike"])
    assert len(cases_of(few, key(4))) <= MOST + 3


def test_a_large_case_is_not_held() -> None:
    (case, *_) = cases_of(kernel(hidden=[{"n": 1 << 22}], dists=["normal"]), key(5))
    assert case.values is not case.values
    assert case.values["a"][:9].tobytes() == case.values["a"][:9].tobytes()
    small = cases_of(kernel(hidden=[{"n": 9}]), key(5))[0]
    assert small.values is small.values
