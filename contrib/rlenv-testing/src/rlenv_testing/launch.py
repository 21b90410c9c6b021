"""The laws in a pytest of their own, away from what else is loaded and installed here."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

from attrs import frozen

BROKE = 1  # pytest's exit status when tests failed
STEP_S = 0.2  # between two looks at what has ended
Ended: TypeAlias = Callable[[dict[str, Any]], None]


@frozen
class Results:
    """What came out.

    Args:
        rows: one mapping for each stage and law: stage, law, result, examples, seconds, reason or
            message.
        output: the end of pytest's output, if it did not finish.
    """

    rows: list[dict[str, Any]]
    output: str = ""


def launch(
    names: Sequence[str],
    *,
    stage: str | None,
    laws: Sequence[str],
    seed: int,
    examples: int,
    tasks: str = "",
    right: str = "",
    ended: Ended = lambda _: None,
) -> Results:
    """Run the laws on these plugins in a fresh process, in the present working directory.

    Args:
        names: plugins and other verifiers.
        stage: only this stage, by its short name.
        laws: only these laws; all where it is empty.
        seed: of generated examples.
        examples: generated examples for each law.
        tasks: a file of tasks, for what is not a plugin.
        right: a file of responses, likewise.
        ended: called with each law on a stage as it ends: a mapping with stage, law, result and
            seconds.
    """
    with tempfile.TemporaryDirectory(prefix="rlenv-check-") as folder:
        report = Path(folder) / "report.json"
        progress = Path(folder) / "progress.jsonl"
        (Path(folder) / "pytest.ini").write_text("[pytest]\n")
        argv = [sys.executable, "-P", "-m", "pytest", "--pyargs", "rlenv_testing.laws", "-q"]
        argv += ["-p", "rlenv_testing.pytest_plugin", "-p", "no:cacheprovider"]
        argv += ["-c", f"{folder}/pytest.ini", "--rootdir", folder, "--import-mode=importlib"]
        argv += ["--rlenv-json", str(report), "--rlenv-progress", str(progress)]
        argv += ["--rlenv-seed", str(seed), "--rlenv-examples", str(examples)]
        argv += [word for name in names for word in ("--rlenv-plugin", name)]
        argv += [word for law in laws for word in ("--rlenv-law", law)]
        argv += ["--rlenv-stage", stage] if stage is not None else []
        argv += ["--rlenv-tasks", tasks] if tasks else []
        argv += ["--rlenv-right", right] if right else []
        status, said = _followed(argv, Path(folder), progress, ended)
        rows = json.loads(report.read_text("utf-8")) if report.exists() else []
        whole = status in (0, BROKE) and rows
        return Results(rows, "" if whole else said or f"pytest ended with {status}")


def _followed(argv: Sequence[str], folder: Path, progress: Path, ended: Ended) -> tuple[int, str]:
    """Run pytest, and tell what has ended while it runs: its status and its output.

    Its output goes to a file, since a pipe that nobody reads would stop it.
    """
    with (folder / "output").open("w+b") as output:
        process = subprocess.Popen(  # noqa: S603 - this very interpreter
            argv, env=_environ(str(folder)), stdin=subprocess.DEVNULL, stdout=output, stderr=output
        )
        try:
            lines = _lines(progress)
            while process.poll() is None:
                _tell(lines, ended)
                with suppress(subprocess.TimeoutExpired):
                    process.wait(STEP_S)
            _tell(lines, ended)
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
        output.seek(0)
        return process.returncode, output.read().decode(errors="replace")


def _tell(lines: Iterator[str | None], ended: Ended) -> None:
    """Call ``ended`` with each new line."""
    while (line := next(lines)) is not None:
        ended(json.loads(line))


def _lines(path: Path) -> Iterator[str | None]:
    """The whole lines of a file that grows, and None wherever there is no other yet."""
    rest = ""
    while not path.exists():
        yield None
    with path.open(encoding="utf-8") as file:
        while True:
            rest += file.read()
            *whole, rest = rest.split("\n")
            yield from whole
            yield None


def _environ(folder: str) -> dict[str, str]:
    mine = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    storage = {
        "HYPOTHESIS_STORAGE_DIRECTORY": folder,
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "HYPOTHESIS_NO_PLUGINS": "1",
    }
    return {**mine, **storage}
