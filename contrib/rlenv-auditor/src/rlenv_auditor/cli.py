"""``rlenv audit``: audit a verifier, replay findings, compare audits, and rewards."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rlenv.model.errors import ConfigError
from rlenv_cli.console import console, ignore_broken_pipe, visible

if TYPE_CHECKING:
    from .model import Scorecard
    from .probes.base import Probe

__all__ = ["command"]

# 2 is a mistake of the person, as everywhere
FOUND = 1
INCOMPLETE = 3
TOLD = (
    "signature", "tasks_from", "tasks", "seed", "profile", "fail_on", "only", "archetype",
    "pass_mark", "patience", "fail_fast", "second", "second_signature", "loading", "python",
)  # fmt: skip
OUT = click.Path(path_type=Path, dir_okay=False)


class _Audit(click.Group):
    """``rlenv audit TARGET …`` is ``rlenv audit run TARGET …``: the first word is a target unless
    it is a command.
    """

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in self.commands:
            args = ["run", *args]
        return super().resolve_command(ctx, args)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Options before the target belong to ``run`` too."""
        if args and args[0].startswith("-") and args[0] != "--help":
            args = ["run", *args]
        return super().parse_args(ctx, args)


@click.group("audit", cls=_Audit, subcommand_metavar="TARGET | diff | delta | spot-check")
def command() -> None:
    """Search a verifier for exploits, and report figures.

    TARGET is an env.toml, an installed environment, or a function, a stage or a list of them, as
    module:name or ./file.py:name.
    """


@command.command("run")
@click.argument("target")
@click.option(
    "--as",
    "signature",
    default="",
    help=(
        "How a function is called: plain, trl, verl, verifiers, reasoning-gym, inspect; pairwise,"
        " group."
    ),
)
@click.option(
    "--tasks-from",
    default="",
    metavar="FILE",
    help="Tasks of a function: .jsonl, .json, .csv or .parquet with prompt and answer.",
)
@click.option(
    "--tasks", type=click.IntRange(1), help="Number of tasks; 40 with profile ci, 400 with full."
)
@click.option(
    "--seed",
    type=int,
    default=0,
    show_default=True,
    help="Seed of the sample and of all random choices.",
)
@click.option("--budget", default="", metavar="60s", help="Time for all probes: 60s, 5m, 1h.")
@click.option(
    "--profile",
    type=click.Choice(["ci", "full"]),
    default="ci",
    show_default=True,
    help="How many tasks to try, and how long to search.",
)
@click.option(
    "--fail-on",
    default="",
    metavar="LIMITS",
    help='Thresholds, such as "exploit>0.01,fn>0.05,nondet>0"; "never" for none.',
)
@click.option(
    "--only",
    multiple=True,
    metavar="PROBE",
    help="Only this probe or family of probes. May be repeated.",
)
@click.option(
    "--archetype",
    default="",
    help="What a function verifies: math, code, constraints, judge, agent, …",
)
@click.option(
    "--right",
    "right_from",
    default="",
    metavar="FILE",
    help="Right responses: rows with task and response.",
)
@click.option(
    "--pass-mark",
    type=click.FloatRange(0, 1, min_open=True),
    help="The smallest reward that counts as a pass.",
)
@click.option(
    "--patience",
    type=click.FloatRange(0.1),
    help="Seconds for one response; by default 10, or the timeout of the environment.",
)
@click.option(
    "--second",
    default="",
    metavar="TARGET",
    help="Compare with this verifier on the same responses.",
)
@click.option(
    "--second-as", "second_signature", default="", help="How to call the second verifier; see --as."
)
@click.option(
    "--loading",
    type=click.FloatRange(0.1),
    default=120.0,
    show_default=True,
    help="Seconds for loading TARGET.",
)
@click.option(
    "--python",
    default="",
    metavar="PATH",
    help="Run TARGET with this Python interpreter, which does not need rlenv.",
)
@click.option("--fail-fast", is_flag=True, help="Stop at the first finding.")
@click.option(
    "--rollouts-per-step",
    type=click.IntRange(1),
    default=256,
    show_default=True,
    help="Rollouts of a training step, for the cost estimate.",
)
@click.option(
    "--step-seconds",
    type=click.FloatRange(0, min_open=True),
    default=8.0,
    show_default=True,
    help="Seconds of a training step, for the cost estimate.",
)
@click.option("--json", "json_out", type=OUT, help="Write the scorecard as JSON.")
@click.option("--html", "html_out", type=OUT, help="Write the scorecard as an HTML page.")
@click.option("--sarif", "sarif_out", type=OUT, help="Write the findings as SARIF, for code hosts.")
@click.option("--badge", "badge_out", type=OUT, help="Write an SVG badge.")
@click.option(
    "--emit-tests",
    type=click.Path(path_type=Path, file_okay=False),
    help="Write one test per finding to this folder; each fails until the finding is fixed.",
)
@click.option(
    "--replay", default="", metavar="ID", help="Reproduce one finding of the --json file."
)
def run(target: str, replay: str, **options: Any) -> None:
    """Audit TARGET.

    Exit status: 0 if no threshold is exceeded, 1 if one is, 2 if TARGET cannot be loaded, 3 if the
    budget ended before all probes were done.
    """
    os.environ.setdefault("HYPOTHESIS_NO_PLUGINS", "1")  # none has a say here or can break it
    if replay:
        _replay(target, replay, options)
        return
    card = _audited(target, options)
    from .render.outputs import write
    from .render.terminal import show

    write(card, options)

    with ignore_broken_pipe():
        show(card, console())
    if card.crossed:
        sys.exit(FOUND)
    sys.exit(0 if card.complete else INCOMPLETE)


