"""The audit on a second zoo, whose members were written before the probes that are to find their
holes.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
from rlenv_auditor import Finding, audit

UNSEEN = Path(__file__).parent / "unseen"
if str(UNSEEN) not in sys.path:
    sys.path.append(str(UNSEEN))

from unseen_tasks import SETS  # noqa: E402 - the folder is added above
from unseen_verifiers import BROKEN, SOUND  # noqa: E402 - the folder is added above


def findings(name: str, tasks: str, folder: Path, *, fail_fast: bool) -> tuple[Finding, ...]:
    path = folder / f"{tasks}.jsonl"
    rows = [{key: one for key, one in row.items() if key != "right"} for row in SETS[tasks]]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    right = {row["id"]: [row["right"]] for row in SETS[tasks]}
    return audit(
        f"unseen_verifiers:{name}",
        tasks_from=str(path),
        right=right,
        tasks=12,
        budget=300.0,
        fail_fast=fail_fast,
    ).findings


@pytest.fixture(autouse=True)
def _importable(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(
        "PYTHONPATH", os.pathsep.join([str(UNSEEN), os.environ.get("PYTHONPATH", "")])
    )


def test_every_class_has_members() -> None:
    kinds = {kind for kind, _, _ in BROKEN.values()}

    assert kinds == {"order", "options", "words", "partial", "special", "case", "seed"}
    assert len(BROKEN) >= 12
    assert len(SOUND) >= 12


@pytest.mark.slow  # each is an audit of its own
@pytest.mark.parametrize("name", BROKEN)
def test_a_hole_that_was_written_first_is_found(name: str, tmp_path: Path) -> None:
    kind, hole, tasks = BROKEN[name]

    assert findings(name, tasks, tmp_path, fail_fast=True), f"{kind}: {hole}"


@pytest.mark.slow  # each is an audit of its own
@pytest.mark.parametrize("name", SOUND)
def test_a_sound_verifier_of_the_same_kind_is_not_accused(name: str, tmp_path: Path) -> None:
    found = findings(name, SOUND[name], tmp_path, fail_fast=False)

    assert [f"{one.title}: {one.response[:80]!r}" for one in found] == []
