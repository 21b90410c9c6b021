"""Audits in the wild: public verifiers, a league table, and each grave finding shown again without
the audit.

The verifiers live in environments of their own, named in RLENV_PEERS (see README.md).  What was
audited stands as JSON in the folder and is not audited again; stopped, it goes on where it ended.
Usage: RLENV_PEERS=.venv-wild/bin/python:.venv-verifiers-v0/bin/python python
benchmarks/audit_wild.py --out build/wild
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[0] = str(ROOT)  # so that `benchmarks` is a package

import argparse
import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rlenv.model.errors import RlenvError
from rlenv_auditor import Finding, Scorecard, audit
from rlenv_auditor.catalog import probes
from rlenv_auditor.render import record

from benchmarks import wild_rows, wild_tasks
from benchmarks.wild_targets import PACKAGES, Wild, interpreters, targets

PEERS = Path(__file__).resolve().parent / "peers"
SIZE = 50  # entries of a data set of reasoning-gym that the audit makes
PATIENCE_S = 5.0
# Each of these starts the package anew, some of them up to six times, and these packages take
# seconds to import.
LEFT_OUT = {f"determinism.{name}" for name in ("locale", "folder", "state", "process", "hashes")}


@contextmanager
def bounded(seconds: float) -> Iterator[None]:
    """The audit ends by itself; if it should not, that is a row, and not the end of the league."""

    def late(*_: object) -> None:
        raise TimeoutError(f"the audit did not end within {seconds:.0f} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def audited(wild: Wild, out: Path, seconds: float, seed: int) -> dict[str, Any]:
    """The row of one verifier; whatever it does."""
    python, version = interpreters()[wild.package]
    seconds *= wild.slow
    tasks_from, right = wild_tasks.write(wild.tasks, out) if wild.tasks else ("", {})
    try:
        with bounded(10 * seconds + 240):
            card = audit(
                wild.target,
                signature=wild.signature,
                tasks_from=str(tasks_from),
                right=right,
                archetype=wild.archetype,
                seed=seed,
                tasks=wild.most,
                budget=seconds,
                patience=PATIENCE_S,
                python=python,
                fail_on="never",
                only=[probe.id for probe in probes() if probe.id not in LEFT_OUT],
            )
    except RlenvError as error:
        return wild_rows.unmeasured(wild, version, str(error))
    except Exception as error:
        return wild_rows.unmeasured(wild, version, f"OURS: {type(error).__name__}: {error}")
    record.write(card, out / f"{_file(wild)}.audit.json")
    replays = shown_again(wild, python, card, str(tasks_from))
    (out / f"{_file(wild)}.replays.json").write_text(json.dumps(replays, indent=1))
    kept = {one: wild_rows.confirmed(*_finding(card, one), said) for one, said in replays.items()}
    return wild_rows.row(wild, version, card, kept)


def _finding(card: Scorecard, number: str) -> tuple[Finding, str]:
    return next((f, r.measure) for r in card.results for f in r.findings if f.id == number)


def shown_again(wild: Wild, python: str, card: Scorecard, tasks_from: str) -> dict[str, list[str]]:
    """What the verifier says of each finding's response, asked by a process that has nothing of
    ours.
    """
    rows = _rows(tasks_from)
    cases: list[tuple[str, dict[str, Any]]] = []
    for result in card.results:
        for one in result.findings:
            if not one.task:
                continue
            task = rows[one.task] if rows else int(one.task.rpartition("-")[2])
            again = 5 if result.measure == "nondet" else 1
            cases.append(
                (
                    one.id,
                    {
                        "task": task,
                        "response": one.response,
                        "times": again,
                        "patience": PATIENCE_S if "hang" in one.title else 30.0,
                    },
                )
            )
    asked = {"kind": wild.kind, "name": wild.function, "size": SIZE, "seed": card.seed}
    again = any(case["times"] > 1 for _, case in cases)
    told = [
        _asked(python, [asked, *(case for _, case in cases)], hashes) if cases else []
        for hashes in (("0", "4711") if again else ("0",))
    ]
    return {
        one: [word for part in said for word in part]
        for (one, _), *said in zip(cases, *told, strict=True)
    }


def _rows(path: str) -> Mapping[str, Any]:
    lines = Path(path).read_text("ascii").splitlines() if path else []
    return {row["id"]: row for row in map(json.loads, lines)}


def _asked(python: str, lines: Sequence[Any], hashes: str) -> list[list[str]]:
    said = subprocess.run(
        [python, str(PEERS / "wild_replay.py")],
        input="".join(json.dumps(line) + "\n" for line in lines),
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONHASHSEED": hashes},
        check=False,
    )
    found = [json.loads(line) for line in said.stdout.splitlines()]
    return found + [["no replay"]] * (len(lines) - 1 - len(found))


def _file(wild: Wild) -> str:
    return re.sub(r"\W+", "-", wild.name).strip("-")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "build/wild")
    parser.add_argument("--only", default="", help="a piece of the names")
    parser.add_argument("--budget", type=float, default=20.0, help="seconds for one verifier")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--quick", action="store_true", help="every tenth, 5 seconds each")
    parser.add_argument("--again", action="store_true", help="audit also what was audited before")
    options = parser.parse_args()
    screen = Console()
    for package in (one for one in PACKAGES if one not in interpreters()):
        told = (
            f"{package} is not audited: no interpreter in RLENV_PEERS has it ({PACKAGES[package]})"
        )
        screen.print(told, markup=False, soft_wrap=True)
    chosen = [one for one in targets() if options.only in one.name][:: 10 if options.quick else 1]
    options.out.mkdir(parents=True, exist_ok=True)
    os.environ["PYTHONPATH"] = os.pathsep.join(
        filter(None, (str(PEERS), os.environ.get("PYTHONPATH", "")))
    )
    columns = (TextColumn("{task.description}"), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=screen) as progress:
        bar = progress.add_task("audits", total=len(chosen))
        for wild in chosen:
            progress.update(bar, description=wild.name)
            path = options.out / f"{_file(wild)}.row.json"
            if options.again or not path.exists():
                made = audited(
                    wild, options.out, 5.0 if options.quick else options.budget, options.seed
                )
                path.write_text(json.dumps(made, indent=1) + "\n")
            progress.advance(bar)
    _league(options.out, screen)


def _league(out: Path, screen: Console) -> None:
    rows = [json.loads(path.read_text()) for path in sorted(out.glob("*.row.json"))]
    if not rows:
        return
    page = wild_rows.markdown(rows, time.strftime("%Y-%m-%d"))
    (out / "league.md").write_text(page)
    (out / "league.json").write_text(json.dumps(wild_rows.ranked(rows), indent=1) + "\n")
    screen.print(page, markup=False, highlight=False, soft_wrap=True)


if __name__ == "__main__":
    main()
