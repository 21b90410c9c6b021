"""The league of verifiers in the wild: what it says of each, and that a finding is shown again
without the audit.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SCRIPT = ROOT / "benchmarks/audit_wild.py"
GYM = '''
import time

class Sums:
    """Pays nan, as a package with a hole does."""

    def __init__(self, name, size, seed):
        self.name, self.size, self.seed = name, size, seed

    def __len__(self):
        return self.size

    def __getitem__(self, index):
        return {"question": f"{index} + 1000?", "answer": str(index + 1000), "metadata": {}}

    def score_answer(self, answer, entry):
        if self.name == "asleep" and answer == "sleep":
            time.sleep(600)
        if answer == "raise":
            raise OSError("no network here")
        return float(answer in (entry["answer"], "nan"))

def create_dataset(name, size, seed):
    if name == "composite":
        raise ValueError("it needs others")
    return Sums(name, size, seed)
'''


@pytest.fixture
def wild(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package of the name of a public one, which this interpreter finds."""
    package = tmp_path / "site/reasoning_gym"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(GYM)
    (package / "factory.py").write_text("DATASETS = {'composite': 0, 'kept': 0, 'sums': 0}\n")
    facts = tmp_path / "site/reasoning_gym-9.9.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: reasoning-gym\nVersion: 9.9\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "site"))
    monkeypatch.setenv("RLENV_PEERS", sys.executable)
    return tmp_path


def run(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ)


def test_a_hole_is_found_shown_again_and_kept_and_what_cannot_be_audited_says_why(
    wild: Path,
) -> None:
    before = {
        "name": "reasoning-gym: kept",
        "package": "reasoning_gym",
        "version": "9.8",
        "reason": "of another day",
        "note": "",
    }
    (wild / "out").mkdir()
    (wild / "out/reasoning-gym-kept.row.json").write_text(json.dumps(before))

    first = run("--out", str(wild / "out"), "--budget", "30", "--only", "reasoning-gym")
    rows = {row["name"]: row for row in json.loads((wild / "out/league.json").read_text())}
    sums = rows["reasoning-gym: sums"]
    composite = rows["reasoning-gym: composite"]

    assert first.returncode == 0, first.stderr
    assert "math_verify is not audited: no interpreter in RLENV_PEERS has it" in first.stdout
    assert sums["worst"]["share"] == 1.0
    assert sums["confirmed"] == sums["serious"] > 0
    assert sums["open"] == []
    assert "it needs others" in composite["reason"]
    page = (wild / "out/league.md").read_text()
    assert "pays for nothing" in page
    assert page.index("sums") < page.index("composite")
    assert rows["reasoning-gym: kept"] == before


def test_a_replay_knows_a_reward_from_an_error_and_from_a_hang(wild: Path) -> None:
    asked = {"kind": "gym", "name": "asleep", "size": 5, "seed": 0}
    cases = [
        {"task": 1, "response": text, "times": times, "patience": patience}
        for text, times, patience in (
            ("1001", 2, 300),
            ("raise", 1, 300),
            ("sleep", 1, 1),
            ("7", 1, 300),
        )
    ]
    lines = "".join(json.dumps(line) + "\n" for line in [asked, *cases])

    said = subprocess.run(
        [sys.executable, str(ROOT / "benchmarks/peers/wild_replay.py")],
        input=lines,
        capture_output=True,
        text=True,
        check=True,
    )

    assert [json.loads(line) for line in said.stdout.splitlines()] == [
        ["1.0", "1.0"], ["OSError: no network here"], ["hang"], ["0.0"],
    ]  # fmt: skip


def test_without_an_interpreter_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RLENV_PEERS", raising=False)

    said = run("--out", str(tmp_path / "out"))

    assert said.returncode == 0, said.stderr
    assert said.stdout.count("is not audited") == 4
    assert "pip install reasoning-gym" in said.stdout
