"""``train/verl``: what a ``compute_score`` gets, and what it returns."""

from __future__ import annotations

import pytest
from rlenv import Task

SUMS = [
    Task("1+1=", answer="2", info={"data_source": "sums", "extra_info": {"level": 3}}),
    Task("1+1=", answer="2", info={"level": 3}),
]


@pytest.mark.parametrize("task", SUMS)
def test_a_function_of_verl_scores_and_the_rest_of_its_dict_is_private(files, task):
    options = {"scale": [-1, 1], "data_source": "sums"}
    right = files.result("verl", "compute_score", "2", task, **options).outcome

    assert (right.score, right.data) == (1.0, {})
    assert right.private == {"acc": True, "gold": "2"}
    assert files.score("verl", "compute_score", "3", task, **options) == 0.0


def test_an_async_function_of_verl_is_awaited(files):
    assert files.score("verl", "later") == 1.0


@pytest.mark.parametrize(
    ("function", "says"), [("nothing", "return 0.0"), ("keyless", 'no "score"')]
)
def test_what_is_no_score_is_a_fault(files, function, says):
    kind, message = files.fault("verl", function)

    assert kind == "contract"
    assert says in message
    assert files.fault("verl", "nothing", may_abstain=True)[0] == "abstained"
