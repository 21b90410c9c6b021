"""Writes the plots and the figures of docs/explanation/learning.md from the curves of real runs of
examples/grpo.

    python docs/learning.py [RUNS]

``RUNS`` is a folder with a folder for each run, ``tiny-math-0`` for seed 0 of tiny-math: their
curves replace ``curves.json``.  Without it, only the plots and the parts of the page between ``<!--
NAME of curves.json -->`` and ``<!-- end -->`` are written.  A test compares them with what this
writes.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean

sys.path.insert(0, str(Path(__file__).parent))
from plots import Curve, plot
from tables import head, row

FOLDER = Path(__file__).parent / "explanation" / "learning"
PAGE = FOLDER.with_suffix(".md")
ARCHETYPES = ("tiny-math", "tiny-code", "tiny-constraint", "tiny-judge")
EVERY = 5  # steps of a point
SHOWN = {
    "reward": "reward in training",
    "heldout": "held-out reward",
    "right": "share of right responses",
}
Run = Mapping[str, Sequence[float]]


def condensed(path: Path) -> dict[str, list[float]]:
    """The means of every five steps of a ``curve.jsonl``; of scores, the share of responses that
    repeat the task.
    """
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    if (scores := path.with_name("scores.jsonl")).exists():
        for row, right in zip(rows, shares(scores), strict=True):
            row["right"] = right
    parts = [rows[at : at + EVERY] for at in range(0, len(rows), EVERY)]
    found: dict[str, list[float]] = {"reward": [], "unscored": [], "heldout": [], "right": []}
    for part in parts:
        for name, values in found.items():
            if any(name in row for row in part):
                values.append(round(fmean(row[name] for row in part if name in row), 4))
    return found


def shares(path: Path) -> list[float]:
    """The share of right responses of each step of tiny-evolving, whose tasks are named by their
    digit.
    """
    found: dict[int, list[bool]] = {}
    for line in path.read_text("utf-8").splitlines():
        row = json.loads(line)
        found.setdefault(row["step"], []).append(row["response"] == row["task"])
    return [fmean(found[step]) for step in sorted(found)]


def curves(runs: Path) -> dict[str, list[dict[str, list[float]]]]:
    """Name of each environment → its runs, by seed."""
    found: dict[str, list[dict[str, list[float]]]] = {}
    for folder in sorted(path.parent for path in runs.glob("*/curve.jsonl")):
        name, _, _ = folder.name.rpartition("-")
        found.setdefault(name, []).append(condensed(folder / "curve.jsonl"))
    return found


def tenths(runs: Sequence[Run], name: str) -> tuple[float, float] | None:
    """The means of the first and of the last tenth of the steps, over all runs."""
    if not all(run[name] for run in runs):
        return None
    many = len(runs[0][name]) // 10
    first, last = (
        [v for run in runs for v in run[name][part]] for part in (slice(many), slice(-many, None))
    )
    return fmean(first), fmean(last)


def picture(name: str, runs: Sequence[Run]) -> str:
    """The mean curves of an environment."""
    steps = EVERY * len(runs[0]["reward"])
    lines = []
    for key, label in SHOWN.items():
        means = [fmean(values) for values in zip(*(run[key] for run in runs), strict=True)]
        points = [((at + 1) / len(means), value) for at, value in enumerate(means)]
        lines += [Curve(label, points)] if points else []
    return plot(f"{name}: mean of {len(runs)} seeds", f"share of {steps} steps", "reward", lines)


def kept() -> dict[str, list[Run]]:
    """The curves of the repository."""
    found: dict[str, list[Run]] = json.loads((FOLDER / "curves.json").read_text("utf-8"))
    return found


def pictures() -> dict[str, str]:
    """File name → SVG."""
    return {f"{name}.svg": picture(name, runs) for name, runs in kept().items()}


def ends(runs: Sequence[Run], name: str) -> tuple[float, float]:
    """As ``tenths``, of a curve that all runs have."""
    found = tenths(runs, name)
    assert found is not None, name
    return found


def figures() -> dict[str, str]:
    """What the page says of the curves, by the name of the part."""
    runs = kept()
    shown = []
    table = list(
        head(
            "environment",
            "seeds",
            "first tenth",
            "last tenth",
            "worst seed",
            "held out",
            "unscored",
        )
    )
    for name in ARCHETYPES:
        first, last = ends(runs[name], "reward")
        _, heldout = ends(runs[name], "heldout")
        worst = min(ends([run], "reward")[1] for run in runs[name])
        lost = fmean(value for run in runs[name] for value in run["unscored"])
        shown.append(f"![{name}: reward from {first:.2f} to {last:.2f}](learning/{name}.svg)")
        cells = (f"{value:.3f}" for value in (first, last, worst, heldout, lost))
        table.append(row(f"`{name}`", str(len(runs[name])), *cells))
    leak = runs["tiny-leaky"]
    grown = runs["tiny-evolving"]
    _, paid = ends(leak, "reward")
    _, heldout = ends(leak, "heldout")
    before, after = ends(grown, "right")
    worst = min(ends([run], "right")[1] for run in grown)
    return {
        "plots": "\n".join(shown),
        "table": "\n".join(table),
        "leak": (
            f"In the last tenth, the reward in training is {paid:.3f} and the held-out reward"
            f" {heldout:.3f}."
        ),
        "evolving": (
            f"The share of right responses is {before:.3f} in the first tenth and {after:.3f} in"
            f" the last; {worst:.3f} for the\nworst of {len(grown)} seeds."
        ),
    }


def page() -> str:
    """The page with the figures of the curves."""
    text = PAGE.read_text("utf-8")
    for name, part in figures().items():
        mark = f"<!-- {name} of curves.json -->"
        block = f"{mark}\n{part}\n<!-- end -->"
        text, many = re.subn(
            f"{mark}.*?<!-- end -->", block.replace("\\", r"\\"), text, flags=re.DOTALL
        )
        assert many == 1, f"{PAGE} has {many} times {mark}"
    return text


if __name__ == "__main__":
    if len(sys.argv) > 1:
        lines = [
            f'"{n}": [\n' + ",\n".join(map(json.dumps, r)) + "\n]"
            for n, r in curves(Path(sys.argv[1])).items()
        ]
        (FOLDER / "curves.json").write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    for name, text in pictures().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
    PAGE.write_text(page(), encoding="utf-8")
