"""Nothing of this repository is published, so nothing tells a reader to install it from an
index.
"""

from __future__ import annotations

import re
from pathlib import Path

INDEX = re.compile(r"pip install [^`\n\"#\\]*?(?<![\w./-])rlenv\b")  # a name, and not a path


def test_no_text_installs_a_distribution_of_this_repository_by_name(
    house: Path, files: list[Path]
) -> None:
    wrong = [
        f"{path.relative_to(house)}:{number}: {line.strip()[:120]}"
        for path in files
        if path.suffix in (".md", ".py", ".toml", ".txt", ".yml") and "tests" not in path.parts
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if INDEX.search(line)
    ]

    assert wrong == []
