"""Signatures of trainers' functions are registered by the distributions that adapt them."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from rlenv import ConfigError, Environment

Install = Callable[..., object]

MODULE = """
from rlenv.authoring import Signature
MINE = Signature(marks=frozenset({"essay"}), arguments={"essay": "response"}, stage="mine/graded")
OTHER = "not a signature"
"""


def graded(essay): ...


def message() -> str:
    with pytest.raises(ConfigError) as caught:
        Environment("e", graded)
    return str(caught.value)


def test_a_registered_signature_is_offered_with_a_call_that_works(install: Install) -> None:
    assert "This is" not in message()

    plugins = {"Mine": "my_signatures:MINE"}
    install("mine", plugins=plugins, group="rlenv.signatures", my_signatures=MODULE)

    assert "This is Mine's signature: pass lambda response: graded(essay=response)" in message()
    assert 'use = "mine/graded" and options = { function = ' in message()


@pytest.mark.parametrize("target", ["absent_module:MINE", "my_signatures:OTHER"])
def test_a_broken_signature_hides_no_message(install: Install, target: str) -> None:
    install("mine", plugins={"Mine": target}, group="rlenv.signatures", my_signatures=MODULE)

    assert "test_plugins_signatures:graded(essay): cannot supply essay;" in message()
