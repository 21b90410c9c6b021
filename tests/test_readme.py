"""README can be followed from top to bottom, in an environment that has only what README
installs.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from pages import blocks, commands

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"


def installed(distributions: Mapping[Path, Mapping[str, Any]]) -> Iterator[str]:
    """The names of the distributions that the first installation of README names by their
    folders.
    """
    line = re.search(r"^pip install (\./core .*)$", README.read_text("utf-8"), re.M)
    assert line is not None
    for folder in shlex.split(line[1]):
        yield str(distributions[ROOT / folder]["name"])


@pytest.mark.slow  # installs into an environment of its own, and checks a stage against every law
def test_readme_works_in_its_order_with_what_it_installs(
    stranger: Any, distributions: Mapping[Path, Mapping[str, Any]], tmp_path: Path
) -> None:
    fresh = stranger(*installed(distributions))
    folder = tmp_path / "reader"
    folder.mkdir()
    ran = []
    for block in blocks(README):
        if block.name:
            (folder / block.name).write_text(block.text, "utf-8")
        elif block.language == "python":
            fresh.runs("python", "-W", "error", "-c", block.text, folder=folder)
        elif block.language == "sh":
            for line in commands(block):
                words = shlex.split(line, comments=True)
                if words[0] == "rlenv":
                    fresh.runs(*words, folder=folder)
                    ran.append(words[1])

    assert {"score", "report", "verify", "check", "new", "plugins", "stages", "doctor"} <= {*ran}
