"""``rlenv rollout``: a policy plays the tasks of an environment (rlenv-plugin-agent)."""

from __future__ import annotations

import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from attrs import evolve

from rlenv_cli import environments
from rlenv_cli.console import amount, one_line, visible
from rlenv_cli.mistakes import Mistake
from rlenv_cli.needed import plugin
from rlenv_cli.rolling.policies import Endpoint, chosen
from rlenv_cli.rolling.run import Rolling
from rlenv_cli.rolling.wanted import selected
from rlenv_cli.scores.file import Header
from rlenv_cli.scores.responses import Source
from rlenv_cli.scores.tally import Tally
from rlenv_cli.scoring.durable import DurableFile
from rlenv_cli.scoring.run import run
from rlenv_cli.scoring.target import Target, target_options
from rlenv_cli.scoring.wishes import Wishes

from .score import SHOWN_NAME, show

if TYPE_CHECKING:
    from rlenv.environment import Environment


@click.command("rollout")
@click.argument("env", metavar="ENV")
@click.option(
    "--policy",
    required=True,
    metavar="POLICY",
    help="URL of an endpoint, module:function or ./file.py:function.",
)
@click.option("--model", default="", metavar="NAME", help="The model at the endpoint of --policy.")
@click.option(
    "--sampling",
    multiple=True,
    metavar="KEY=VALUE",
    help=(
        "A field of requests to the endpoint, as temperature=0.7; wins over [config]. May be"
        " repeated."
    ),
)
@click.option(
    "--token-ids", is_flag=True, help="Ask a vLLM server for token ids, and write them to OUT."
)
@click.option(
    "--key-env",
    default="",
    metavar="NAME",
    help="The environment variable that holds the endpoint's key.",
)
@target_options
@click.option(
    "-n",
    "samples",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Rollouts of each task, each with a seed of its own.",
)
@click.option(
    "--task", "tasks", multiple=True, metavar="ID", help="Play only this task. May be repeated."
)
@click.option("--split", default="", metavar="NAME", help="Play only the tasks of this split.")
@click.option("--limit", type=click.IntRange(min=1), help="Play only the first N tasks.")
@click.option(
    "--concurrent",
    type=click.IntRange(1, 10_000),
    default=16,
    show_default=True,
    help="Rollouts that run at the same time.",
)
@click.option(
    "--seed",
    type=int,
    default=0,
    show_default=True,
    help="Of the run; the seed of each rollout follows from it.",
)
@click.option(
    "--replay",
    type=click.Choice(["live", "record", "pin"]),
    help="Of calls of tools; wins over [config].",
)
@click.option(
    "--policy-timeout",
    "patience",
    type=click.FloatRange(min=0, min_open=True),
    default=600.0,
    show_default=True,
    metavar="SECONDS",
    help="For one call of the policy, or one request to the endpoint.",
)
@environments.set_option
def command(
    *,
    env: str,
    policy: str,
    model: str,
    sampling: tuple[str, ...],
    token_ids: bool,
    key_env: str,
    target: Target,
    samples: int,
    tasks: tuple[str, ...],
    split: str,
    limit: int | None,
    concurrent: int,
    seed: int,
    replay: str | None,
    patience: float,
    settings: tuple[str, ...],
) -> None:
    """Let a policy play the tasks of the environment ENV, and score what it does.

    ENV is a path to an env.toml or the name of an installed environment; without a [harness] each
    task is one turn. POLICY is the URL of an endpoint that speaks chat completions, or a function
    of (messages, tools) that returns a text or a message. OUT is a score file, which `rlenv report`
    reads, with one line per rollout in the order in which they end.

    A rollout in which the policy fails (its endpoint cannot be reached, it raises, it gives no
    action in time) is not in OUT: it is no evidence of a reward, and --resume plays it.

    Exit status: 0 on success; 2 for an invalid file or argument; 3 if the policy failed in a
    rollout, or more than --max-unscored rollouts have no score; 130 after Ctrl-C.

    Example: rlenv rollout env.toml --policy http://127.0.0.1:8000/v1 --model NAME -n 8 -o
    rollouts.jsonl
    """
    _check(env, policy, target)
    started = time.monotonic()
    asked = Endpoint(model, _sampling(sampling), key_env, token_ids)
    made = chosen(policy, asked, seed=seed, patience=patience, concurrent=concurrent)
    with environments.load(env, settings, quiet=target.quiet) as loaded:
        _fits(loaded, replay)
        wanted = selected(loaded, tasks, split, limit)
        source = Source(Path(policy), policy, made.sha256, len(wanted) * samples, (0, 0, 0))
        header = _header(loaded, source)
        with closing(DurableFile(target.out)) as file:
            target.check_free()  # now nobody else writes it
            work = Rolling(
                loaded,
                source,
                file,
                _wishes(target, limit),
                Tally(),
                policy=made,
                tasks=wanted,
                samples=samples,
                concurrent=concurrent,
                seed=seed,
            )
            run(work, header)
    _tell(work, target, time.monotonic() - started)


def _check(env: str, policy: str, target: Target) -> None:
    """Raise where no rollout can begin: the plugin is missing, or OUT cannot be written."""
    plugin("agent", "rollouts")
    target.check(["rlenv", "rollout", env, "--policy", policy], {"the environment": Path(env)})


def _fits(env: Environment, replay: str | None) -> None:
    """Raise for an environment that no policy can play, and set how calls of tools are replayed."""
    if env.group_only:
        raise Mistake(
            f"{', '.join(env.group_only)}: judges responses side by side, and a rollout is"
            " judged alone; use `rlenv score --group`"
        )
    if replay:
        config: Any = env.tables.get("config") or plugin("agent", "episodes.config").Config()
        env.tables["config"] = evolve(config, replay=replay)


def _wishes(target: Target, limit: int | None) -> Wishes:
    return Wishes(
        None,
        grouped=False,
        limit=limit,
        resume=target.resume,
        retry=target.retry_unscored,
        quiet=target.quiet,
    )


def _header(env: Environment, source: Source) -> Header:
    return Header(
        env=env.name[:SHOWN_NAME],
        fingerprint=env.fingerprint,
        tasks_sha256=env.tasks.sha256,
        responses_sha256=source.sha256,
        responses=source.count,
    )


def _sampling(given: tuple[str, ...]) -> dict[str, object]:
    """``temperature=0.7`` as a field of requests.

    Raises:
        Mistake: for one without an equals sign.
    """
    pairs = [each.partition("=") for each in given]
    if odd := next((key for key, equals, _ in pairs if not equals), None):
        raise Mistake(f"--sampling {one_line(odd)}: write KEY=VALUE, as in temperature=0.7")
    return {key: environments.parse_value(value) for key, _, value in pairs}


def _tell(work: Rolling, target: Target, wall: float) -> None:
    """The summary, the report, and how many rollouts failed, and why."""
    if not target.quiet and work.tally.rows:
        show(work.tally, work.env, target.out, wall)
    too_many = target.finish(work, "rollout")
    for (who, why), count in work.failed.most_common(5):
        click.echo(
            f"rlenv: the {who} failed in {amount(count, 'rollout')}: {one_line(why, 300)}", err=True
        )
    if failed := work.failed.total():
        early = "; after so many failures in a row no others were begun" if work.hopeless else ""
        click.echo(
            f"rlenv: {amount(failed, 'rollout')} not in {visible(str(target.out))}{early}; the same"
            " command with --resume plays what is missing",
            err=True,
        )
    if failed or too_many:
        raise click.exceptions.Exit(3)
