"""What makes comparisons fast changes no verdict: one field per secret, hopeless questions left
unasked.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from rlenv_plugin_math.compare import Options, decide
from rlenv_plugin_math.parser import parse

_SHOW = (
    "from rlenv_plugin_math.compare.field import field; f = field(); print(f.modulus,"
    " f.element('symbol x'))"
)


def _field(secret: str) -> str:
    environ = {**os.environ, "RLENV_SECRET": secret}
    command = [sys.executable, "-c", _SHOW]
    return subprocess.run(command, env=environ, capture_output=True, text=True, check=True).stdout


def test_every_process_with_one_secret_has_one_field() -> None:
    assert _field("a" * 32) == _field("a" * 32) != _field("b" * 32)


def test_points_are_drawn_from_the_gold_and_the_response_and_from_no_secret() -> None:
    """Who does not know the gold cannot compute them, and every machine has the same."""
    seed = "from rlenv_plugin_math.equal import _seed, golds; print(_seed('{}', golds('{}')).hex())"

    def drawn(response: str, gold: str, secret: str = "a" * 32) -> str:
        environ = {**os.environ, "RLENV_SECRET": secret}
        command = [sys.executable, "-c", seed.format(response, gold)]
        ran = subprocess.run(command, env=environ, capture_output=True, text=True, check=True)
        return ran.stdout

    assert drawn("x+1", "1+x") == drawn("x+1", "1+x", "b" * 32)
    assert len({drawn("x+1", "1+x"), drawn("x+2", "1+x"), drawn("x+1", "x+1")}) == 3


@pytest.mark.parametrize(
    "text",
    [r"\sum_{k=1}^{10^{12}} k!", r"\prod_{k=1}^{10^{12}} k", r"\int_0^{10^9} x^{x^{x^x}}\,dx"],
)
def test_what_must_outgrow_its_budget_is_not_asked(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ask(*_: object, **__: object) -> bool:
        raise AssertionError("SymPy was asked")

    monkeypatch.setattr("rlenv.workers.call", ask)
    decision = decide(parse("42"), parse(text), key=bytes(32), options=Options())
    assert not decision.equal
    assert not decision.decided


def test_a_key_is_made_only_where_points_are_drawn() -> None:
    drawn: list[int] = []

    def key() -> bytes:
        drawn.append(1)
        return bytes(32)

    assert not decide(parse("1/2"), parse("1/3"), key=key).equal
    assert not drawn
    assert decide(parse(r"\sin 2x"), parse(r"2\sin x\cos x"), key=key).equal
    assert drawn == [1]
