"""One distribution copied, mutated and tested by mutmut, in a folder of its own; for mutants.py."""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.mutated import KILLED, LATE, UNJUDGED, Mutant, mutants, statuses

ROOT = Path(__file__).resolve().parents[1]
WORK = ROOT / "build/mutants"
EVERY = 60.0  # seconds from one line of progress to the next
PYTEST_INI = """[pytest]
filterwarnings = error
markers =
    slow: takes long
    data: needs data
"""
CONFTEST = '''"""Laws are tried with the same few examples for each mutant, after the other tests.

A counterexample is not shrunk.
"""

import os

from hypothesis import Phase, settings

os.environ.setdefault("RLENV_SECRET", "for tests only")
FEW = {few}
quick = {{
    "phases": (Phase.explicit, Phase.generate),
    "database": None,
    "deadline": None,
    "derandomize": True,
}}
settings.register_profile("mutants", max_examples=FEW, **quick)
settings.load_profile("mutants")
OWN = "_hypothesis_internal_use_settings"


def pytest_collection_modifyitems(items):
    for item in items:
        own = getattr(getattr(item, "obj", None), OWN, None)
        if own is not None:
            setattr(item.obj, OWN, settings(own, max_examples=min(FEW, own.max_examples)))
    items.sort(key=lambda item: hasattr(getattr(item, "obj", None), "hypothesis"))
'''


class Broken(Exception):
    """Mutmut did not do what it was asked."""


