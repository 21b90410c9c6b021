"""What tests of this distribution get: an environment, and score files as `rlenv score` writes
them.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from rlenv import Environment
from rlenv_cli.app import cli
from rlenv_cli.scores import Header

HELPERS = str(Path(__file__).parent / "helpers")
if HELPERS not in sys.path:
    sys.path.append(HELPERS)

from train_cases import right  # noqa: E402 - found through the line above

FAULT = {"kind": "error", "message": "broke", "transient": False}


class Scores:
    """An environment on disk with the tasks t1, t2, …, and a score file of (task, response, reward)
    rows.
    """

    def __init__(self, folder):
        self.folder = folder
        self.env = folder / "env.toml"
        self.path = folder / "scores.jsonl"
        self.out = folder / "out.jsonl"
        self.set_tasks(
            *({"id": f"t{n}", "prompt": f"Capital {n}?", "answer": str(n)} for n in range(1, 6))
        )

    def set_tasks(self, *tasks):
        (self.folder / "tasks.jsonl").write_text("".join(json.dumps(task) + "\n" for task in tasks))
        columns = 'id = "id"\nprompt = "prompt"\nanswer = "answer"\n'
        stage = '[[stage]]\nuse = "core/equal"\n'
        self.env.write_text(f'name = "capitals"\n[tasks]\npath = "tasks.jsonl"\n{columns}{stage}')

    @property
    def header(self):
        with Environment.from_file(self.env) as env:
            hashes = {"fingerprint": env.fingerprint, "tasks_sha256": env.tasks.sha256}
        return {"env": "capitals", **hashes, "responses_sha256": "ab" * 32}

    def write(self, *rows, responses=None, **changes):
        header = Header(**self.header, responses=responses)
        lines = []
        for number, (task, response, reward) in enumerate(rows, 1):
            passed = None if reward is None else reward >= 1
            row = {
                "row": number,
                "task": task,
                "response": response,
                "reward": reward,
                "passed": passed,
            }
            fault = FAULT if reward is None else None
            lines.append(row | {"stopped_at": None, "fault": fault, "stages": []} | changes)
        chain = header.chain()
        linked = (chain.link(f"{json.dumps(line)}\n".encode()) for line in lines)
        self.path.write_bytes(b"".join([header.line(), *linked]))
        return self

    def run(self, *words, status=0, out=True):
        """Run a command in this process; what it printed."""
        args = [*map(str, words), *(["-o", str(self.out)] if out else [])]
        ran = CliRunner().invoke(cli, args, env={"COLUMNS": "80"})
        assert ran.exit_code == status, (ran.output, ran.exception)
        return ran.output

    def export(self, form, *options, status=0, tasks=True):
        given = ["--tasks", self.env] if tasks else []
        return self.run("export", self.path, "--format", form, *given, *options, status=status)

    @property
    def rows(self):
        return [json.loads(line) for line in self.out.read_text("ascii").splitlines()]


@pytest.fixture
def env():
    with Environment("sums", [right]) as made:
        yield made


@pytest.fixture
def scores(tmp_path):
    return Scores(tmp_path)
