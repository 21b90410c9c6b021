"""An environment of four tasks, a plugin on disk whose stages can be slow, and two ways to run
rlenv.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

CAPITALS = [("France", "Paris"), ("Italy", "Rome"), ("Spain", "Madrid"), ("Peru", "Lima")]

PLUGIN = '''
import os, time
from rlenv import hookimpl
from rlenv.model.values import Outcome

RLENV_API = 1


class Slow:
    """Takes its time.

    In a folder with a file named hurry it takes none.

    Args:
        seconds: how long.
    """

    phase = "diff"
    where = "inline"
    uses = ("answer",)

    def __init__(self, seconds: float = 0.02):
        self.seconds = seconds

    def check(self, attempt):
        time.sleep(0 if os.path.exists("hurry") else self.seconds)
        right = attempt.response == attempt.task.answer
        return Outcome(
            float(right),
            "the same" if right else "not the same",
            {"chars": len(attempt.response)},
            private={"gold": attempt.task.answer},
        )


class Broken:
    """Raises for some responses."""

    phase = "judge"
    where = "inline"

    def check(self, attempt):
        if attempt.response.startswith("break"):
            raise RuntimeError("no \\x1b[31mluck")
        return Outcome(1.0)


class Sleepy(Slow):
    where = "worker"


class Ranked:
    """The longest of a group wins."""

    phase = "judge"
    where = "inline"

    def check_group(self, attempts):
        longest = max(len(a.response) for a in attempts)
        return [Outcome(float(len(a.response) == longest)) for a in attempts]


@hookimpl
def rlenv_stages():
    return {"slow": Slow, "sleepy": Sleepy, "broken": Broken, "ranked": Ranked}
'''


class World:
    """A folder with an environment, and rlenv run in processes of its own."""

    def __init__(self, folder):
        self.folder = folder
        self.plugins = folder / "site"
        self.plugins.mkdir()
        self.write_tasks(CAPITALS)
        self.write_env('[[stage]]\nuse = "core/equal"\n')

    def write_tasks(self, capitals):
        rows = [
            {
                "id": f"t{i}",
                "question": f"Capital of {c}?",
                "answer": a,
                "split": "test" if i % 2 else "train",
            }
            for i, (c, a) in enumerate(capitals)
        ]
        (self.folder / "tasks.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))

    def write_env(self, stages, name="env.toml", head=""):
        text = (
            f'name = "capitals"\n{head}\n[tasks]\npath = "tasks.jsonl"\nid = "id"\nprompt ='
            f' "question"\nanswer = "answer"\nsplit = "split"\n\n{stages}'
        )
        (self.folder / name).write_text(text)
        return str(self.folder / name)

    def plugin(self):
        self.write_plugin("demo", PLUGIN)

    def hurry(self):
        """From now on slow stages take no time."""
        (self.folder / "hurry").touch()

    def write_plugin(self, dist, text, *, group="rlenv", name=None, target=None):
        """A distribution that is installed by standing in a folder of PYTHONPATH."""
        if text is not None:
            (self.plugins / f"{dist}_module.py").write_text(text)
        info = self.plugins / f"rlenv_plugin_{dist}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: rlenv-plugin-{dist}\nVersion: 1.0\n"
        )
        entry = f"{name or dist} = {target or dist + '_module'}"
        (info / "entry_points.txt").write_text(f"[{group}]\n{entry}\n")

    def write_rows(self, rows, name="r.jsonl"):
        path = self.folder / name
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        return str(path)

    def path(self, name):
        return str(self.folder / name)

    def read(self, name="o.jsonl"):
        lines = (self.folder / name).read_text().splitlines()
        rows = [json.loads(line) for line in lines[1:]]
        for row in rows:
            row.pop("mac", None)  # which chains the rows, and covers the seconds of stages
        return json.loads(lines[0]), rows

    def environ(self, **more):
        return {
            **{k: v for k, v in os.environ.items() if not k.startswith("COV")},
            "PYTHONPATH": str(self.plugins),
            "RLENV_SECRET": "a secret of the tests, long enough to be one",
            "PYTHONDONTWRITEBYTECODE": "1",
            **more,
        }

    def start(self, *args, environ=None, **more):
        options = {
            "stdout": subprocess.PIPE,
            "stderr": subprocess.PIPE,
            "stdin": subprocess.DEVNULL,
        }
        return subprocess.Popen(
            [sys.executable, "-m", "rlenv", *args],
            env=self.environ(**(environ or {})),
            cwd=self.folder,
            **{**options, **more},
        )

    def run(self, *args, stdin=None, environ=None, **more):
        more = {**more, **({"stdin": subprocess.PIPE} if stdin is not None else {})}
        with self.start(*args, environ=environ, **more) as process:
            out, err = process.communicate(stdin, timeout=120)
        return process.returncode, (out or b"").decode(), (err or b"").decode()


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


@pytest.fixture
def rlenv(world, monkeypatch):
    """Run rlenv in this process, in the world's folder."""
    from click.testing import CliRunner
    from rlenv_cli.app import cli

    monkeypatch.setenv("RLENV_SECRET", "a secret of the tests, long enough to be one")
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.chdir(world.folder)

    def run(*args, stdin=None):
        return CliRunner().invoke(cli, args, input=stdin)

    return run


@pytest.fixture
def demo(rlenv):
    """The demo plugin in this process."""
    import types

    from rlenv.plugins.registry import registry

    module = types.ModuleType("demo_module")
    exec(PLUGIN, vars(module))
    registry().register(module, "demo")
    yield module
    registry().unregister("demo")
