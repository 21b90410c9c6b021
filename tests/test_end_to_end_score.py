"""`rlenv score` on the built-in data, as a user runs it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[1]
EXAMPLE = ROOT / "examples" / "everyday"
RLENV = str(Path(sys.executable).parent / "rlenv")
ENV = str(EXAMPLE / "env.toml")
RESPONSES = str(EXAMPLE / "responses.jsonl")


class Scored(NamedTuple):
    status: int
    shown: str
    out: Path


def rlenv(*args: str, cwd: Path) -> tuple[int, str]:
    env = {**os.environ, "COLUMNS": "120"}
    ran = subprocess.run(
        [RLENV, *args], cwd=cwd, env=env, capture_output=True, text=True, timeout=120, check=False
    )
    return ran.returncode, ran.stdout + ran.stderr


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def timeless(value: Any) -> Any:
    """The same without how long things took, and without the code that covers it."""
    if isinstance(value, dict):
        return {k: timeless(v) for k, v in value.items() if k not in ("seconds", "mac")}
    return [timeless(v) for v in value] if isinstance(value, list) else value


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> Scored:
    folder = tmp_path_factory.mktemp("scored")
    status, shown = rlenv("score", ENV, RESPONSES, "-o", "scores.jsonl", cwd=folder)
    return Scored(status, shown, folder / "scores.jsonl")


def test_the_built_in_responses_are_scored_without_a_fault(scored: Scored) -> None:
    assert scored.status == 0, scored.shown
    assert all(row["fault"] is None for row in rows(scored.out)[1:])


def test_every_response_has_its_row_in_order(scored: Scored) -> None:
    given = rows(EXAMPLE / "responses.jsonl")
    header, *found = rows(scored.out)

    assert header["schema"] == "rlenv.scores/1"
    assert header["env"] == "everyday"
    assert [row["row"] for row in found] == list(range(1, len(given) + 1))
    assert [row["task"] for row in found] == [row["task"] for row in given]
    assert [row["response"] for row in found] == [row["response"] for row in given]


def test_every_reward_agrees_with_its_label(scored: Scored) -> None:
    given = rows(EXAMPLE / "responses.jsonl")
    wrong = [
        (label["task"], label["kind"], label["response"][:80], row["reward"])
        for label, row in zip(given, rows(scored.out)[1:], strict=True)
        if row["passed"] is not label["right"]
    ]

    assert wrong == []


def test_the_built_in_data_is_what_it_promises_to_be() -> None:
    tasks = rows(EXAMPLE / "tasks.jsonl")
    given = rows(EXAMPLE / "responses.jsonl")
    kinds = Counter(row["kind"] for row in given)
    answers = Counter(row["task"] for row in given)

    assert len(tasks) >= 60
    assert set(answers) == {task["id"] for task in tasks}
    assert min(answers.values()) >= 3
    assert {"right", "wrong", "adversarial"} <= set(kinds)


def test_the_summary_tells_what_a_person_wants_to_know(scored: Scored) -> None:
    for word in ("mean reward", "pass rate", "unscored", "math/equal", "arithmetic"):
        assert word in scored.shown.lower().replace("math / equal", "math/equal"), word


def test_a_second_run_writes_over_nothing_unasked(scored: Scored) -> None:
    before = scored.out.read_bytes()
    status, shown = rlenv("score", ENV, RESPONSES, "-o", str(scored.out), cwd=scored.out.parent)

    assert status == 2
    assert "scores.jsonl" in shown
    assert "--resume" in shown
    assert "Traceback" not in shown
    assert scored.out.read_bytes() == before


def test_resuming_a_finished_run_changes_nothing(scored: Scored) -> None:
    before = scored.out.read_bytes()
    status, shown = rlenv("score", ENV, RESPONSES, "-o", str(scored.out), "--resume", cwd=ROOT)

    assert status == 0, shown
    assert scored.out.read_bytes() == before


def test_a_killed_run_goes_on_without_loss_or_doubles(scored: Scored, tmp_path: Path) -> None:
    out = tmp_path / "scores.jsonl"
    command = [RLENV, "score", ENV, RESPONSES, "-o", str(out)]
    run = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while run.poll() is None and time.monotonic() < deadline:
        if out.exists() and out.read_bytes().count(b"\n") > 3:
            run.send_signal(signal.SIGKILL)
            break
        time.sleep(0.002)
    run.wait(60)
    with out.open("ab") as torn:
        torn.write(b'{"row": 99, "task": "su')
    status, shown = rlenv("score", ENV, RESPONSES, "-o", str(out), "--resume", cwd=tmp_path)

    assert status == 0, shown
    assert timeless(rows(out)) == timeless(rows(scored.out))


def test_more_workers_write_the_same_rows(scored: Scored, tmp_path: Path) -> None:
    out = tmp_path / "scores.jsonl"
    status, shown = rlenv("score", ENV, RESPONSES, "-o", str(out), "--workers", "2", cwd=tmp_path)

    assert status == 0, shown
    assert timeless(rows(out)) == timeless(rows(scored.out))


def test_make_run_is_this_very_command() -> None:
    shown = subprocess.run(
        ["make", "--dry-run", "run"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout

    assert "rlenv score examples/everyday/env.toml examples/everyday/responses.jsonl" in shown
