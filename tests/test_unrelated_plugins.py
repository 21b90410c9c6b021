"""No command is touched by a broken plugin that nobody asked for: it is not even imported."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

NOTES = (
    "import os\nwith open(os.environ['IMPORTED'], 'a') as notes:\n    notes.write(__name__ +"
    " '\\n')\n"
)
GOOD = "from rlenv import hookimpl\nRLENV_API = 1\n"
MODULES: Mapping[str, str] = {
    "raises": "raise RuntimeError('boom')\n",
    "exits": "import sys\nsys.exit(7)\n",
    "newer": "RLENV_API = 99\n",
    "prints": f"print('NOISE')\n{GOOD}",
    "hooks": f"{GOOD}@hookimpl\ndef rlenv_stages():\n    raise RuntimeError('hook down')\n",
    "unruly": f"{GOOD}@hookimpl\ndef rlenv_parts():\n    return ['sandbox']\n",
}
HANGS = "import time\ntime.sleep(5)\nRLENV_API = 1\n"
STAGES = """
@hookimpl
def rlenv_stages():
    return {
        "gone": "broken_stages.nowhere:Stage", "less": "broken_stages.empty:Stage",
        "wrong": "broken_stages.wrong:Stage", "raises": "broken_stages.raises:Stage", "seven": 7,
    }
"""
TASKS = '{"id": "t", "prompt": "p", "answer": "42"}\n'
ENV = (
    'name = "e"\n[tasks]\npath = "tasks.jsonl"\nid = "id"\nprompt = "prompt"\nanswer ='
    ' "answer"\n[[stage]]\nuse = "core/equal"\n'
)
SCORE = ("score", "env.toml", "r.jsonl", "-o", "o.jsonl", "--overwrite")

COMMANDS = [
    ("--help",),
    ("--version",),
    (*SCORE, "--report", "o.html"),
    (*SCORE, "--workers", "1", "--quiet"),
    ("verify", "env.toml", "--task", "t", "--text", "42"),
    ("report", "s.jsonl", "-o", "o.html", "--tasks", "env.toml"),
    ("envs",),
    ("stages", "core"),
    ("stages", "core/equal"),
    ("doctor",),
    ("new", "plugin", "mine"),
    ("new", "env", "mine"),
    ("check", "core", "--stage", "equal", "--law", "range", "--examples", "1"),
    ("audit", "env.toml", "--only", "gold", "--fail-on", "never"),
    ("audit", "--help"),
    ("judge", "--help"),
    ("sandbox", "--help"),
]


def distribution(site: Path, name: str, entries: Mapping[str, str], group: str = "rlenv") -> Path:
    info = site / f"bad_{name}-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: bad-{name}\nVersion: 1.0\n")
    lines = [f"{key} = {value}" for key, value in entries.items()]
    (info / "entry_points.txt").write_text("\n".join([f"[{group}]", *lines, ""]))
    return info


def broken(site: Path, *, hangs: bool) -> None:
    """Plugins that are broken in every way that there is, and commands that are."""
    for name, source in {**MODULES, **({"hangs": HANGS} if hangs else {})}.items():
        distribution(site, name, {name: f"bad_{name}"})
        (site / f"bad_{name}.py").write_text(NOTES + source)
    distribution(site, "entry", {"entry": "no_such_module:x:y!!"})
    for name in ("one", "two"):
        distribution(site, name, {"twice": "bad_raises"})
    (distribution(site, "rubbish", {}) / "METADATA").write_bytes(b"\xff\xfe\0")
    distribution(
        site, "command", {"badly": "bad_raises:cli", "worse": "nowhere:cli"}, "rlenv.commands"
    )
    distribution(site, "environment", {"bad-env": "bad_raises"}, "rlenv.environments")


Rlenv = Callable[..., subprocess.CompletedProcess[str]]


def runner(folder: Path) -> Rlenv:
    """Runs rlenv in a folder with an environment, tasks and responses, beside what is on its
    site.
    """
    (folder / "env.toml").write_text(ENV)
    (folder / "tasks.jsonl").write_text(TASKS)
    (folder / "r.jsonl").write_text('{"task": "t", "response": "42"}\n')
    environ = {
        **os.environ,
        "PYTHONPATH": str(folder / "site"),
        "IMPORTED": str(folder / "imported"),
        "RLENV_SECRET": "a secret of the tests, long enough to be one",
    }

    def run(*argv: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "rlenv", *argv],
            cwd=folder,
            env=environ,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    return run


@pytest.fixture(scope="module")
def scores(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The score file of the responses."""
    folder = tmp_path_factory.mktemp("scores")
    assert runner(folder)("score", "env.toml", "r.jsonl", "-o", "s.jsonl").returncode == 0
    return (folder / "s.jsonl").read_bytes()


