"""The files that a page of the documentation shows, for those of its programs that need what is not
installed here.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

HOW_TO = Path(__file__).resolve().parents[2] / "docs" / "how-to"


def write_files(page: str, folder: Path) -> None:
    """Write each block with a file name of ``docs/how-to/PAGE`` into a folder."""
    text = (HOW_TO / page).read_text("utf-8")
    for name, code in re.findall(r"^```\w+ (\S+)\n(.*?)^```$", text, re.M | re.S):
        (folder / name).write_text(code, "utf-8")


def run_program(name: str, folder: Path) -> str:
    """What ``python3 NAME`` prints, in the interpreter of the tests."""
    ran = subprocess.run(
        [sys.executable, name], cwd=folder, capture_output=True, text=True, timeout=300, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout
