"""``rlenv verify``: one response, explained stage by stage."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import click

from rlenv.errors import InputError
from rlenv.values import Trajectory

from . import environments
from .durable import reason
from .items import as_response
from .responses import STDIN
from .text import forgiving, visible


@click.command("verify")
@click.argument("env", metavar="ENV")
@click.option("--task", "task_id", metavar="ID", help="The id of the task.")
@click.option("--prompt", metavar="TEXT", help="The exact prompt of the task, instead of its id.")
@click.option(
    "--response",
    "file",
    required=True,
    metavar="FILE",
    help="A file with the response; - for standard input.",
)
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
    file: str,
    settings: tuple[str, ...],
    public: bool,
    isolate: bool,
) -> None:
    """Explain the reward of one response with the environment ENV.

    The response is the text of FILE without its last newline; a FILE named *.json holds a list of
    messages. Exit status: 0; 2 for a mistake; 3 when the response could not be scored.

    Example: printf 42 | rlenv verify env.toml --task t1 --response -
    """
    from .explain import explanation, painted

    if (task_id is None) == (prompt is None):
        raise click.UsageError("name the task with --task ID or with --prompt TEXT, one of them")
    response = read_response(file)
    with environments.load(env, settings, isolate=isolate) as loaded:
        tasks = loaded.tasks
        task = tasks.by_id(task_id) if task_id is not None else tasks.by_prompt(prompt or "")
        if loaded.group_only:
            verdict = loaded.evaluate_group(task, [response])[0]
        else:
            verdict = loaded.evaluate(task, response)
        forgiving(sys.stdout)
        for line in explanation(loaded, task, response, verdict, public=public):
            click.echo(painted(line), color=False if os.environ.get("NO_COLOR") else None)
    if not verdict.scored:
        raise click.exceptions.Exit(3)


def read_response(name: str) -> str | Trajectory:
    """The response in a file, or on standard input for ``-``.

    Raises:
        InputError: when it cannot be read, is not UTF-8, or is JSON but no list of messages.
    """
    shown = STDIN if name == "-" else visible(name)
    try:
        raw = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        raise InputError(f"{shown}: the response cannot be read: {reason(error)}") from None
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