class Part:
    """One distribution: copied, mutated and tested in a folder of its own."""

    def __init__(self, name: str, settings: dict[str, Any]) -> None:
        self.name = name
        self.settings = settings
        self.source = ROOT / settings["folder"]
        self.folder = WORK / name

    def prepare(self, *, fresh: bool) -> None:
        """Copy the code and its tests, and write mutmut's settings; unless that was done, and
        nothing changed since.
        """
        if self.current() and not fresh:
            return
        shutil.rmtree(self.folder, ignore_errors=True)
        unwanted = shutil.ignore_patterns("__pycache__")
        for inner in ("src", "tests"):
            shutil.copytree(self.source / inner, self.folder / inner, ignore=unwanted)
        shutil.copytree(ROOT / "core/src", self.folder / "core", ignore=unwanted)
        # Python forgets no folder that was missing
        (self.folder / "mutants/src").mkdir(parents=True)
        few = CONFTEST.format(few=self.settings["examples"])
        (self.folder / "conftest.py").write_text(few, "utf-8")
        (self.folder / "pytest.ini").write_text(PYTEST_INI, "utf-8")
        lines = [f"{key} = {json.dumps(value)}" for key, value in self._tool().items()]
        text = "[tool.mutmut]\n" + "\n".join(lines) + "\n"
        (self.folder / "pyproject.toml").write_text(text, "utf-8")
        (self.folder / "stamp").write_text(self._stamp(), "utf-8")

    def _stamp(self) -> str:
        """Differs when anything differs that could change what is judged."""
        said = hashlib.sha256(json.dumps([self._tool(), self.settings, CONFTEST]).encode())
        for folder in (self.source / "src", self.source / "tests", ROOT / "core/src"):
            for path in sorted(folder.rglob("*")):
                if path.is_file() and "__pycache__" not in path.parts:
                    said.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes())
        return said.hexdigest()

    def current(self) -> bool:
        """Whether what was judged before still holds, and can be read."""
        if _text(self.folder / "stamp") != self._stamp():
            return False
        try:
            statuses(self.folder)
        except ValueError:  # stopped while it was written
            return False
        return True

    def concerned(self, only: Sequence[str]) -> bool:
        """Whether any of these words names this part or one of its modules."""
        return not only or any(
            word == self.name or any(word in module for module in self.settings["modules"])
            for word in only
        )

    def _tool(self) -> dict[str, Any]:
        """The settings of mutmut."""
        quiet = ["--import-mode=importlib", "-p", "no:cacheprovider", "-p", "no:xdist"]
        for test in self.settings.get("skip", ()):
            quiet += ["--deselect", test]
        return {
            "source_paths": ["src"],
            "only_mutate": self.settings["modules"],
            "also_copy": ["conftest.py", "pytest.ini"],
            "pytest_add_cli_args": quiet,
            "pytest_add_cli_args_test_selection": self.settings["tests"],
            "timeout_multiplier": 5.0,
            "timeout_constant": 3.0,
            "use_git_change_detection": False,
            "track_dependencies": False,
        }

    def chosen(self, seed: int) -> list[Mutant]:
        """The mutants to judge: all, or a sample when there are more than ``at_most``."""
        every = list(mutants(self.folder, f"{self.settings['folder']}/"))
        at_most = self.settings["at_most"]
        if len(every) <= at_most:
            return every
        return sorted(random.Random(seed).sample(every, at_most))

    def make(self) -> None:
        """Make the mutants, and see which test runs what."""
        if not (self.folder / "mutants/mutmut-stats.json").exists():
            print(f"{self.name}: makes the mutants", flush=True)
            shutil.rmtree(self.folder / "mutants")  # half of them, where that was stopped
            (self.folder / "mutants/src").mkdir(parents=True)
            self._mutmut(["none.*"])  # which matches nothing
        if not statuses(self.folder):
            raise Broken(self._last_words())

    def judge(self, names: Sequence[str]) -> None:
        """Judge these; what counts is what was judged, not how mutmut ends."""
        left = list(names)
        while left:
            self._mutmut(left, told=True)
            known = statuses(self.folder)
            still = [name for name in left if known[name] in UNJUDGED]
            if len(still) == len(left):
                raise Broken(self._last_words())
            left = still

    def judge_late(self, names: Iterable[str]) -> None:
        """Judge once more what ran out of time, which a busy machine may be to blame for."""
        seen = self.folder / "late"
        known = statuses(self.folder)
        late = sorted({n for n in names if known[n] in LATE} - set(_text(seen).split()))
        if late:
            print(f"{self.name}: {len(late)} ran out of time, once more", flush=True)
            self.judge(late)
            seen.write_text("\n".join({*_text(seen).split(), *late}), "utf-8")

    def _mutmut(self, names: Sequence[str], *, told: bool = False) -> None:
        paths = [self.folder / "mutants/src", self.folder / "core"]
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))}
        command = [sys.executable, "-m", "mutmut", "run", "--max-children", "1", *names]
        with (
            (self.folder / "mutmut.log").open("a", encoding="utf-8") as log,
            subprocess.Popen(
                command, cwd=self.folder, env=env, stdout=log, stderr=log, start_new_session=True
            ) as child,
        ):
            try:
                self._wait(child, names, told=told)
            except BaseException:
                os.killpg(child.pid, signal.SIGTERM)
                raise

    def _wait(self, child: subprocess.Popen[bytes], names: Sequence[str], *, told: bool) -> None:
        start = time.monotonic()
        while True:
            try:
                child.wait(EVERY)
            except subprocess.TimeoutExpired:
                minutes = (time.monotonic() - start) / 60
                print(f"{self.name}: {minutes:.0f} min" + self._tally(names) * told, flush=True)
            else:
                return

    def _tally(self, names: Sequence[str]) -> str:
        try:
            known = statuses(self.folder)
        except ValueError:  # mutmut is writing it
            return ""
        found = [known[name] for name in names if known[name] not in UNJUDGED]
        lived = sum(status not in KILLED for status in found)
        return f", {len(found)} of {len(names)} judged, {lived} survive"

    def _last_words(self) -> str:
        log = self.folder / "mutmut.log"
        return f"mutmut broke, see {log}:\n" + "\n".join(_text(log).splitlines()[-20:])


def _text(path: Path) -> str:
    return path.read_text("utf-8", errors="replace") if path.exists() else ""
