"""The audit on verifiers with one planted hole each, and on sound ones.

A fifth of the zoo is audited here; ``make audit-zoo`` audits all of it.
"""

from __future__ import annotations

import importlib
import os
from pathlib import Path

import pytest
from rlenv_audit import audit
from zoo_members import MEMBERS, Member

ZOO = Path(__file__).parent / "zoo"
for module in ("zoo_numbers", "zoo_state", "zoo_words"):
    importlib.import_module(module)
NAMED = {member.name: member for member in MEMBERS}
ALL = os.environ.get("RLENV_ZOO") == "all"
ASKED = [m for n, m in enumerate(MEMBERS) if ALL or n % 5 == 0]


@pytest.fixture(autouse=True)
def _beside_the_zoo(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ZOO)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ZOO), os.environ.get("PYTHONPATH", "")]))


def found(member: Member) -> list[str]:
    card = audit(
        member.name,
        signature=member.signature,
        tasks_from=str(ZOO / f"{member.tasks}.jsonl"),
        archetype=member.archetype,
        tasks=12,
        budget=30.0,  # a machine may be busy; what has a hole is done at its first finding
        patience=2.0,
        fail_fast=True,
    )
    return [f"{one.id}: {one.title}: {one.response[:60]!r}" for one in card.findings]


def test_the_zoo_is_as_large_as_is_said() -> None:
    assert sum(bool(member.hole) for member in MEMBERS) >= 45
    assert sum(not member.hole for member in MEMBERS) >= 20


@pytest.mark.parametrize("name", [m.name for m in ASKED if m.hole])
def test_a_planted_hole_is_found(name: str) -> None:
    assert found(NAMED[name]), NAMED[name].hole


@pytest.mark.parametrize("name", [m.name for m in ASKED if not m.hole])
def test_a_sound_verifier_is_left_in_peace(name: str) -> None:
    assert found(NAMED[name]) == []
