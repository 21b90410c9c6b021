"""README, CONTRIBUTING and the distributions' pages: what they show runs, and gives what they say.

A block that carries a file name (```toml env.toml) becomes that file; Python blocks and commands then run
in order in one folder, and what ``print(...)  # text`` prints is compared with its comment.
"""

from __future__ import annotations

import inspect
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from rlenv import hooks

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted(
    page
    for pattern in (
        "*.md",
        "core/*.md",
        "plugins/*/*.md",
        "contrib/*/*.md",
        "docs/**/*.md",
        "examples/*/*.md",
        "benchmarks/*.md",
    )
    for page in ROOT.glob(pattern)
)


class Block(NamedTuple):
    language: str
    name: str
    text: str
    line: int


def blocks(page: Path) -> Iterator[Block]:
    text = page.read_text("utf-8")
    for found in re.finditer(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", text, re.M | re.S):
        line = text.count("\n", 0, found.start()) + 1
        yield Block(found[1], found[2] or "", found[3], line)


def run(argv: list[str], folder: Path) -> str:
    env = dict(os.environ)
    env["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), env.get("PATH", "")])
    env["PYTHONPATH"] = str(folder / "site")
    env["COLUMNS"] = "100"
    ran = subprocess.run(
        argv, cwd=folder, env=env, capture_output=True, text=True, timeout=120, check=False
    )
    assert ran.returncode == 0, f"{shlex.join(argv)}\n{ran.stdout}\n{ran.stderr}"
    return ran.stdout


def commands(block: Block) -> Iterator[list[str]]:
    for line in block.text.splitlines():
        words = shlex.split(line, comments=True)
        if words:
            yield words


def install(words: list[str], folder: Path) -> None:
    """``pip install -e ./new-plugin``, into a folder of the test's own; nothing is fetched."""
    for word in words:
        if word.startswith("./") and (folder / word).is_dir():
            options = ["--quiet", "--no-deps", "--no-index", "--no-build-isolation", "--no-compile"]
            pip = [sys.executable, "-m", "pip", "install", *options]
            run([*pip, "--target", str(folder / "site"), word], folder)


def obey(words: list[str], folder: Path) -> None:
    if words[0] in ("rlenv", "python"):
        run([str(Path(sys.executable).parent / words[0]), *words[1:]], folder)
    elif words[:2] == ["pip", "install"]:
        install(words, folder)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_everything_that_a_page_shows_runs(page: Path, tmp_path: Path) -> None:
    needs_data = page.parent.parent == ROOT / "examples" and "RLENV_DATA" in page.read_text("utf-8")
    if needs_data and "RLENV_DATA" not in os.environ:
        pytest.skip("RLENV_DATA names no data folder")
    shown = list(blocks(page))
    (tmp_path / "examples").symlink_to(ROOT / "examples", target_is_directory=True)
    for block in shown:
        if block.name:
            target = tmp_path / block.name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(block.text, "utf-8")
    for block in shown:
        if block.language == "python" and not block.name:
            printed = run([sys.executable, "-W", "error", "-c", block.text], tmp_path)
            said = re.findall(r"^\s*print\(.*\)  # (.+)$", block.text, re.M)

            assert printed.splitlines() == said, f"{page.name}:{block.line}"
        elif block.language == "sh":
            for words in commands(block):
                obey(words, tmp_path)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_names_only_targets_and_folders_that_exist(page: Path) -> None:
    text = page.read_text("utf-8")
    makefile = (ROOT / "Makefile").read_text("utf-8")
    targets = re.findall(r"(?:^|`)make ([a-z]+)", text, re.M)
    links = [link for link in re.findall(r"\]\(([^)#]+)", text) if "://" not in link]
    local = re.findall(r"\./((?:core|plugins|contrib)[\w./-]*)", text)

    assert [t for t in targets if not re.search(rf"^{t}:", makefile, re.M)] == []
    assert [link for link in links if not (page.parent / link).exists()] == []
    assert [place for place in local if not (ROOT / place).exists()] == []


def test_the_map_of_the_house_shows_what_is_there() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    drawn = re.search(r"^## The house\n```\n(.*?)^```", readme, re.M | re.S)

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
