"""What a client sends becomes an action, also JSON null, which is no action of Python."""

from __future__ import annotations

import pytest
from rlenv_serve.sessions.actions import Action


@pytest.mark.parametrize(
    ("value", "played"), [(None, "null"), (7, 7), ({"go": "up"}, {"go": "up"})]
)
def test_a_value_of_a_game_is_never_none(value: object, played: object) -> None:
    assert Action("value", value=value).as_step() == played
