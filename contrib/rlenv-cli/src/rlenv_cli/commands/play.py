"""``rlenv play``: a person plays one task of an environment (rlenv-plugin-agent)."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import Any

import click
from rlenv.model.values import Task

from rlenv_cli import environments
from rlenv_cli.console import forgiving, typed
from rlenv_cli.mistakes import Mistake
from rlenv_cli.needed import plugin
from rlenv_cli.rolling.person import Person


@click.command("play")
@click.argument("env", metavar="ENV")
@click.option("--task", "task_id", metavar="ID", help="The id of the task; the first by default.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the episode.")
@environments.set_option
@click.option(
    "--public",
    is_flag=True,
    help="Leave out what only the operator may see: answers and gold values.",
)
def command(
    *,
    env: str,
    task_id: str | None,
    seed: int,
    settings: tuple[str, ...],
    public: bool,
) -> None:
    """Play one task of the environment ENV yourself, in the policy's place.

    What a policy would be given is shown. A line is an answer; `/call NAME key=value` calls a tool;
    `/help` says what else there is; Ctrl-D gives up. In the end the reward is explained as `rlenv
    verify` does. Lines may also come by a pipe.

    Exit status: 0 on success; 2 for an invalid file or argument; 3 if the episode has no score; 130
    after Ctrl-C.

    Example: rlenv play env.toml --task t1
    """
    from rlenv_cli.explain import explanation, painted

    Episode = plugin("agent", "episodes.episode").Episode  # noqa: N806 - a class
    forgiving(sys.stdout)
    with environments.load(env, settings) as loaded:
        if not loaded.tasks:
            raise Mistake(f"{env}: the environment has no tasks, so there is nothing to play")
        task = loaded.tasks[0] if task_id is None else loaded.tasks.by_id(typed(task_id))
        made = Episode(loaded)
        person = Person()
        try:
            asyncio.run(_played(made, task, person, seed))
        except plugin("agent", "errors").EpisodeError as error:
            raise Mistake(str(error).removeprefix("error: "), 3) from error
        person.show(made.messages)
        print(f"\nended: {made.stop}\n")
        for line in explanation(loaded, task, made.trajectory, made.verdict, public=public):
            click.echo(painted(line), color=False if os.environ.get("NO_COLOR") else None)
    if not made.verdict.scored:
        raise click.exceptions.Exit(3)


async def _played(episode: Any, task: Task, person: Person, seed: int) -> None:
    """One episode; whoever gives up is judged by what was done."""
    async with episode:
        await episode.areset(task, seed)
        while episode.stop is None:
            try:
                await episode.astep(await person(episode.view, episode.tools))
            except EOFError:
                await episode.atruncate("gave_up")
