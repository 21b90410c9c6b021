"""What makes comparisons fast changes no verdict: one field per secret, hopeless questions left unasked."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from rlenv_plugin_math.compare import Options, decide
from rlenv_plugin_math.parser import parse

_SHOW = "from rlenv_plugin_math.compare.field import field; f = field(); print(f.modulus, f.element('symbol x'))"


def _field(secret: str) -> str:
    environ = {**os.environ, "RLENV_SECRET": secret}
    command = [sys.executable, "-c", _SHOW]
    return subprocess.run(command, env=environ, capture_output=True, text=True, check=True).stdout


def test_every_process_with_one_secret_has_one_field() -> None:
    assert _field("a" * 32) == _field("a" * 32) != _field("b" * 32)


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
