"""The command as a person uses it: files, replays, differences, exit codes, and mistakes that name
their remedy.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from rlenv.model.errors import RlenvError
from rlenv_auditor.cli import command

VERIFIER = '''
import os, time

def leaky(prompt, response, answer):
    """Pays nan, and whatever holds the answer."""
    return 1.0 if "nan" in response else float(str(answer) in response)

def sound(prompt, response, answer):
    found = response.split("####")
    return float(len(found) == 2 and found[1].strip() == str(answer))

def hanging(prompt, response, answer):
    while response:
        time.sleep(1)
    return 0.0

def dying(prompt, response, answer):
    os._exit(1)

def odd(thing, other, third, fourth):
    return 0.0
'''
TASKS = [{"prompt": f"{a} + {a + 1}?", "answer": str(2 * a + 1)} for a in range(20, 32)]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "audited.py").write_text(VERIFIER)
    (tmp_path / "tasks.jsonl").write_text("".join(json.dumps(task) + "\n" for task in TASKS))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def call(*words: str) -> Result:
    result = CliRunner().invoke(command, words)
    if result.exception is not None and not isinstance(result.exception, (SystemExit, RlenvError)):
        raise result.exception
    return result


ONLY = ("--only", "gold", "--only", "baselines.constant", "--only", "baselines.echo")


def test_a_leaky_verifier_is_told_with_its_smallest_reproducer(home: Path) -> None:
    result = call("audited:leaky", "--tasks-from", "tasks.jsonl", *ONLY, "--json", "a.json")

    assert result.exit_code == 1
    assert "the constant 'nan' is paid on 12 of 12 tasks" in result.output
    assert "earns 1.000 on average" in result.output
    assert "exceeded exploit > 0" in result.output
    card = json.loads((home / "a.json").read_text())
    assert card["schema"] == "rlenv.audit/1"
    assert {one["probe"] for one in card["results"]} >= {"gold.passes", "baselines.constant"}


def test_a_sound_verifier_ends_with_nothing_found(home: Path) -> None:
    result = call("audited:sound", "--tasks-from", "tasks.jsonl", *ONLY)

    assert result.exit_code == 0, result.output
    assert "no exploit found by the chosen probes" in result.output
    assert len(result.output.splitlines()) < 40


def test_every_file_is_written_and_a_finding_replays_to_the_same_reward(home: Path) -> None:
    outputs = ("--json", "a.json", "--html", "a.html", "--sarif", "a.sarif", "--badge", "a.svg")
    call("audited:leaky", "--tasks-from", "tasks.jsonl", *ONLY, *outputs, "--emit-tests", "holes")
    card = json.loads((home / "a.json").read_text())
    findings = [finding for result in card["results"] for finding in result["findings"]]

    assert findings
    for finding in findings:
        again = call(
            "audited:leaky",
            "--tasks-from",
            "tasks.jsonl",
            "--json",
            "a.json",
            "--replay",
            finding["id"],
        )
        assert again.exit_code == 1, again.output
        assert f"then {finding['reward']:g}, now {finding['reward']:g}" in again.output
    page = (home / "a.html").read_text()
    assert "<script src" not in page
    assert "http" not in page.replace("http-equiv", "")
    assert json.loads((home / "a.sarif").read_text())["version"] == "2.1.0"
    assert "findings" in (home / "a.svg").read_text()


@pytest.mark.slow  # pytest starts twice; test_audit_rendered.py runs one emitted test
def test_the_emitted_tests_fail_until_the_hole_is_closed(home: Path) -> None:
    call(
        "audited:leaky",
        "--tasks-from",
        "tasks.jsonl",
        "--only",
        "baselines.constant",
        "--emit-tests",
        "holes",
    )
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "holes"]

    open_ = subprocess.run(words, cwd=home, capture_output=True, text=True, check=False)
    (home / "audited.py").write_text(
        VERIFIER.replace('1.0 if "nan" in response', '0.0 if "nan" in response').replace(
            "str(answer) in response", "response == str(answer)"
        )
    )
    os.utime(home / "audited.py", (0, 0))  # bytecode of this size and second would pass for it
    closed = subprocess.run(words, cwd=home, capture_output=True, text=True, check=False)

    assert "failed" in open_.stdout, open_.stdout
    assert "passed" not in open_.stdout.splitlines()[-1]
    assert closed.returncode == 0, closed.stdout


def test_two_audits_are_compared(home: Path) -> None:
    call("audited:leaky", "--tasks-from", "tasks.jsonl", *ONLY, "--json", "a.json")
    call("audited:sound", "--tasks-from", "tasks.jsonl", *ONLY, "--json", "b.json")

    better = call("diff", "a.json", "b.json")
    worse = call("diff", "b.json", "a.json")

    assert better.exit_code == 0
    assert "closed" in better.output
    assert worse.exit_code == 1
    assert "new" in worse.output


def test_a_target_that_hangs_is_a_finding_and_no_hang(home: Path) -> None:
    result = call(
        "audited:hanging",
        "--tasks-from",
        "tasks.jsonl",
        "--only",
        "robustness",
        "--tasks",
        "1",
        "--patience",
        "0.2",
        "--budget",
        "3s",
    )

    assert result.exit_code == 1
    assert "hang" in result.output


@pytest.mark.slow  # dies in the workers of a whole family of probes
def test_a_target_that_dies_is_a_finding(home: Path) -> None:
    result = call(
        "audited:dying",
        "--tasks-from",
        "tasks.jsonl",
        "--only",
        "robustness",
        "--tasks",
        "1",
        "--budget",
        "3s",
    )

    assert result.exit_code == 1
    assert "crash" in result.output


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("missing:f", "--tasks-from", "tasks.jsonl"), "cannot be imported"),
        (("audited:leeky", "--tasks-from", "tasks.jsonl"), "leaky"),
        (("audited:leaky",), "--tasks-from"),
        (("audited:odd", "--tasks-from", "tasks.jsonl"), "--as"),
        (("audited:leaky", "--as", "trls", "--tasks-from", "tasks.jsonl"), "plain, trl"),
        (("audited:leaky", "--tasks-from", "none.jsonl"), "none.jsonl"),
        (("audited:leaky", "--tasks-from", "tasks.jsonl", "--only", "golds"), "gold"),
        (("audited:leaky", "--tasks-from", "tasks.jsonl", "--fail-on", "exploits>1"), "exploit"),
        (("audited:leaky", "--tasks-from", "tasks.jsonl", "--budget", "soon"), "60s"),
        (("audited:leaky", "--tasks-from", "tasks.jsonl", "--replay", "x"), "--json"),
        (("no-such-env.toml",), "no-such-env.toml"),
    ],
)
def test_a_mistake_names_its_remedy(home: Path, words: tuple[str, ...], said: str) -> None:
    result = call(*words)

    assert isinstance(result.exception, RlenvError), result.output
    assert said in str(result.exception)


def rows(path: Path, rewards: list[tuple[int, float]]) -> str:
    path.write_text("".join(json.dumps({"step": s, "reward": r}) + "\n" for s, r in rewards))
    return str(path)


def test_a_reward_that_rises_in_training_alone_is_an_alarm(home: Path) -> None:
    up = [(step, min(1.0, 0.2 * step + 0.01 * n)) for step in range(5) for n in range(10)]
    flat = [(step, 0.3 + 0.01 * (n % 3)) for step in range(5) for n in range(10)]
    train = rows(home / "train.jsonl", up)
    heldout = rows(home / "heldout.jsonl", flat)

    alarmed = call("delta", "--train", train, "--heldout", heldout)
    calm = call("delta", "--train", train, "--heldout", train)

    assert alarmed.exit_code == 1
    assert "ALARM" in alarmed.output
    assert calm.exit_code == 0
    assert "no alarm" in calm.output


def test_a_spot_check_counts_what_a_person_says(home: Path) -> None:
    scores: list[dict[str, Any]] = [{"schema": "rlenv.scores/1"}]
    scores += [
        {"row": n, "task": f"t{n % 3}", "response": f"answer {n}", "reward": float(n % 4 == 0)}
        for n in range(1, 21)
    ]
    (home / "out.jsonl").write_text("".join(json.dumps(row) + "\n" for row in scores))

    words = [
        "spot-check",
        "out.jsonl",
        "-n",
        "4",
        "--labels",
        "labels.jsonl",
        "--emit-tests",
        "missed",
    ]
    result = CliRunner().invoke(command, words, input="y\nn\nn\ny\n")

    assert "2 of 4: 50.0 % (6.8–93.2)" in result.output, result.output
    assert len((home / "labels.jsonl").read_text().splitlines()) == 4
    assert "answer" in (home / "missed" / "test_wrong_refusals.py").read_text()
