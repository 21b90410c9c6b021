"""A message about parameters of other libraries says what they are called here."""

from __future__ import annotations

import pytest
from rlenv import ConfigError, Environment


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (lambda response, ground_truth: 1, "ground_truth is `answer` here"),
        (lambda prompts, labels: 1, "prompts is `[prompt]` here; labels is `[answer]` here"),
        (lambda prediction, target: 1, "prediction is `response` here; target is `answer` here"),
    ],
)
def test_names_of_other_libraries_are_translated(function, says):
    with pytest.raises(ConfigError) as caught:
        Environment("e", function)
    assert says in str(caught.value)
