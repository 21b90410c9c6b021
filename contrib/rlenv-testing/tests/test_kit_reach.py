"""The law `reach` finds options that are marked as safe and are not."""

from __future__ import annotations

import os
import re
import socket
import sqlite3
import subprocess
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path

from attrs import field, frozen
from rlenv import Attempt, Examples, Outcome, Task
from rlenv.authoring import File, Safe
from rlenv_testing import broken_laws

TASK = Task("Name the capital of France.", "Paris")
EXAMPLES = Examples([(TASK, "Paris")], [(TASK, "London")])


ACTS: Mapping[str, Callable[[str], object]] = {
    "opens": lambda text: Path(text).read_text(),
    "connects": lambda text: socket.create_connection((text.split("/")[2], 80), 1),
    "runs": lambda text: subprocess.run([text], check=False),
    "looks_up": lambda text: os.environ[text],
    "imports": import_module,
    "keeps": sqlite3.connect,
}


@frozen
class Marked:
    """A stage whose options are marked as safe, and each is used for something else."""

    opens: Safe[str] = ""
    connects: Safe[str | None] = None
    runs: Safe[tuple[str, ...]] = ()
    looks_up: str = field(default="", metadata={"safe": True})
    imports: Safe[Mapping[str, float]] = field(factory=dict)
    keeps: Safe[object] = None
    compares: Safe[str] = ""

    def check(self, attempt: Attempt) -> Outcome:
        for name, act in ACTS.items():
            value = getattr(self, name)
            for text in [value] if isinstance(value, str) else [*(value or ())]:
                if text:
                    act(text)
        return Outcome(float(attempt.response == attempt.task.answer))


@frozen
class Reads:
    """A stage that reads a file, which it declares."""

    table: File = field(factory=File)
    note: str = ""

    def check(self, attempt: Attempt) -> Outcome:
        if self.table:
            File(self.table).path.read_text()
        if self.note:
            Path(self.note).read_text()
        return Outcome(float(attempt.response == attempt.task.answer))


def reach(stage: object) -> str:
    return broken_laws(stage, EXAMPLES, laws=["reach"]).get("reach", "")


def test_a_wrong_mark_is_found() -> None:
    found = reach(Marked())
    for option, event in {
        "opens": "open",
        "connects": "socket.getaddrinfo",
        "runs": "subprocess.Popen",
        "looks_up": "os.environ",
        "imports": "import",
        "keeps": "sqlite3.connect",
    }.items():
        assert re.search(rf"{option} = [^;]* is told to {event}", found)
    assert "compares = " not in found


def test_what_code_false_rejects_is_not_tried() -> None:
    assert not reach(Reads())
