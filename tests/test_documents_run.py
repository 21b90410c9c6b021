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

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pages import PAGES, ROOT, Block, blocks, commands, obeys
from rlenv import Environment, RlenvError

# The pages that a reader meets first. `make test-full` runs all, and `make test-changed` those that
# changed.
QUICK = (
    "README.md",
    "core/README.md",
    "docs/tutorial.md",
    "examples/everyday/README.md",
    *(str(page.relative_to(ROOT)) for page in PAGES if page.match("plugins/*/README.md")),
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
        slow = [pytest.mark.slow]  # a page starts up to twenty processes
        yield pytest.param(page, ONE_LAW, marks=[] if name in QUICK else slow, id=name)
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


def test_the_pages_that_are_quick_exist() -> None:
    assert [name for name in QUICK if ROOT / name not in PAGES] == []
