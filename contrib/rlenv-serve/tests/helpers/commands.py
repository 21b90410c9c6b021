"""``rlenv`` and ``rlenv serve`` in processes, as a person types them, and what they serve."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from attrs import frozen
from click.testing import CliRunner, Result
from rlenv_cli.app import cli
from serving import Client, until

COMMAND = [sys.executable, "-m", "rlenv"]
LATE = 60  # seconds in which a process has ended
EVERYDAY = """
name = "everyday"
[tasks]
path = "tasks.jsonl"
prompt = "prompt"
answer = "answer"
id = "id"
[[stage]]
use = "core/equal"
"""


def env_file(folder: Path, files: Mapping[str, str]) -> Path:
    """The env.toml among files that are written to a folder."""
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder / "env.toml"


def everyday(folder: Path, *tasks: Mapping[str, str]) -> Path:
    """The env.toml of an environment with these tasks, which the answer of each passes."""
    rows = "".join(json.dumps(each) + "\n" for each in tasks)
    return env_file(folder, {"env.toml": EVERYDAY, "tasks.jsonl": rows})


def rlenv(*arguments: str) -> subprocess.CompletedProcess[str]:
    """A command that ends by itself."""
    return subprocess.run(
        [*COMMAND, *arguments], capture_output=True, text=True, timeout=LATE, check=False
    )


def within(*arguments: str) -> Result:
    """The same in this process, where the process is not what is tested."""
    return CliRunner().invoke(cli, arguments)


def together(program: str, count: int) -> list[str]:
    """What so many processes that run a program of Python at the same time write to standard
    error.
    """
    with ExitStack() as stack:
        started = [
            subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.PIPE, text=True)
            for _ in range(count)
        ]
        for each in started:
            stack.callback(each.kill)
        return [each.communicate(timeout=LATE)[1] for each in started]


@frozen
class Serving:
    """``rlenv serve`` in a process."""

    process: subprocess.Popen[str]
    ask: Client

    def end(self) -> None:
        """As an operator ends it."""
        self.process.terminate()
        said = self.process.communicate(timeout=LATE)[1]
        assert self.process.returncode == 0, said


@contextmanager
def serve(*arguments: str, **variables: str) -> Iterator[Serving]:
    """``rlenv serve`` on a free port, when it is ready; it is killed where the block leaves it
    running.

    Args:
        *arguments: of the command.
        **variables: more of the process's environment.
    """
    process = subprocess.Popen(
        [*COMMAND, "serve", *arguments, "--port", "0"],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **variables},
    )
    try:
        assert process.stderr is not None
        said = ""
        while "http://" not in said:
            line = process.stderr.readline()
            assert line, f"it did not start: {said}"
            said += line
        ask = Client(int(said.rpartition(":")[2]))
        until(lambda: ask("GET", "/readyz").status == 200)
        yield Serving(process, ask)
    finally:
        process.kill()
        process.communicate(timeout=LATE)  # ends when its children do, too; may be called again
