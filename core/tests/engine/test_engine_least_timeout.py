"""A timeout that a response could reach before the stage's own limits end it is an error when the
environment is made.
"""

import pytest
from rlenv import Attempt, ConfigError, Environment, Outcome, Slot
from rlenv.compose.composites import AnyOf, Pipeline


class Limited:
    """Ends any response within ten seconds."""

    least_timeout = 10.0
    default_timeout = 20.0

    async def check(self, attempt: Attempt) -> Outcome:
        return Outcome(1.0)


class Contradictory(Limited):
    default_timeout = 5.0


@pytest.mark.parametrize("timeout", [0.1, 9.9])
def test_a_timeout_within_the_limits_of_the_stage_is_an_error(timeout: float) -> None:
    said = (
        rf"s \(.*Limited\): its timeout of {timeout:g} wall seconds is shorter than the 10 s .*"
        r" give it 10 s or more"
    )
    with pytest.raises(ConfigError, match=said):
        Environment("e", [Slot("s", Limited(), timeout=timeout)])
    Environment("e", [Slot("s", Limited(), timeout=10.0)]).close()
    Environment("e", [Slot("s", Limited())]).close()


def test_a_stage_whose_own_deadline_is_shorter_than_its_limits_is_an_error() -> None:
    with pytest.raises(ConfigError, match="its timeout of 5 wall seconds is shorter than the 10 s"):
        Environment("e", Contradictory())


@pytest.mark.parametrize("kind", [Pipeline, AnyOf])
def test_a_composite_has_time_for_all_the_stages_in_it(kind) -> None:
    """A response could use up its time in the first stage, and leave none for the second."""
    inner = kind([Slot("a", Limited()), Slot("b", Limited())])
    said = (
        "outer .*: its timeout of 19 wall seconds is shorter than the 20 s that the limits of the"
        " stages in it"
    )
    with pytest.raises(ConfigError, match=said):
        Environment("e", [Slot("outer", inner, timeout=19.0)])
    Environment("e", [Slot("outer", inner, timeout=20.0)]).close()
