"""docs/hacking.md: every exploit is proved there, and its fixed stages break on no text."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parents[1] / "docs" / "hacking.md"
TEXTS = ["", "\0", "\ud800", "(" * 10_000, "9" * 200_000, "a" * 200_000 + "!", "nan", "def f(n):"]

# It has no `__main__` guard: workers never run the caller's main module.
ASK = """
import importlib, json, sys
from rlenv import Environment, Slot

names, texts = json.loads(sys.stdin.read())
broken = []
for name in names:
    case = importlib.import_module(f"exploits.{name}")
    with Environment("page", [Slot("stage", case.Fixed())], [case.TASK]) as env:
        for text in texts:
            verdict = env.evaluate(case.TASK, text)
            if not verdict.scored:
                broken.append(f"{name}: {text[:20]!a}: {verdict.fault}")
print(json.dumps(broken))
"""


def blocks(language: str) -> list[tuple[str, str]]:
    """(file name, text) of the page's blocks of a language."""
    text = PAGE.read_text("utf-8")
    return re.findall(rf"^```{language}(?: (\S+))?\n(.*?)^```$", text, re.M | re.S)


def exploits() -> list[str]:
    return [Path(name).stem for name, _ in blocks("python") if name.startswith("exploits/")]


def test_the_table_shows_every_exploit_paid_once_and_refused_once() -> None:
    ((_, table),) = blocks("output")  # which the test of all pages compares with what runs
    rows = {words[0]: words[1:] for line in table.splitlines()[2:] if (words := line.split())}

    assert len(rows) >= 14
    assert set(rows) == set(exploits())
    for honest, paid, exploit, refused in rows.values():
        assert (honest, paid, refused) == ("1.0", "1.0", "0.0")
        assert exploit in ("1.0", "0.5", "unscored")


def test_no_text_leaves_a_fixed_stage_unscored(tmp_path: Path) -> None:
    (tmp_path / "exploits").mkdir()
    for name, text in blocks("python"):
        (tmp_path / name).write_text(text, "utf-8")
    asked = subprocess.run(
        [sys.executable, "-c", ASK],
        input=json.dumps([exploits(), TEXTS]),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )

    assert asked.returncode == 0, asked.stderr
    assert json.loads(asked.stdout) == []
