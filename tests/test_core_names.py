"""Core names no plugin and no trainer: each registers what core says of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rlenv.plugins.registry import entries

Distributions = Mapping[Path, Mapping[str, Any]]
# Names of pinned requirements that are words, too, or no trainer.
WORDS = {"ray", "verifiers", "inspect", "mcp"}


def test_core_names_no_plugin_and_no_trainer(house: Path, distributions: Distributions) -> None:
    pinned = (path.stem.rstrip("0123456789") for path in (house / "requirements").glob("*/*.txt"))
    trainers = {*pinned, *(entry.name for entry in entries("rlenv.signatures"))} - WORDS
    names = {folder.name for folder in distributions if folder.parent.name == "plugins"}
    names |= {"rlenv-train", *trainers}
    spellings = {name.replace("-", "_") for name in names} | names
    found = re.compile(rf"(?i)(?<![a-z])({'|'.join(sorted(spellings))})(?![a-z])")
    wrong = [
        f"{path.relative_to(house)}: {word}"
        for path in (house / "core" / "src").rglob("*.py")
        for word in found.findall(path.read_text())
    ]

    assert {"verl", "trl", "OpenRLHF", "rlenv-plugin-agent"} <= names
    assert wrong == []
