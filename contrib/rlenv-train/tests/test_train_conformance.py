"""The recorded runs of `conformance/`: complete, of the pinned versions, and as the page says."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

HERE = Path(__file__).parent / "conformance"
RESULTS = json.loads((HERE / "results.json").read_text("utf-8"))
PINS = Path(__file__).parents[3] / "requirements" / "trainers"
CASES = {"None", "nan", "inf", "1e9", "raises", "hangs"}
UNMOVED = "advantages 1.155, -0.5773, 0, -0.5773"  # of the other three responses alone
LEFT_OUT = {  # what says "unscored" in the frameworks that have a way to say it
    "trl": UNMOVED,
    "verifiers": "TaskError; rewards {'odd': None",
    "inspect": "value nan, reason scoring_failed; mean 0.3333 of 3",
    "openenv": "error 500, no reward",
}


def cells(name, mode=""):
    return [cell for cell in RESULTS[name]["cells"] if mode in cell["mode"]]


def test_every_script_has_run():
    assert set(RESULTS) == {path.stem.removeprefix("with_") for path in HERE.glob("with_*.py")}


@pytest.mark.parametrize("name", RESULTS)
def test_a_run_is_complete_and_of_the_pinned_versions(name):
    modes = {cell["mode"] for cell in cells(name)}
    pinned = re.findall(r"^(\S+)==(\S+)$", (PINS / f"{name}.txt").read_text("utf-8"), re.M)
    known = {package.lower().replace("_", "-"): version for package, version in pinned}
    versions = {
        k: v.removesuffix("+cpu") for k, v in RESULTS[name]["versions"].items() if k != "python"
    }

    assert RESULTS[name]["status"] == 0
    assert len(cells(name)) == len(modes) * len(CASES)
    assert {cell["case"] for cell in cells(name)} == CASES
    assert versions == {package: known[package] for package in versions}


@pytest.mark.parametrize("name", LEFT_OUT)
def test_unscored_stays_unscored_where_it_can_be_said(name):
    wrong = [cell for cell in cells(name, "rlenv") if not cell["result"].startswith(LEFT_OUT[name])]

    assert wrong == []


def test_the_estimator_of_rlenv_leaves_unscored_out_of_groups_of_verl():
    results = {cell["result"].partition("; ")[0] for cell in cells("verl", "rlenv_grpo")}

    assert results == {UNMOVED}


@pytest.mark.parametrize("name", ["verl", "verifiers0", "gymnasium"])
def test_unscored_is_marked_where_it_is_a_number(name):
    marks = ("; unscored 0, 0, 1, 0", "unscored True", "{'unscored': 1.0}")
    wrong = [cell for cell in cells(name, "rlenv") if not any(m in cell["result"] for m in marks)]

    assert wrong == []


def test_a_hanging_verifier_is_stopped_at_its_deadline():
    late = {
        name: cell
        for name in RESULTS
        for cell in cells(name, "rlenv")
        if cell["case"] == "hangs" and not re.search(r"after [1-4] s", cell["result"])
    }

    assert late == {}
