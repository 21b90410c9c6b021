"""``rlenv verify``: one response, explained stage by stage."""

from __future__ import annotations

import errno
import json
import os
import sys
from pathlib import Path

import click
from rlenv.model.errors import InputError
from rlenv.model.messages import no_such_file
from rlenv.model.values import Trajectory

from rlenv_cli import environments
from rlenv_cli.console import forgiving, one_line, reason, typed
from rlenv_cli.scores.items import as_response
from rlenv_cli.scores.responses import STDIN
from rlenv_cli.scoring.progress import waiting


@click.command("verify")
@click.argument("env", metavar="ENV")
@click.option("--task", "task_id", metavar="ID", help="The id of the task.")
@click.option("--prompt", metavar="TEXT", help="The exact prompt of the task, in place of its id.")
@click.option(
    "--response",
    "file",
    metavar="FILE",
    help="A file with the response; - for standard input.",
)
@click.option("--text", metavar="TEXT", help="The response itself, instead of a file.")
@environments.set_option
@click.option(
    "--public",
    is_flag=True,
    help="Leave out what only the operator may see: answers and gold values.",
)
@click.option("--isolate", is_flag=True, help="Run inline stages in workers too.")
def command(
    *,
    env: str,
    task_id: str | None,
    prompt: str | None,
    file: str | None,
    text: str | None,
    settings: tuple[str, ...],
    public: bool,
    isolate: bool,
) -> None:
    """Explain the reward of one response with the environment ENV.

    The response is the text of FILE without its last newline; a FILE named *.json contains
    a list of messages.

    Exit status: 0 on success; 2 for an invalid file or argument; 3 if the response has no score.

    Example: rlenv verify env.toml --task t1 --text 42
    """
    from rlenv_cli.explain import explanation, painted

    if (task_id is None) == (prompt is None):
        raise click.UsageError("use either --task ID or --prompt TEXT to name the task")
    task_id, prompt, text = (
        None if each is None else typed(each) for each in (task_id, prompt, text)
    )
    response = _response(file, text)
    with environments.load(env, settings, isolate=isolate) as loaded:
        tasks = loaded.tasks
        task = tasks.by_id(task_id) if task_id is not None else tasks.by_prompt(prompt or "")
        with waiting("verifying the response"):
            if loaded.group_only:
                verdict = loaded.evaluate_group(task, [response])[0]
            else:
                verdict = loaded.evaluate(task, response)
        forgiving(sys.stdout)
        for line in explanation(loaded, task, response, verdict, public=public):
            click.echo(painted(line), color=False if os.environ.get("NO_COLOR") else None)
    if not verdict.scored:
        raise click.exceptions.Exit(3)


def _response(file: str | None, text: str | None) -> str | Trajectory:
    if (file is None) == (text is None):
        raise click.UsageError("use either --response FILE or --text TEXT for the response")
    if file is not None:
        return read_response(file)
    assert text is not None
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InputError(
            "--text is not UTF-8; save the response as UTF-8 and give --response"
        ) from None
    return text


def read_response(name: str) -> str | Trajectory:
    """The response in a file, or on standard input for ``-``.

    Raises:
        InputError: when it cannot be read, is not UTF-8, or is JSON but no list of messages.
    """
    shown = STDIN if name == "-" else one_line(name)
    try:
        raw = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except (OSError, ValueError) as error:
        raise InputError(f"{shown}: the response cannot be read: {_why(name, error)}") from None
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        at = f"byte {error.start + 1} (0x{raw[error.start]:02x})"
        raise InputError(f"{shown}: {at} is not UTF-8; save the response as UTF-8") from None
    if not name.endswith(".json"):
        return text.removesuffix("\n").removesuffix("\r")
    try:
        return as_response(json.loads(text))
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"{shown}: not valid JSON: {error}; for plain text use another suffix"
        ) from None
    except InputError as error:
        raise InputError(f"{shown}: the response is {error}") from None


def _why(name: str, error: OSError | ValueError) -> str:
    """Why there is nothing to read under this name, which may be a response and no name at all."""
    if isinstance(error, OSError) and error.errno not in {
        errno.ENOENT,
        errno.ENAMETOOLONG,
        errno.ENOTDIR,
    }:
        return reason(error)
    said = (
        no_such_file(Path(name))
        if "\n" not in name and len(name) < 200
        else "there is no such file"
    )
    return f"{said}. If this is the response itself, give it with --text instead of --response"
