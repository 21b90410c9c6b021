"""README, CONTRIBUTING, docs and the distributions' pages: they name what exists, and the reference
is generated from the code.  `test_documents_run.py` runs what they show.
"""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import click
import pytest
from pages import PAGES, ROOT, blocks
from rlenv import hooks


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_names_only_targets_and_folders_that_exist(page: Path) -> None:
    text = page.read_text("utf-8")
    makefile = (ROOT / "Makefile").read_text("utf-8")
    targets = re.findall(r"(?:^|`)make ([a-z-]+)", text, re.M)
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)
    links = [link for link in re.findall(r"\]\(([^)#]+)", prose) if "://" not in link]
    local = re.findall(r"\./((?:core|plugins|contrib)[\w./-]*)", text)

    assert [t for t in targets if not re.search(rf"^{t}:", makefile, re.M)] == []
    assert [link for link in links if not (page.parent / link).exists()] == []
    assert [place for place in local if not (ROOT / place).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_in_the_text_exist(page: Path) -> None:
    prose = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.M | re.S)
    wrong = []
    there = {entry.name: entry for entry in entry_points(group="rlenv.commands")}
    for name, rest in re.findall(r"`rlenv ([a-z]+)([^`]*)`", prose):
        if name not in there:
            wrong.append(f"rlenv {name}")
            continue
        command = there[name].load()
        if isinstance(command, click.Group) or "ignore_unknown_options" in command.context_settings:
            continue  # its subcommands, or the plugin that it calls, know the options
        known = {option for parameter in command.params for option in parameter.opts}
        given = re.findall(r"(?<=\s)--?[a-z][\w-]*", rest)
        wrong += [f"rlenv {name} {option}" for option in given if option not in {*known, "--help"}]

    assert wrong == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_block_hides_a_command_from_being_run(page: Path) -> None:
    runs = {"python", "sh", "toml", "json", "text", "output"}
    shown = list(blocks(page))
    hidden = [
        f"{page.name}:{block.line}"
        for block in shown
        if block.language not in runs
        or (block.language == "text" and re.search(r"^(\$ )?(rlenv|python) ", block.text, re.M))
    ]

    assert hidden == []
    named = [block.name for block in shown if block.name]
    assert len(named) == len(set(named)), f"{page.name}: the later file would be in both places"


def test_the_reference_is_what_the_code_says(tmp_path: Path) -> None:
    subprocess.run([sys.executable, ROOT / "docs" / "generate.py", tmp_path], check=True)
    written = {page.name: page.read_text("utf-8") for page in tmp_path.glob("*.md")}
    kept = {page.name: page.read_text("utf-8") for page in (ROOT / "docs/reference").glob("*.md")}
    stale = [name for name in written | kept if written.get(name) != kept.get(name)]

    assert stale == [], "run `python docs/generate.py` and commit what it writes"


def test_the_repository_layout_shows_what_is_there() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    drawn = re.search(r"^## Repository layout\n```\n(.*?)^```", readme, re.M | re.S)

    assert drawn is not None
    shown = {line.split()[0].rstrip("/") for line in drawn[1].splitlines() if line.strip()}
    rooms = {str(m.parent.relative_to(ROOT)) for m in ROOT.glob("*/*/pyproject.toml")}
    assert [name for name in shown if not (ROOT / name).is_dir()] == []
    assert rooms | {"core", "tests", "benchmarks", "examples", "requirements"} <= shown


def test_every_hook_is_documented_with_its_arguments() -> None:
    page = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    found = {
        name: f"`{name}({', '.join(inspect.signature(hook).parameters)})`"
        for name, hook in vars(hooks).items()
        if name.startswith("rlenv_") and hasattr(hook, "rlenv_spec")
    }

    assert len(found) >= 7
    assert [line for line in found.values() if line not in page] == []
    assert set(re.findall(r"`(rlenv_\w+)\(", page)) == set(found)
