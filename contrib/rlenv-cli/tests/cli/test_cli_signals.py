"""Ctrl-C, SIGTERM and SIGHUP at any moment: no traceback, 128 + signal, and nothing left behind."""

import json
import signal
import subprocess
import sys

import pytest

AT = """
import os, signal, sys
from importlib.abc import MetaPathFinder

class Strike(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name == {name!r}:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.{sent})

sys.meta_path.insert(0, Strike())
from _rlenv_cli import main
main()
"""
MOMENTS = [
    "rlenv",
    "rlenv.compose.stages",
    "attrs",
    "click",
    "rlenv_cli.app",
    "rlenv_cli.commands.verify",
    "rlenv.environment",
    "rlenv.config",
    "pluggy",
]


OTHERS = pytest.mark.slow  # nine processes for each signal, which is handled as SIGINT is


@pytest.mark.parametrize("name", MOMENTS)
@pytest.mark.parametrize(
    "sent", ["SIGINT", *(pytest.param(name, marks=OTHERS) for name in ("SIGTERM", "SIGHUP"))]
)
def test_a_signal_while_rlenv_is_imported_ends_it_without_a_traceback(world, name, sent):
    code = AT.format(name=name, sent=sent)
    argv = ["verify", "env.toml", "--task", "t0", "--text", "Paris"]
    ran = subprocess.run(
        [sys.executable, "-c", code, *argv],
        cwd=world.folder,
        env=world.environ(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    number = getattr(signal, sent)
    assert ran.returncode in (128 + number, -number)
    assert sent != "SIGINT" or ran.returncode == 130
    assert "Traceback" not in ran.stderr
    assert ran.stdout == ""


STOPS = """
import os, signal
from rlenv import hookimpl
from rlenv.model.values import Outcome

RLENV_API = 1

class Stops:
    where = "inline"

    def check(self, attempt):
        os.kill(os.getpid(), int(attempt.response))
        return Outcome(1.0)

@hookimpl
def rlenv_stages():
    return {"stops": Stops}
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_while_a_command_works_is_said_in_one_line(world, number):
    world.write_plugin("demo", STOPS)
    world.write_env('[[stage]]\nuse = "demo/stops"\n')
    code, out, err = world.run("verify", "env.toml", "--task", "t0", "--text", str(int(number)))
    assert (code, out, err.strip()) == (128 + number, "", "rlenv: interrupted")


def test_what_ignores_an_interrupt_from_its_start_goes_on(world):
    world.write_plugin("demo", STOPS)
    world.write_env('[[stage]]\nuse = "demo/stops"\n')
    code = (
        "import signal, os, sys; signal.signal(signal.SIGINT, signal.SIG_IGN);"
        " os.execv(sys.executable, [sys.executable, '-c', 'from _rlenv_cli import main; main()',"
        " *sys.argv[1:]])"
    )
    argv = ["verify", "env.toml", "--task", "t0", "--text", str(int(signal.SIGINT))]
    ran = subprocess.run(
        [sys.executable, "-c", code, *argv],
        cwd=world.folder,
        env=world.environ(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert "Passed    yes" in ran.stdout


CLOSED = ["0<&-", "1>&-", "2>&-", "0<&- 1>&- 2>&-"]
COMMANDS = {
    "score env.toml r.jsonl -o o.jsonl --overwrite": 0,
    "score env.toml - -o p.jsonl --overwrite": 2,  # there is nothing on standard input
    "verify env.toml --task t0 --text Paris": 0,
    "verify env.toml --task t0 --response -": 0,
    "report s.jsonl -o s.html": 0,
    "plugins": 0,
    "stages": 0,
    "envs": 0,
    "--help": 0,
    "nope": 2,
}


ALONE = [pytest.param(one, marks=pytest.mark.slow) for one in CLOSED[:-1]]  # ten commands each


@pytest.mark.parametrize("closed", [*ALONE, CLOSED[-1]])
def test_no_command_needs_a_standard_stream(world, closed):
    path = world.write_rows([{"task": "t0", "response": "Paris"}])
    assert world.run("score", "env.toml", path, "-o", "s.jsonl")[0] == 0
    everything = closed == CLOSED[-1]
    commands = {**COMMANDS, "doctor core": 0, "new env mine": 0} if everything else COMMANDS
    script = "\n".join(
        f'"{sys.executable}" -m rlenv {command} </dev/null {closed} || echo $? >&3; echo done >&3'
        for command in commands
    )
    with (world.folder / "status").open("wb") as status:
        ran = subprocess.run(
            ["bash", "-c", f"exec 3>&1 1>/dev/null\n{script}"],
            cwd=world.folder,
            env=world.environ(),
            stdout=status,
            stderr=subprocess.PIPE,
            timeout=120,
            check=True,
        )
    found = []
    code = 0
    for word in (world.folder / "status").read_text().split():
        if word == "done":
            found.append(code)
        code = 0 if word == "done" else int(word)
    assert dict(zip(commands, found, strict=True)) == commands
    assert b"Traceback" not in ran.stderr
    assert [row["reward"] for row in world.read()[1]] == [1.0]


def test_a_name_of_any_length_fits_the_header(world, rlenv):
    text = (world.folder / "env.toml").read_text().replace("capitals", "x" * 1_100_000)
    (world.folder / "env.toml").write_text(text)
    path = world.write_rows([{"task": "t0", "response": "Paris"}] * 2)
    for more in (("--limit", "1"), ("--resume",), ("--overwrite",)):
        assert rlenv("score", "env.toml", path, "-o", "o.jsonl", *more).exit_code == 0
    assert rlenv("report", "o.jsonl", "-o", "o.html").exit_code == 0
    header = (world.folder / "o.jsonl").read_text().splitlines()[0]
    assert len(json.loads(header)["env"]) == 1000
