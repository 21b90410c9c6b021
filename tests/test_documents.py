"""README, CONTRIBUTING, docs and the distributions' pages: what they show runs, and gives what they
say.

A block that carries a file name (```toml env.toml) becomes that file; Python blocks and commands
then run in order in one folder.  What ``print(...)  # text`` prints is compared with its comment,
and what the last command of a ``sh`` block prints with the ``output`` block that follows, in which
… stands for anything.  A command that is to fail says so: ``# status 3``.

``rlenv check`` takes five seconds, whatever it checks. `make test` checks one law with it, `make
test-full` all.
"""

from __future__ import annotations

import inspect
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import click
import pytest
from pages import Block, blocks, commands, obeys
from rlenv import Environment, RlenvError, hooks

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
# whole examples and long pages, run as a reader would; other tests hold their parts to what they
# say
SLOW = (
    "CONTRIBUTING.md",
    "docs/hacking.md",
    "docs/how-to/audit.md",
    "docs/how-to/import-rewards.md",
    "docs/how-to/score-a-model.md",
    "docs/how-to/verify-code.md",
    "docs/how-to/verify-kernels.md",
    "docs/how-to/write-a-plugin.md",
    "docs/laws.md",
    "examples/agentic_rag/README.md",
    "examples/bugfix/README.md",
    "examples/code_pipeline/README.md",
    "examples/dungeon/README.md",
    "examples/humaneval/README.md",
    "examples/kernels/README.md",
    "examples/leaky_verifier/README.md",
    "examples/office/README.md",
    "examples/research_notes/README.md",
    "examples/shaped_reward/README.md",
    "examples/solver_critic/README.md",
    "examples/support_desk/README.md",
)
RUN = ("rlenv", "python", "printf", "cat", "ls", "mkdir", "cp")
NOT_RUN = (  # what changes this machine, needs a network, or is tested elsewhere
    "make",
    "git",
    "export",
    "pip",
    "python3",
    "twine",
    "source",
)


# What pays the empty response in full is not a reward that a page may teach.
NOTHING = ("", " ")
GREEDY = f"""
import rlenv as _rlenv

def _evaluate(env, prompt, response, _own=_rlenv.Environment.evaluate, _seen=set()):
    verdict = _own(env, prompt, response)
    if (id(env), repr(prompt)) not in _seen and not env.group_only:
        _seen.add((id(env), repr(prompt)))
        for nothing in {NOTHING}:
            value = _own(env, prompt, nothing).value
            assert value is None or value < env.pass_mark, f"{{env.name}} pays {{nothing!r}}"
    return verdict

_rlenv.Environment.evaluate = _evaluate
del _rlenv, _evaluate
"""
ONE_LAW = "--law range --examples 5"
CHECK = re.compile(r"^rlenv check [^#]*")


def run(argv: list[str], folder: Path, site: Path, status: int = 0) -> str:
    env = dict(os.environ)
    env["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), env.get("PATH", "")])
    env["PYTHONPATH"] = str(site)
    env["COLUMNS"] = "100"
    ran = subprocess.run(
        argv, cwd=folder, env=env, capture_output=True, text=True, timeout=240, check=False
    )
    assert ran.returncode == status, f"{shlex.join(argv)}\n{ran.stdout}\n{ran.stderr}"
    return ran.stdout + (ran.stderr if status else "")


class Reader:
    """Somebody who does what a page says, in a folder of their own; ``laws`` are more options of
    ``rlenv check``.
    """

    def __init__(self, folder: Path, laws: str) -> None:
        self.folder = folder
        self.laws = laws
        self.here = folder
        self.site = folder / ".site"

    def obey(self, line: str) -> str:
        """Run one command and return what it printed."""
        words = shlex.split(line, comments=True)
        said = re.search(r"  # status (\d+)\b", line)
        if words[0] == "cd":
            self.here = self.here / words[1]
            assert self.here.is_dir(), line
        elif words[:2] == ["pip", "install"]:
            self._install(words)
        elif words[:2] == ["pip", "wheel"]:
            pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-index"]
            run([*pip, "--no-build-isolation", *words[2:]], self.here, self.site)
        elif words[0] in RUN:
            line = CHECK.sub(lambda found: f"{found[0].rstrip()} {self.laws} ", line)
            return run(["bash", "-c", line], self.here, self.site, int(said[1]) if said else 0)
        else:
            assert words[0] in NOT_RUN or words[0].startswith(".venv"), f"not run: {line}"
        return ""

    def python(self, code: str) -> str:
        return run([sys.executable, "-W", "error", "-c", GREEDY + code], self.here, self.site)

    def _install(self, words: list[str]) -> None:
        """``pip install -e ./new-plugin``, into a folder of the reader's own; nothing is
        fetched.
        """
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--upgrade", "--no-deps"]
        pip += ["--no-index", "--no-build-isolation", "--no-compile", "--target", str(self.site)]
        for word in words:
            place = self.here / word.partition("[")[0]
            if word.startswith(".") and (place / "pyproject.toml").exists():
                run([*pip, str(place)], self.here, self.site)


def show(reader: Reader, shown: list[Block], page: str) -> None:
    printed: str | None = None
    for block in shown:
        at = f"{page}:{block.line}"
        if block.language == "python" and not block.name:
            said = re.findall(r"^\s*print\(.*\)  # (.+)$", block.text, re.M)
            assert reader.python(block.text).splitlines() == said, at
            printed = None
        elif block.language == "sh":
            printed = [reader.obey(line) for line in commands(block)][-1]
        elif block.language == "output":
            assert printed is not None, f"{at} follows no command"
            assert obeys(printed, block.text), f"{at}\n{printed}"
            printed = None


def shown_pages() -> Iterator[Any]:
    for page in PAGES:
        name = str(page.relative_to(ROOT))
        slow = [pytest.mark.slow]  # takes up to half a minute
        yield pytest.param(page, ONE_LAW, marks=slow if name in SLOW else [], id=name)
        if any(CHECK.match(line) for block in blocks(page) for line in commands(block)):
            yield pytest.param(page, "", marks=slow, id=f"{name} with all laws")


@pytest.mark.parametrize(("page", "laws"), list(shown_pages()))
def test_everything_that_a_page_shows_runs(page: Path, laws: str, tmp_path: Path) -> None:
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
    show(Reader(tmp_path, laws), shown, page.name)
    assert paid_for_nothing(tmp_path, audited=shown_as_exploitable(page)) == []


def shown_as_exploitable(page: Path) -> set[str]:
    """The environment files for which the page shows an audit that finds an exploit (status 1)."""
    return set(re.findall(r"^rlenv audit (\S+\.toml) .*# status 1$", page.read_text("utf-8"), re.M))


def paid_for_nothing(folder: Path, audited: set[str]) -> list[str]:
    """The environment files of a page that pay a response of nothing in full, unless the page shows
    it.
    """
    found = []
    for path in sorted(folder.glob("*.toml")):
        if path.name in audited:
            continue
        try:
            env = Environment.from_file(path)
        except RlenvError:  # a page may show a mistake, or a file of another kind
            continue
        with env:
            rows = [
                (task, text) for task in env.tasks[:2] for text in NOTHING if not env.group_only
            ]
            values = [verdict.value for verdict in env.evaluate_many(rows)]
        found += [path.name for value in values if value is not None and value >= env.pass_mark]
    return found


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


def test_the_pages_that_are_slow_exist() -> None:
    assert [name for name in SLOW if ROOT / name not in PAGES] == []


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
