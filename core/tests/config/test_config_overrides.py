"""Options set from outside: by slot name, path or what the slot uses."""

from __future__ import annotations

from typing import Any

import pytest
from rlenv import Composite, ConfigError, Environment

ENV = {
    "name": "x",
    "stage": [
        {"use": "core/equal", "options": {"strip": True}},
        {"use": "core/any", "name": "either", "stage": [{"use": "core/equal", "name": "inner"}]},
    ],
}


def stages(**_: Any) -> tuple[Any, Any]:
    first, second = Environment.from_dict(ENV, set_options=_["set_options"]).slots
    assert isinstance(second.stage, Composite)
    return first.stage, second.stage.slots[0].stage


@pytest.mark.parametrize(
    ("key", "changed"),
    [
        ("core/equal.strip", (False, False)),
        ("equal.strip", (False, True)),
        ("inner.strip", (True, False)),
        ("either/inner.strip", (True, False)),
    ],
)
def test_a_setting_finds_its_stages(key: str, changed: tuple[bool, bool]) -> None:
    first, inner = stages(set_options={key: False})

    assert (first.strip, inner.strip) == changed


def test_the_slot_remembers_the_setting() -> None:
    slot = Environment.from_dict(ENV, set_options={"equal.case": True}).slots[0]

    assert slot.options == {"strip": True, "case": True}
    assert ENV["stage"][0] == {"use": "core/equal", "options": {"strip": True}}


@pytest.mark.parametrize(
    ("key", "value", "line"),
    [
        ("equal.strp", True, 'setting "equal.strp": unknown key; did you mean "strip"?'),
        ("equal.strip", "true", 'setting "equal.strip": expected true or false, got "true"'),
        ("equal.strip", "maybe", 'setting "equal.strip": expected true or false, got "maybe"'),
        (
            "equl.strip",
            True,
            'setting "equl.strip": no stage is named "equl"; did you mean "equal"?',
        ),
        ("strip", True, 'setting "strip": expected STAGE.OPTION, as in math/equal.unparsed'),
        (".strip", True, 'setting ".strip": expected STAGE.OPTION, as in math/equal.unparsed'),
        ("equal.", True, 'setting "equal.": expected STAGE.OPTION, as in math/equal.unparsed'),
    ],
)
def test_a_wrong_setting_is_told(key: str, value: Any, line: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Environment.from_dict(ENV, set_options={key: value})

    assert caught.value.problems == (line,)
