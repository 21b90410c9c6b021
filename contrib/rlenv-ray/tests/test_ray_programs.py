"""The programs of docs/how-to/score-on-ray.md and examples/ray, and ``rlenv score --on ray``, on
clusters of their own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("ray", reason="Ray is not installed here: `make test-trainers` runs this")
ROOT = Path(__file__).parents[3]


def run(folder, *words):
    own = {"RAY_USAGE_STATS_ENABLED": "0", "HOME": str(folder)}  # Ray writes a token at home
    env = {**os.environ, **own, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    ran = subprocess.run(
        [sys.executable, *map(str, words)],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return ran.returncode, ran.stdout + ran.stderr


def test_the_page_says_what_its_program_prints(tmp_path):
    page = (ROOT / "docs/how-to/score-on-ray.md").read_text("utf-8")
    code = page.partition("```python score_on_ray.py\n")[2].partition("```")[0]
    (tmp_path / "program.py").write_text(code, "utf-8")

    status, printed = run(tmp_path, "program.py")

    assert (status, "1.0" in printed.split()) == (0, True), printed


def test_ray_core_scores_all(tmp_path):
    status, printed = run(tmp_path, ROOT / "examples/ray/ray_core.py")

    assert (status, "500 verdicts, mean reward 1.0" in printed) == (0, True), printed


def test_ray_data_scores_all(tmp_path):
    pytest.importorskip("pandas")
    status, printed = run(tmp_path, ROOT / "examples/ray/ray_data.py")

    assert (status, "200 rows, 0 unscored" in printed) == (0, True), printed
    assert "'Paris': 1.0, 'paris': 0.0" in printed


def test_the_command_writes_the_rows_that_it_writes_without_a_cluster(tmp_path):
    (tmp_path / "reward.py").write_text(
        "def right(response, answer):\n    return response == answer\n"
    )
    (tmp_path / "env.toml").write_text(
        'name = "e"\n[tasks]\npath = "t.jsonl"\nid = "id"\nprompt = "p"\nanswer ='
        ' "a"\n[[stage]]\nuse = "./reward.py:right"\n'
    )
    (tmp_path / "t.jsonl").write_text('{"id": "1", "p": "q", "a": "b"}\n')
    responses = [{"task": "1", "response": text} for text in ("b", "c") * 100]
    responses.insert(7, {"task": "unknown", "response": "b"})
    (tmp_path / "r.jsonl").write_text("".join(json.dumps(row) + "\n" for row in responses))
    for out, options in (("here", ()), ("there", ("--on", "ray"))):
        words = ("score", "env.toml", "r.jsonl", "-o", f"{out}.jsonl", "--max-unscored", "1")
        status, printed = run(tmp_path, "-m", "rlenv", *words, *options)
        assert status == 0, printed

    rows = {
        out: [json.loads(line) for line in (tmp_path / f"{out}.jsonl").open()]
        for out in ("here", "there")
    }
    for row in (*rows["here"], *rows["there"]):
        row.pop("mac", None)  # of the whole row, with its seconds, where there is a secret
        for stage in row.get("stages", ()):
            del stage["seconds"]
    assert rows["there"] == rows["here"]
    assert rows["here"][1]["reward"] == 1.0


def test_a_cluster_that_is_not_there_is_an_error_that_names_it(tmp_path):
    code = (
        "from rlenv import *; from rlenv_ray import RayWorkers\nlist(Environment('e', lambda"
        " response: 1.0).evaluate_many([(Task('a'), 'b')], on=RayWorkers('127.0.0.1:9')))"
    )
    status, printed = run(tmp_path, "-c", code)

    assert status == 1
    assert "ConfigError: no Ray cluster at 127.0.0.1:9" in printed.splitlines()[-1]
