"""What a new criterion tells apart, and whether it says what another one says."""

from __future__ import annotations

from rlenv_plugin_judge.rubric.evolving import against, refused, same, spread, told_already


def test_the_arithmetic_of_a_group() -> None:
    assert spread([0.0, 1.0]) == 0.5
    assert spread([1.0, 1.0, 1.0]) == 0.0
    assert told_already([1.0, 0.0], {"a": [0.0, 1.0]}) == "a"
    assert told_already([1.0, 0.0, 0.0], {"a": [0.0, 1.0, 0.0]}) == ""
    assert against([1.0, 0.0], [0.0, 1.0], positive=True)
    assert not against([1.0, 0.0], [0.0, 1.0], positive=False)


def test_statements_are_compared_by_the_words_that_carry_them() -> None:
    assert same("It cites sources.", "The response does not cite any source")
    assert not same("It cites sources.", "It explains scattering.")
    assert refused("It cites sources for claims.", ["Scattering."]) == ""
    assert "quotes" in refused("one two three four five six", ["ONE two, three four five six!"])
