"""The folders of the plugin: each imports those below it alone, and few files are in none."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import rlenv_plugin_agent

SOURCES = Path(rlenv_plugin_agent.__file__).parent
# From below: those of one line import none of that line.
FLOORS = [
    {"errors", "messages", "waiting"},
    {"clients", "state"},
    {"stages", "tools"},
    {"contexts", "recording"},
    {"episodes"},
    {"rollouts"},
    {"policies", "roles"},
    {"__init__"},
]


def imported(path: Path) -> Iterator[str]:
    """The folders of the plugin that a file imports by their whole names."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            package, _, rest = node.module.partition(".")
            if package == "rlenv_plugin_agent":
                yield rest.partition(".")[0]


def test_each_folder_imports_those_below_it_alone() -> None:
    for number, floor in enumerate(FLOORS):
        below = set[str]().union(*FLOORS[:number])
        for room in floor:
            files = [SOURCES / f"{room}.py", *(SOURCES / room).rglob("*.py")]
            for path in [each for each in files if each.is_file()]:
                assert {*imported(path)} - {room} <= below, path


def test_every_file_is_in_a_folder_that_says_what_it_holds() -> None:
    rooms = {each.stem for each in SOURCES.iterdir() if each.suffix == ".py" or each.is_dir()}

    assert rooms - {"__pycache__"} == set[str]().union(*FLOORS)
