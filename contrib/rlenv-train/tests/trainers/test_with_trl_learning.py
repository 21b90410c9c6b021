"""examples/grpo: a policy that learns from rewards of rlenv, a rubric that evolves meanwhile, and a
leak.

``make test-full`` runs one seed of the copy task.  Whole runs are compared, so each takes half a
minute or more.
"""

from __future__ import annotations

import importlib
import json
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path
from statistics import fmean

import pytest
import rlenv
from rlenv import Environment, Task
from rlenv_train import ScoringEngine

pytest.importorskip("trl", reason="TRL is not installed here: `make test-trainers` runs this")
psutil = pytest.importorskip("psutil")  # comes with TRL

EXAMPLE = Path(__file__).resolve().parents[4] / "examples" / "grpo"
ENVIRONMENTS = EXAMPLE / "environments" / "tiny_environments"
JUDGED = ("tiny-judge", "tiny-evolving", str(ENVIRONMENTS / "evolving.toml"))


def command(env, out, *options):
    """The command line that trains; next to the scripted judge where the environment asks one."""
    judge = [sys.executable, "-W", "ignore", str(EXAMPLE / "judge.py")] if env in JUDGED else []
    train = [sys.executable, "-W", "ignore", str(EXAMPLE / "train.py"), env, "-o", str(out)]
    return [*judge, *train, *map(str, options)]


def run(env, out, *options, status=0):
    """What a training prints."""
    ran = subprocess.run(
        command(env, out, *options), capture_output=True, text=True, timeout=900, check=False
    )
    assert ran.returncode == status, ran.stdout + ran.stderr
    return ran.stdout + ran.stderr


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def column(out, name):
    return [row[name] for row in lines(out / "curve.jsonl") if name in row]


