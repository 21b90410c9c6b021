"""A function reads no file that its fingerprint does not cover."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from rlenv_auditor.bench import Bench, OutOfBudget
from rlenv_auditor.model import Result
from rlenv_auditor.target.wire import task_to

from .base import Probe, Skip, counted, finding

__all__ = ["PROBES"]

TEXTS = ("", "42", "I do not know.")
LONGEST_S = 60.0


def _reads(bench: Bench, probe: Probe) -> Result:
    spec = bench.target.spec
    if not _names_file(spec.target):
        raise Skip("it is not an env.toml that names a function in a file", "other-kind")
    seconds = min(LONGEST_S, bench.left())
    if seconds <= 0:
        raise OutOfBudget
    golds = {task.id: gold for task, gold in bench.golds.known()}
    tasks = bench.tasks[:4]
    pairs = [
        (task, text)
        for task in tasks
        for text in (golds.get(task.id), *TEXTS)
        if isinstance(text, str)
    ]
    order = {"target": spec.target, "pairs": [[task_to(task), text] for task, text in pairs]}
    try:
        done = subprocess.run(  # noqa: S603 - our own module
            [spec.python or sys.executable, "-m", "rlenv_auditor.target.reading"],
            input=json.dumps(order) + "\n",
            cwd=spec.cwd,
            env={**os.environ, **spec.environ},
            capture_output=True,
            text=True,
            timeout=seconds,
            check=True,
        )
        read = json.loads(done.stdout.splitlines()[-1])
    except (subprocess.SubprocessError, ValueError, IndexError) as error:
        reason = f"its functions could not be watched: {type(error).__name__}"
        raise Skip(reason, "unscored") from error
    wanted = "reads = (...) on the function, with every file that it reads"
    found = [
        finding(
            probe,
            None,
            "",
            reward=None,
            title=f"{function} reads {os.path.basename(path)}, which it does not declare"[:200],
            expected=wanted,
            path=path,
        )
        for function, path in read
    ]
    return counted(probe, found, [""])


def _names_file(target: str) -> bool:
    """Whether an env.toml may name a function in a file; others need no process of their own."""
    try:
        return target.endswith(".toml") and ".py:" in Path(target).read_text("utf-8")
    except (OSError, ValueError):
        return False


PROBES = (
    Probe(
        "files.declared",
        "a function reads only files that it declares",
        "low",
        'declare it: @stage(reads=("table.csv",)), so that an edit changes the fingerprint',
        "",
        special=_reads,
    ),
)
