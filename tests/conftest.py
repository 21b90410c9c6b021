"""The whole house, as its tests see it: the root, its distributions, its files."""

from __future__ import annotations

import os
import subprocess
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
UNTRACKED = {".git", "out", "dist", "build", "__pycache__"}


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
            cwd=ROOT, capture_output=True, check=True,
        ).stdout  # fmt: skip
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
