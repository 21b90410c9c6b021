"""The whole repository, as its tests see it: the root, its distributions, its files."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
import venv
from collections.abc import Callable, Mapping
from importlib.metadata import Distribution
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from needs import closure

ROOT = Path(__file__).resolve().parents[1]
UNTRACKED = {".git", "out", "dist", "build", "__pycache__"}
QUIET = ["--disable-pip-version-check", "--no-input"]
BUILD = """
import os, sys
from hatchling.build import build_wheel
for folder in sys.argv[2:]:
    os.chdir(folder)
    build_wheel(sys.argv[1])
"""
OURS = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "RLENV_DATA")


@pytest.fixture(scope="session")
def house() -> Path:
    """The root of the repository."""
    return ROOT


@pytest.fixture(scope="session")
def distributions() -> Mapping[Path, Mapping[str, Any]]:
    """Folder of each distribution → its ``[project]`` table."""
    found = [ROOT / "core", *sorted(ROOT.glob("plugins/*")), *sorted(ROOT.glob("contrib/*"))]
    manifests = [
        folder / "pyproject.toml" for folder in found if (folder / "pyproject.toml").exists()
    ]
    return {m.parent: tomllib.loads(m.read_text("utf-8"))["project"] for m in manifests}


@pytest.fixture(scope="session")
def files() -> list[Path]:
    """Every file that a clone holds or would hold, text and data alike."""
    try:
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT,
            capture_output=True,
            check=True,
        ).stdout
        paths = [ROOT / name for name in os.fsdecode(listed).split("\0") if name]
    except (OSError, subprocess.CalledProcessError):  # a source archive has no git
        paths = [
            path
            for path in ROOT.rglob("*")
            if not any(
                p in UNTRACKED or p.startswith(".venv") or p.endswith("_cache") for p in path.parts
            )
        ]
    return sorted(path for path in paths if path.is_file())


@pytest.fixture(scope="session")
def sources(distributions: Mapping[Path, Mapping[str, Any]]) -> Mapping[Path, list[Path]]:
    """Folder of each distribution → the Python files that it installs."""
    return {folder: sorted(folder.glob("src/**/*.py")) for folder in distributions}


def run(argv: list[str], folder: Path) -> str:
    """Run a command as somebody who knows nothing of this repository; its standard output."""
    env = {key: value for key, value in os.environ.items() if key not in OURS}
    env["PATH"] = os.pathsep.join([str(Path(argv[0]).parent), env.get("PATH", "")])
    env["COLUMNS"] = "120"
    ran = subprocess.run(
        argv, cwd=folder, env=env, capture_output=True, text=True, timeout=300, check=False
    )
    assert ran.returncode == 0, f"{argv}\n{ran.stdout}\n{ran.stderr}"
    return ran.stdout


def _pip(python: Path) -> list[str]:
    """The tests' own pip at work in an environment that has none: what ``pip --python`` starts,
    without starting twice.
    """
    pip = find_spec("pip")
    assert pip is not None, "the environment of the tests has no pip"
    assert pip.origin is not None
    runner = Path(pip.origin).with_name("__pip-runner__.py")
    if runner.exists():
        return [str(python), str(runner)]
    return [sys.executable, "-m", "pip", "--python", str(python)]


class Stranger:
    """A new virtual environment of somebody else, offline.

    What it needs from other projects is lent by the environment of the tests, without copying it.
    """

    def __init__(self, folder: Path, wheels: Mapping[str, Path]) -> None:
        venv.create(folder, with_pip=False, symlinks=True)
        self.python = folder / "bin" / "python"
        self._site = next((folder / "lib").glob("python*/site-packages"))
        self._wheels = wheels

    def has(self, *requirements: str) -> None:
        """Make these usable: what this repository makes from its wheels, the rest lent."""
        self.borrows(*requirements)
        own = [str(self._wheels[name]) for name in closure(*requirements) if name in self._wheels]
        if own:
            self.pip("install", "--no-deps", "--no-index", "--no-compile", *own)

    def pip(self, verb: str, *args: str, folder: Path = ROOT) -> str:
        return run([*_pip(self.python), verb, *QUIET, *args], folder)

    def runs(self, *argv: str, folder: Path) -> str:
        """The output of a command of this environment."""
        return run([str(self.python.parent / argv[0]), *argv[1:]], folder)

    def borrows(self, *requirements: str) -> None:
        """Make usable what these need from other projects, and nothing of this repository."""
        for name, dist in closure(*requirements).items():
            if name not in self._wheels:
                self._lend(dist)

    def _lend(self, dist: Distribution) -> None:
        tops = {f.parts[0] for f in dist.files or () if f.parts[0] not in ("..", "__pycache__")}
        for top in tops:
            source = Path(str(dist.locate_file(top)))
            if not (self._site / top).exists():
                (self._site / top).symlink_to(source, target_is_directory=source.is_dir())


@pytest.fixture(scope="session")
def wheels(
    tmp_path_factory: pytest.TempPathFactory, distributions: Mapping[Path, Mapping[str, Any]]
) -> Mapping[str, Path]:
    """Name of each distribution → its wheel."""
    out = tmp_path_factory.mktemp("wheels")
    run([sys.executable, "-c", BUILD, str(out), *map(str, distributions)], ROOT)
    return {w.name.partition("-")[0].replace("_", "-"): w for w in sorted(out.glob("*.whl"))}


@pytest.fixture
def stranger(tmp_path: Path, wheels: Mapping[str, Path]) -> Callable[..., Stranger]:
    """``stranger("rlenv-core[parquet]")``: a new environment that has what this names and no
    more.
    """

    def new(*requirements: str) -> Stranger:
        made = Stranger(tmp_path / "venv", wheels)
        made.has(*requirements)
        return made

    return new
