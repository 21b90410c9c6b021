"""Runs the scripts of this folder, each in the environment that `make test-trainers` builds, into
results.json.

    python contrib/rlenv-train/tests/conformance/run.py [trl verl …]

Then `python docs/generate.py` writes docs/reference/conformance.md from it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[3]
RESULTS = HERE / "results.json"


def run(name: str) -> dict[str, Any]:
    """What the script of one framework printed, with its exit status."""
    python = ROOT / "build" / "trainers" / name / "bin" / "python"
    ran = subprocess.run(
        [str(python), f"with_{name}.py"],
        cwd=HERE,
        env={**os.environ, "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    lines = [line.partition(" ") for line in ran.stdout.splitlines()]
    cells = [json.loads(rest) for mark, _, rest in lines if mark == "CELL"]
    versions = [json.loads(rest) for mark, _, rest in lines if mark == "VERSIONS"]
    if ran.returncode:
        print(ran.stderr[-2000:], file=sys.stderr)
    return {"versions": versions[0] if versions else {}, "status": ran.returncode, "cells": cells}


def main(names: list[str]) -> None:
    known = [path.stem.removeprefix("with_") for path in sorted(HERE.glob("with_*.py"))]
    found = json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else {}
    for name in names or known:
        found[name] = run(name)
        print(name, found[name]["versions"], "status", found[name]["status"])
    RESULTS.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
