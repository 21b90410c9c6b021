"""The rewards of several functions as one: a missing one stays missing, whatever stands next to
it.
"""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st
from rlenv_train.combine import LARGEST, combined, numbers

anything = st.one_of(st.none(), st.floats(), st.booleans(), st.integers(-(10**6), 10**6))
weights = st.lists(st.sampled_from([0.0, -1.0, 0.1, 1.0, 3.0]), min_size=1, max_size=4)


@given(st.lists(anything))
def test_a_reward_is_a_number_of_a_trainer_or_missing(values):
    for value, read in zip(values, numbers(values, len(values), "f"), strict=True):
        usable = value is not None and abs(value) <= LARGEST
        assert read == (value if usable else None)


@given(weights, st.data())
def test_a_sum_is_missing_exactly_where_a_function_that_counts_is(factors, data):
    row = data.draw(st.tuples(*[st.one_of(st.none(), st.floats(-1e6, 1e6)) for _ in factors]))
    (found,) = combined([[value] for value in row], factors)
    missing = any(value is None for value, weight in zip(row, factors, strict=True) if weight)

    assert (found is None) == missing
    assert found is None or math.isfinite(found)