def ends(out, name):
    """The means of the first and of the last tenth."""
    values = column(out, name)
    many = max(1, len(values) // 10)
    return fmean(values[:many]), fmean(values[-many:])


@pytest.mark.parametrize("seed", range(3))
def test_the_copy_task_is_learned(tmp_path, seed):
    run(str(ENVIRONMENTS / "math.toml"), tmp_path, "--seed", seed)
    first, last = ends(tmp_path, "reward")

    assert first < 0.2 < 0.95 < last
    assert ends(tmp_path, "heldout")[1] > 0.95
    assert set(column(tmp_path, "unscored")) == {0.0}


@pytest.mark.parametrize("env", ["tiny-math", "tiny-code", "tiny-constraint", "tiny-judge"])
def test_the_same_script_learns_from_every_archetype_by_name(tmp_path, env):
    run(env, tmp_path, "--steps", 120)
    (first, last) = ends(tmp_path, "reward")
    (_, heldout) = ends(tmp_path, "heldout")

    assert first < 0.2
    assert last > 0.6
    assert heldout > 0.9
    assert fmean(column(tmp_path, "unscored")) < 0.01


def test_a_leak_is_learned_instead_of_the_task(tmp_path):
    run("tiny-leaky", tmp_path, "--steps", 60)

    assert ends(tmp_path, "reward")[1] > 0.95
    assert ends(tmp_path, "heldout")[1] < 0.05


def test_nothing_is_trained_on_what_the_audit_finds(tmp_path):
    out = tmp_path / "out"
    said = run("tiny-leaky", out, "--audit", status=1)

    assert "paid 1" in said
    assert "rlenv audit ended with status 1" in said
    assert not out.exists()
    override = shlex.split(said.rpartition("To train on it anyway: python ")[2])
    assert override[0] == str(EXAMPLE / "train.py")
    assert "--audit" not in override
    subprocess.run([sys.executable, *override, "--steps", "1"], check=True, capture_output=True)
    assert len(column(out, "reward")) == 1


def test_training_follows_an_audit_that_finds_nothing(tmp_path):
    assert "no exploit found" in run("tiny-constraint", tmp_path, "--audit", "--steps", 1)
    assert len(column(tmp_path, "reward")) == 1


EVOLVING = ("--steps", 36, "--save-steps", 12, "--evolve-every", 5)


def killed_at(step, out):
    """A training that is killed after so many steps, before it is done."""
    started = subprocess.Popen(
        command("tiny-evolving", out, *EVOLVING),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        curve = out / "curve.jsonl"
        while not (curve.exists() and len(curve.read_text().splitlines()) >= step):
            assert started.poll() is None, "it ended before it was killed"
            time.sleep(0.05)
        for trainer in psutil.Process(started.pid).children():
            trainer.kill()
    finally:
        started.wait(60)


def evolved(out):
    """The rubric's versions, and each score with the version that gave it."""
    versions = {path.name: path.read_text() for path in (out / "rubrics").glob("*.json")}
    return versions, sorted(json.dumps(row) for row in lines(out / "scores.jsonl"))


def test_a_resumed_run_has_the_rubrics_and_scores_of_an_uninterrupted_one(tmp_path):
    whole = tmp_path / "whole"
    cut = tmp_path / "cut"
    run("tiny-evolving", whole, *EVOLVING)
    killed_at(21, cut)
    at_kill, _ = evolved(cut)
    saved = {path.name for path in (cut / "checkpoint-12" / "rubric" / "rubrics").glob("*.json")}
    run("tiny-evolving", cut, *EVOLVING, "--resume")

    assert saved < at_kill.keys()  # there was something to take back
    assert evolved(cut) == evolved(whole)
    assert column(cut, "reward") == column(whole, "reward")
    rows = lines(whole / "scores.jsonl")
    assert len(rows) == 36 * 160
    assert {row["rubric"] for row in rows if row["step"] <= 5} == {
        min(evolved(whole)[0]).removesuffix(".json")
    }
    assert len({row["rubric"] for row in rows}) > 2
    assert None not in {row["rubric"] for row in rows}

    (
        cut / "checkpoint-36" / "rubric" / "scores.jsonl"
    ).unlink()  # as if it was killed while it saved
    said = run("tiny-evolving", cut, *EVOLVING, "--resume", status=1)
    assert f"remove {cut / 'checkpoint-36'}, and resume again" in said
    shutil.rmtree(cut / "checkpoint-36")
    run("tiny-evolving", cut, *EVOLVING, "--resume")
    assert evolved(cut) == evolved(whole)


@pytest.mark.parametrize("seed", range(3))
def test_a_rubric_that_evolves_asks_for_what_no_response_does_until_it_is_learned(tmp_path, seed):
    run(str(ENVIRONMENTS / "evolving.toml"), tmp_path, "--seed", seed)
    rows = [row for row in lines(tmp_path / "scores.jsonl") if row["step"] > 225]
    newest = max((tmp_path / "rubrics").glob("*.json"))

    assert fmean(row["response"] == row["task"] for row in rows) > 0.95
    assert json.loads(newest.read_text())["retired"] == []


def test_rewards_while_the_policy_generates_are_the_same_rewards(tmp_path):
    found = []
    for way in ("whole", "parts", "overlap"):
        run("tiny-math", tmp_path / way, "--steps", 10, "--rollout", way)
        found.append((column(tmp_path / way, "reward"), column(tmp_path / way, "heldout")))

    assert found[0] == found[1] == found[2]


@rlenv.stage(where="inline")
def breaks_on_seven(response):
    return 1 / (response != "7")


def test_an_unscored_response_stays_unscored_where_verification_overlaps(monkeypatch):
    monkeypatch.syspath_prepend(str(EXAMPLE))
    overlap = importlib.import_module("overlap")
    logged = {}
    with Environment("seven", [breaks_on_seven]) as env, ScoringEngine(env) as engine:
        verdicts = [engine.submit(Task("7="), text) for text in "787"]
        rewards = overlap.Overlap(engine, None, 1, 1, ahead=True).reward(
            verdict=verdicts, log_metric=logged.__setitem__, completions=list("787")
        )

    assert rewards == [None, 1.0, None]
    assert logged == {"rlenv/reward": 1.0, "rlenv/unscored": pytest.approx(2 / 3)}
