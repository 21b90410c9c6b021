"""The audit on verifiers with one planted hole each, and on sound ones.

Some of the zoo, of every kind, is audited here; ``make audit-zoo`` audits all of it in the profile
ci.
"""

from __future__ import annotations

import importlib
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rlenv_auditor import audit
from zoo_judges import serving
from zoo_members import MEMBERS, Member

ZOO = Path(__file__).parent / "zoo"
for module in (
    "zoo_numbers",
    "zoo_state",
    "zoo_words",
    "zoo_code",
    "zoo_forms",
    "zoo_envs",
    "zoo_shipped",
    "zoo_structured",
    "zoo_listed",
):
    importlib.import_module(module)
NAMED = {f"{member.name}{member.model and ' ' + member.model}": member for member in MEMBERS}
ALL = os.environ.get("RLENV_ZOO") == "all"
ASKED = [name for n, name in enumerate(NAMED) if ALL or n % 9 == 1]
SOME = {name for n, name in enumerate(ASKED) if ALL or (n % 3 == 0 and "/" not in name)}
MORE = pytest.mark.slow  # each is an audit of its own
# A machine may be busy, and what has a hole is done at its first finding.
BUDGET = 60.0 if ALL else 300.0


@pytest.fixture(autouse=True)
def _beside_the_zoo(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """In a copy: some members run programs where they stand, and those write files."""
    copy = shutil.copytree(ZOO.parent, tmp_path / "tests") / ZOO.name
    monkeypatch.chdir(copy)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(copy), os.environ.get("PYTHONPATH", "")]))


@pytest.fixture(scope="session")
def judges() -> Iterator[str]:
    with serving() as url:
        yield url


def right_of(tasks: str) -> dict[str, list[str]]:
    path = ZOO / f"{tasks}.right.jsonl"
    rows = map(json.loads, path.read_text("utf-8").splitlines() if path.exists() else ())
    return {row["task"]: [row["response"]] for row in rows}


def found(member: Member) -> list[str]:
    tasks = member.tasks and str(ZOO / f"{member.tasks}.jsonl")
    card = audit(
        member.name,
        signature=member.signature,
        tasks_from=tasks,
        archetype=member.archetype,
        right=right_of(member.tasks) if tasks else None,
        tasks=12,
        budget=BUDGET,
        patience=member.patience,
        fail_fast=True,
    )
    return [f"{one.id}: {one.title}: {one.response[:60]!r}" for one in card.findings]


def test_the_zoo_is_as_large_as_is_said() -> None:
    assert len(NAMED) == len(MEMBERS)
    assert sum(bool(member.hole) for member in MEMBERS) >= 153
    assert sum(not member.hole for member in MEMBERS) >= 45


def parameters(*, holes: bool) -> list[Any]:
    return [
        pytest.param(name, marks=[MORE] * (name not in SOME))
        for name in ASKED
        if bool(NAMED[name].hole) == holes
    ]


@pytest.mark.parametrize("name", parameters(holes=True))
def test_a_planted_hole_is_found(name: str, judges: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RLENV_JUDGE_URL", judges)
    monkeypatch.setenv("RLENV_JUDGE_MODEL", NAMED[name].model)

    assert found(NAMED[name]), NAMED[name].hole


@pytest.mark.parametrize("name", parameters(holes=False))
def test_a_sound_verifier_is_left_in_peace(
    name: str, judges: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RLENV_JUDGE_URL", judges)
    monkeypatch.setenv("RLENV_JUDGE_MODEL", NAMED[name].model)

    assert found(NAMED[name]) == []