def _audited(target: str, options: Mapping[str, Any]) -> Scorecard:
    from .auditing import audit

    given = _seconds(options["budget"]) if options["budget"] else None
    with console(stderr=True).status("loading") as status:

        def progress(probe: Probe, place: int, of: int) -> None:
            status.update(f"{place + 1}/{of} {probe.id}: {probe.hypothesis}")

        told = {name: options[name] for name in TOLD}
        step = (options["rollouts_per_step"], options["step_seconds"])
        return audit(
            target,
            budget=given,
            right=_right(options["right_from"]),
            progress=progress,
            step=step,
            **told,
        )


def _seconds(text: str) -> float:
    unit = {"s": 1, "m": 60, "h": 3600}.get(text[-1:])
    try:
        found = float(text if unit is None else text[:-1]) * (unit or 1)
    except ValueError:
        found = 0.0
    if found <= 0:
        raise ConfigError(f"--budget {text}: a time such as 60s, 5m or 1h")
    return found


def _right(path: str) -> dict[str, list[str]]:
    from rlenv_testing import read_responses

    from .target.forms import conversation

    found: dict[str, list[str]] = {}
    for task, response, right in read_responses(path) if path else ():
        if right:
            text = response if isinstance(response, str) else conversation(response)
            found.setdefault(task, []).append(text)
    return found


def _replay(target: str, number: str, options: Mapping[str, Any]) -> None:
    from .render.record import read
    from .replaying import find, replayed

    path = options["json_out"]
    if path is None:
        raise ConfigError("--replay needs the scorecard that has the finding: --json FILE")
    finding = find(read(path), number)
    reply = replayed(
        target,
        finding.task,
        finding.response,
        signature=options["signature"],
        tasks_from=options["tasks_from"],
        seed=options["seed"],
        patience=options["patience"],
        under=finding.more.get("under"),
        python=options["python"],
    )
    say = partial(console().print, markup=False, highlight=False)
    say(f"{finding.id}: {visible(finding.title)}")
    say(visible(finding.response[:2000]))
    now = f"{reply.reward:g}" if reply.reward is not None else f"{reply.fault}: {reply.message}"
    then = f"{finding.reward:g}" if finding.reward is not None else "no reward"
    say(f"then {then}, now {now}; expected: {finding.expected}")
    sys.exit(FOUND if reply.reward == finding.reward else 0)


@command.command("diff")
@click.argument("before", type=click.Path(path_type=Path))
@click.argument("after", type=click.Path(path_type=Path))
def diff(before: Path, after: Path) -> None:
    """Compare two scorecards of --json: what is new, what is closed, what moved.  Ends with 1 when
    something is new.
    """
    from .differing import difference
    from .render.record import read

    found = difference(read(before), read(after))
    say = partial(console().print, markup=False, highlight=False)
    for name, findings in (("new", found.new), ("closed", found.closed)):
        for one in findings:
            say(f"{name:7} {one.severity:8} {one.id} {visible(one.title)}")
    for line in found.moved:
        say(f"moved   {visible(line)}")
    if not (found.new or found.closed or found.moved):
        say("nothing changed")
    sys.exit(FOUND if found.worse else 0)


@command.command("delta")
@click.option(
    "--train", type=click.Path(path_type=Path), required=True, help="Scores on training tasks."
)
@click.option(
    "--heldout",
    type=click.Path(path_type=Path),
    required=True,
    help="Scores of the same policy on held-out tasks.",
)
@click.option(
    "--by",
    default="step",
    show_default=True,
    metavar="COLUMN",
    help="The column that orders the checkpoints.",
)
def delta(train: Path, heldout: Path, by: str) -> None:
    """Compare the reward on training tasks with the reward on held-out tasks, over checkpoints.

    Rows need a reward and COLUMN; rows without a reward are left out. Exit status: 1 if the reward
    rises in training and not on held-out tasks, else 0.
    """
    from .checkpoints import read_rewards
    from .delta import measured

    trained, left = read_rewards(train, by)
    held, missing = read_rewards(heldout, by)
    found = measured(trained, held)
    say = partial(console().print, markup=False, highlight=False)
    for line in found.lines():
        say(line)
    if left or missing:
        say(f"left out, without a reward: {left} rows of training, {missing} held out")
    sys.exit(FOUND if found.alarm else 0)


@command.command("spot-check")
@click.argument("scores", type=click.Path(path_type=Path))
@click.option(
    "-n",
    "count",
    type=click.IntRange(1),
    default=50,
    show_default=True,
    help="Number of responses to label.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the sample.")
@click.option(
    "--responses",
    type=click.Path(path_type=Path),
    help="The responses, if SCORES does not contain them.",
)
@click.option(
    "--labels",
    type=click.Path(path_type=Path),
    help="A file of existing labels, to which new labels are added.",
)
@click.option(
    "--env",
    default="",
    metavar="ENV",
    help="The environment of SCORES, to show tasks and answers, and for tests.",
)
@click.option(
    "--emit-tests",
    type=click.Path(path_type=Path, file_okay=False),
    help="Write a test for each right response that got 0 to this folder.",
)
def spot_check(  # noqa: PLR0917 - click names them
    scores: Path,
    count: int,
    seed: int,
    responses: Path | None,
    labels: Path | None,
    env: str,
    emit_tests: Path | None,
) -> None:
    """Label responses that got 0, and estimate how many of them are right.

    Shows a sample of SCORES, in proportion to tasks and to the stages that rejected the responses.
    Answer y if a response is right, n if it is wrong, s to skip it, and q to stop.
    """
    from .spotting import spot

    spot(
        scores,
        count=count,
        seed=seed,
        responses=responses,
        labels=labels,
        tests=emit_tests,
        env=env,
    )