@pytest.fixture
def rlenv(tmp_path: Path, scores: bytes) -> Rlenv:
    (tmp_path / "s.jsonl").write_bytes(scores)
    return runner(tmp_path)


@pytest.mark.parametrize("argv", COMMANDS, ids=" ".join)
def test_a_broken_plugin_that_nobody_named_is_not_imported(
    rlenv: Rlenv, tmp_path: Path, argv: tuple[str, ...]
) -> None:
    site = tmp_path / "site"
    broken(site, hangs=True)

    ran = rlenv(*argv)

    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert not (tmp_path / "imported").exists(), (tmp_path / "imported").read_text()
    assert "NOISE" not in ran.stdout
    assert "Traceback" not in ran.stdout + ran.stderr


@pytest.mark.parametrize("argv", [("plugins",), ("stages",)], ids=" ".join)
def test_what_lists_all_of_them_lists_the_sound_ones_beside_the_broken(
    rlenv: Rlenv, tmp_path: Path, argv: tuple[str, ...]
) -> None:
    broken(tmp_path / "site", hangs=False)

    ran = rlenv(*argv)

    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "core" in ran.stdout
    assert "NOISE" not in ran.stdout
    for said in (
        "RuntimeError: boom",
        "SystemExit: 7",
        "hook version 99",
        "two distributions",
        "no_such_module",
        "hook down",
    ):
        assert said in ran.stdout


@pytest.mark.parametrize("name", ["badly", "worse"])
def test_a_broken_command_says_whose_it_is(rlenv: Rlenv, tmp_path: Path, name: str) -> None:
    broken(tmp_path / "site", hangs=False)

    ran = rlenv(name)

    assert ran.returncode == 2
    assert ran.stderr.startswith("rlenv: error: ")
    assert "bad-command 1.0 does not load" in ran.stderr
    assert name in rlenv("--help").stdout


def test_the_doctor_of_a_broken_plugin_survives_it(rlenv: Rlenv, tmp_path: Path) -> None:
    broken(tmp_path / "site", hangs=False)

    ran = rlenv("doctor", "raises", "exits", "prints", "unruly", "entry", "twice")

    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "NOISE" not in ran.stdout
    for said in ("RuntimeError: boom", "SystemExit: 7", "returned list", "two distributions"):
        assert said in ran.stdout
    assert rlenv("doctor", "nobody").returncode == 2


def test_plugins_names_each_stage_that_does_not_load_with_its_own_file_and_line(
    rlenv: Rlenv, tmp_path: Path
) -> None:
    site = tmp_path / "site"
    package = site / "broken_stages"
    distribution(site, "stages", {"badstages": "broken_stages"})
    package.mkdir()
    (package / "__init__.py").write_text(GOOD + STAGES)
    (package / "empty.py").write_text("")
    (package / "wrong.py").write_text("x = 1\ny = = 2\n")
    (package / "raises.py").write_text("def f():\n    raise ValueError('no')\n\n\nf()\n")

    ran = rlenv("plugins")

    (row,) = [line for line in ran.stdout.splitlines() if line.split()[:1] == ["badstages"]]
    told = [
        line
        for line in ran.stdout.splitlines()
        if line.startswith("plugin 'badstages' (bad-stages 1.0)")
    ]
    assert "5 of 5 do not load" in row
    assert "ok" not in row.split()
    assert [line.partition("stage ")[2].split()[0].strip("'") for line in told] == [
        "gone", "less", "raises", "badstages/seven", "wrong",
    ]  # fmt: skip
    assert "(broken_stages.nowhere:Stage)" in told[0]
    assert f"({package / 'raises.py'}:2)" in told[2]
    assert f"({package / 'wrong.py'}:2)" in told[4]
    assert "rlenv/plugins/registry.py" not in ran.stdout
    assert "importlib" not in ran.stdout
    assert f'"{package / "raises.py"}", line 2' in rlenv("plugins", "-v").stdout


def test_completion_imports_no_command(
    rlenv: Rlenv, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken(tmp_path / "site", hangs=True)
    environ = {
        **os.environ, "PYTHONPATH": str(tmp_path / "site"), "IMPORTED": str(tmp_path / "imported"),
        "_RLENV_COMPLETE": "bash_complete", "COMP_WORDS": "rlenv ", "COMP_CWORD": "1",
    }  # fmt: skip
    ran = subprocess.run(
        [sys.executable, "-m", "rlenv"],
        env=environ,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )

    assert {"plain,score", "plain,badly", "plain,audit"} <= set(ran.stdout.split())
    assert not (tmp_path / "imported").exists()
