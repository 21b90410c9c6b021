"""requirements/trainers/environments.toml is the only list of the trainers' environments: each row
has its pins and its tests, and whatever else is made for a trainer has its row.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import trainers
from packaging.requirements import Requirement
from trainers import TrainerEnvironment, environments, files_for

ROWS = list(environments().values())
WITH_SCRIPTS = [row for row in ROWS if row.title is not None]


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def pins(row: TrainerEnvironment) -> dict[str, str]:
    """Package → version, as the row's file pins it."""
    found = re.findall(r"^([\w.-]+)==(\S+)$", row.pins.read_text("utf-8"), re.M)
    return {normal(name): version for name, version in found}


def unmet(row: TrainerEnvironment, requirements: list[str]) -> list[str]:
    """The requirements that the pins of the row do not meet."""
    pinned = pins(row)
    parsed = [Requirement(each) for each in requirements]
    return [
        str(each)
        for each in parsed
        if not each.specifier.contains(pinned.get(normal(each.name), "0"))
    ]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_row_has_pins_tests_and_folders(house: Path, row: TrainerEnvironment) -> None:
    assert unmet(row, list(row.packages)) == []
    assert files_for(row) != []
    assert [
        folder for folder in row.projects if not (house / folder / "pyproject.toml").exists()
    ] == []


def test_pins_tests_and_scripts_of_trainers_have_a_row(house: Path) -> None:
    pinned = {path.stem for path in trainers.PINS.glob("*.txt")}
    tested = {path for row in ROWS for path in files_for(row)}
    scripts = {
        path.stem.removeprefix("with_")
        for path in trainers.TRAIN.glob("tests/conformance/with_*.py")
    }

    assert pinned == {row.name for row in ROWS}
    assert [path for path in house.glob("*/*/tests/*/test_with_*.py") if path not in tested] == []
    assert scripts == {row.name for row in WITH_SCRIPTS}


def test_what_an_extra_of_rlenv_train_requires_is_what_is_tested() -> None:
    project = tomllib.loads((trainers.TRAIN / "pyproject.toml").read_text("utf-8"))["project"]
    extras = {normal(name): each for name, each in project["optional-dependencies"].items()}
    wrong = {
        row.name: unmet(row, extras[normal(row.name)]) for row in ROWS if normal(row.name) in extras
    }

    assert len(wrong) > 5
    assert {name: each for name, each in wrong.items() if each} == {}


@pytest.mark.parametrize(
    "name", ["Makefile", "docs/conformance_page.py", "tests/helpers/trainers.py"]
)
def test_no_other_file_lists_the_environments(house: Path, name: str) -> None:
    names = {row.name for row in ROWS}
    lines = (house / name).read_text("utf-8").splitlines()
    lists = [
        line
        for line in lines
        if len(names.intersection(re.findall(r"(?<![\w/])\w+(?![\w/])", line))) > 1
    ]

    assert [line for line in lists if 'TRAINERS="' not in line] == []


def test_a_name_that_is_not_there_is_reported_with_the_nearest() -> None:
    command = [sys.executable, trainers.__file__, "test", "verifers"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)

    assert ran.returncode == 1
    assert (
        ran.stderr == "TRAINERS=verifers: there is no such environment; did you mean verifiers?\n"
    )


def test_an_environment_is_made_again_when_its_row_changes() -> None:
    row = ROWS[0]

    assert trainers._state(row) == trainers._state(environments()[row.name])
    assert trainers._state(row) != trainers._state(row._replace(folders=row.folders[1:]))
    assert trainers._state(row) != trainers._state(row._replace(requires=False))
