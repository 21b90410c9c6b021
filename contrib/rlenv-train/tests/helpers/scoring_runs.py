"""Runs with a cache of verdicts, for its tests."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import rlenv
from rlenv import Environment, Fault, Outcome, Task, Verdict, VerifierFault
from rlenv_cli.scores import verdict_to_dict
from rlenv_train import ScoringEngine

TASK = Task("1?", answer="1", id="t")


class Log(list[str]):
    """What was asked, which is no setting of the function that writes it."""

    def __rlenv_state__(self) -> tuple[()]:
        return ()


ASKED = Log()


@rlenv.stage(where="inline")
def scored(response: str, answer: object) -> Outcome:
    """The score that the response names, with data; what the answer is goes to the operator."""
    ASKED.append(response)
    if response == "break":
        raise RuntimeError("broken")
    if response == "later":
        raise VerifierFault(Fault("unavailable", "not now", transient=True))
    score = {"1": 1.0, "half": 0.5}.get(response, 0.0)
    return Outcome(
        score,
        f"says {response}",
        {"x": [1, None, 0.1, "é\ud800"]},
        steps=[(0, 0.25)],
        private={"gold": answer},
    )


def run(
    path: Path,
    responses: Sequence[Any],
    verifier: Any = scored,
    task: Task = TASK,
    **options: Any,
) -> tuple[list[Verdict], dict[str, float]]:
    """The verdicts of one run, which opens the file anew, and its numbers."""
    with ScoringEngine(Environment("e", verifier), cache=path, **options) as engine:
        verdicts = list(engine.evaluate_many([(task, response) for response in responses]))
        return verdicts, engine.metrics()


def change(path: Path, *statements: Any) -> None:
    """Run SQL on a file."""
    with closing(sqlite3.connect(path)) as db, db:
        for statement in statements:
            db.execute(*statement) if isinstance(statement, tuple) else db.execute(statement)
        db.commit()
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def whole(verdict: Verdict) -> str:
    """All of a verdict, the seconds too."""
    return json.dumps(verdict_to_dict(verdict))


def stored(path: Path) -> list[Any]:
    """All entries of a file."""
    with closing(sqlite3.connect(path)) as db:
        return db.execute("SELECT key, value FROM verdicts").fetchall()
