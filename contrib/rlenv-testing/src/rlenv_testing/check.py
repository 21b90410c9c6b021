"""``rlenv check``: a plugin held to the laws of rewards, with a certificate if one is wanted."""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rlenv.model.errors import InputError
from rlenv_cli.console import amount, block, console, duration, ignore_broken_pipe, visible
from rlenv_cli.scores import OWN_FAULTS

if TYPE_CHECKING:
    from rich.console import Console

    from .subject import Subject

MARK = {"passed": "ok", "skipped": "-", "failed": "BROKEN", "unchecked": "not checked"}
WORST = ("failed", "unchecked", "passed", "skipped")
STYLE = {"passed": "green", "skipped": "dim", "failed": "bold red", "unchecked": "bold yellow"}


@click.command("check")
@click.argument("names", metavar="NAME...", nargs=-1, required=True)
@click.option(
    "--tasks", default="", metavar="FILE", help="Tasks of a function: rows with prompt and answer."
)
@click.option(
    "--right",
    default="",
    metavar="FILE",
    help=(
        "Responses that are known to be right: rows with task (an id) and response; wrong ones have"
        " right: false."
    ),
)
@click.option("--stage", help="Only this stage, by its short name.")
@click.option("--law", "laws", multiple=True, help="Only this law. May be repeated.")
@click.option("--seed", default=0, show_default=True, help="Seed of generated examples.")
@click.option(
    "--examples",
    type=click.IntRange(1, 100_000),
    default=100,
    show_default=True,
    help="Generated examples per law.",
)
@click.option(
    "--certificate",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the results as JSON.",
)
@click.option(
    "--badge", type=click.Path(path_type=Path, dir_okay=False), help="Write an SVG badge."
)
def command(
    *,
    names: tuple[str, ...],
    tasks: str,
    right: str,
    stage: str | None,
    laws: tuple[str, ...],
    seed: int,
    examples: int,
    certificate: Path | None,
    badge: Path | None,
) -> None:
    """Check the stages of installed plugins, or any verifier, against the laws of rewards.

    NAME is a plugin, module:name, ./file.py:name or an env.toml. A plugin has examples of right and
    wrong responses (hook rlenv_examples). For others, use --tasks and --right; laws that need more
    input are skipped.

    Exit status: 0 if every law holds; 1 if one is broken; 2 for an invalid argument, or a stage
    without examples; 3 if a stage or a law could not be checked on this machine.

    Example: rlenv check math --certificate cert.json
    """
    names = tuple(dict.fromkeys(names))
    _check_outputs(names, certificate, badge, partial=bool(stage or laws))
    asked = _ready(names, stage, laws, (tasks, right))
    from .launch import launch

    started = time.monotonic()
    out = console()
    holding = f"holding {', '.join(map(visible, names))} to the laws"
    with out.status(holding) as status:
        progress = Progress(status.update if out.is_terminal else _say, holding)
        found = launch(
            names,
            stage=stage,
            laws=laws,
            seed=seed,
            examples=examples,
            tasks=tasks,
            right=right,
            ended=progress.note,
        )
        progress.finish()
    seconds = time.monotonic() - started
    if found.output:
        click.echo(
            "rlenv: error: the laws could not be tried to their"
            f" end:\n{block(found.output[-4000:])}",
            err=True,
        )
        raise click.exceptions.Exit(1)
    _write(names, found.rows, (certificate, badge), seed=seed, examples=examples, seconds=seconds)
    with ignore_broken_pipe():
        _show(out, found.rows, seconds)
        for line in _executing(asked):
            out.print(line, style="bold yellow", soft_wrap=True)
    _end(found.rows, whole=not laws)


def _check_outputs(
    names: Sequence[str], certificate: Path | None, badge: Path | None, *, partial: bool
) -> None:
    """Raise for files that cannot be written, or that would say too much.

    Args:
        names: what is checked.
        certificate: where the results go, if anywhere.
        badge: where the badge goes, if anywhere.
        partial: whether only one stage or some laws are checked.
    """
    if (certificate or badge) and partial:
        raise click.UsageError("a certificate and a badge cover all laws: remove --stage and --law")
    if certificate and any(":" in name or name.endswith(".toml") for name in names):
        raise click.UsageError("a certificate is only for installed plugins: remove --certificate")
    for place in (certificate, badge):
        if place is not None and not place.absolute().parent.is_dir():
            raise InputError(f"{place}: there is no folder {place.parent}; create it first")


def _end(rows: Sequence[dict[str, Any]], *, whole: bool) -> None:
    """Exit with the status of the results; ``whole``: all laws were asked for."""
    from .certificate import certified

    if any(row["result"] == "failed" for row in rows):
        raise click.exceptions.Exit(1)
    unchecked = any(row["result"] == "unchecked" for row in rows)
    if unchecked or (whole and not certified(rows)):
        what = "not every law could be checked" if unchecked else "a stage was not checked at all"
        click.echo(f"rlenv: {what}: see the reasons above", err=True)
        raise click.exceptions.Exit(3)


class Progress:
    """Tells each law as it ends on all stages: in the spinner of a terminal, else as a line on
    standard error.

    Args:
        say: takes a line.
        title: what the first line says.
    """

    def __init__(self, say: Callable[[str], None], title: str) -> None:
        self._say = say
        self._law = ""
        self._ended: list[dict[str, Any]] = []
        say(title)

    def note(self, ended: dict[str, Any]) -> None:
        """Take in one law on one stage; the laws come one after another."""
        if ended["law"] != self._law:
            self.finish()
            self._law = ended["law"]
        self._ended.append(ended)

    def finish(self) -> None:
        """Tell the law that has ended."""
        if not self._ended:
            return
        results = {one["result"] for one in self._ended}
        worst = next(result for result in WORST if result in results)
        among = [visible(one["stage"]) for one in self._ended if one["result"] == worst]
        where = f" ({', '.join(among)})" if worst in ("failed", "unchecked") else ""
        seconds = sum(one["seconds"] for one in self._ended)
        self._say(f"{visible(self._law)}: {MARK[worst]}{where}, {duration(seconds)}")
        self._ended = []


def _say(line: str) -> None:
    """Write a line to standard error at once."""
    click.echo(line, err=True)
    sys.stderr.flush()


def _ready(
    names: Sequence[str], stage: str | None, laws: Sequence[str], files: tuple[str, str]
) -> list[Subject]:
    """What is to be checked; tells a mistake before anything runs."""
    from rlenv.model.messages import suggest

    from .installed import subjects
    from .subject import Effort
    from .targets import is_target, subject_of

    found: list[Subject] = []
    for name in names:
        target = is_target(name)
        found += [subject_of(name, *files, Effort())] if target else subjects(name, stage)
    if laws:
        from .law import LAWS
        from .laws import load

        load()
        for law in laws:
            if law not in LAWS:
                raise InputError(
                    f"there is no law '{law}'; {suggest(law, LAWS, what='the laws are')}"
                )
    return found


def _executing(subjects: Sequence[Subject]) -> Iterator[str]:
    """Warnings of stages whose source runs code, one line each."""
    from .executing import executing

    for subject in subjects:
        for warning in dict.fromkeys(executing(subject.stage)):
            yield f"warning: {visible(subject.name)}: {visible(warning)}"


def _write(
    names: Sequence[str],
    rows: list[dict[str, Any]],
    places: tuple[Path | None, Path | None],
    **settings: Any,
) -> None:
    from .certificate import badge, certificate

    if places[0] is not None:
        record = certificate(names, rows, **settings)
        places[0].write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    if places[1] is not None:
        places[1].write_text(badge(rows), encoding="utf-8")


def _show(out: Console, rows: Sequence[dict[str, Any]], seconds: float) -> None:
    from .certificate import counts

    stages = list(dict.fromkeys(row["stage"] for row in rows))
    out.print(_table(rows, stages))
    for line in _skipped(rows, len(stages)):
        out.print(line, style="dim", soft_wrap=True)
    for line in _unscored(rows):
        out.print(line, soft_wrap=True)
    for row in rows:
        if row["result"] in ("failed", "unchecked"):
            out.print()
            out.print(block(row["message"], 40), soft_wrap=True)
    number = counts(rows)
    tried = sum(row["examples"] for row in rows)
    unchecked = f", {number['unchecked']} not checked" if number["unchecked"] else ""
    out.print(
        f"\n{amount(len(stages), 'stage')}: {number['passed']} passed, {number['skipped']} skipped,"
        f" {number['failed']} broken{unchecked}; {amount(tried, 'example')} in {duration(seconds)}",
        soft_wrap=True,
    )


def _unscored(rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Of each stage that left responses unscored: how many, and how many by its own exception or
    None.
    """
    for stage in dict.fromkeys(row["stage"] for row in rows):
        kinds: Counter[str] = Counter()
        for row in rows:
            kinds.update(row.get("unscored", {}) if row["stage"] == stage else {})
        own = sum(kinds[kind] for kind in OWN_FAULTS)
        others = ", ".join(
            f"{count:,} {kind}" for kind, count in kinds.items() if kind not in OWN_FAULTS
        )
        if kinds:
            yield (
                f"{visible(stage)}: {amount(kinds.total(), 'verdict')} unscored, {own:,} by its own"
                f" exception or by returning None or no score{'; ' + others if others else ''}"
            )


def _skipped(rows: Sequence[dict[str, Any]], count: int) -> Iterator[str]:
    """What was skipped and why, one line for each reason and the stages that share it."""
    where: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        if row["result"] == "skipped":
            where.setdefault((row["law"], row["reason"]), []).append(row["stage"])
    lines: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for (law, reason), stages in where.items():
        lines.setdefault((reason, tuple(stages)), []).append(law)
    for (reason, among), laws in lines.items():
        shown = "" if len(among) == count else f" ({', '.join(map(visible, among))})"
        yield f"skipped: {', '.join(laws)}: {visible(reason)}{shown}"


def _table(rows: Sequence[dict[str, Any]], stages: Sequence[str]) -> Any:
    """Return a line for each law of a single stage, else a line for each stage."""
    return _of_laws(rows) if len(stages) == 1 else _of_stages(rows, stages)


def _of_laws(rows: Sequence[dict[str, Any]]) -> Any:
    from rich.box import SIMPLE
    from rich.table import Column, Table
    from rich.text import Text

    table = Table(Column("law", no_wrap=True), visible(rows[0]["stage"]), box=SIMPLE)
    for row in rows:
        table.add_row(row["law"], Text(MARK[row["result"]], STYLE[row["result"]]))
    return table


def _of_stages(rows: Sequence[dict[str, Any]], stages: Sequence[str]) -> Any:
    """Return a table that names the laws which a stage breaks; it fits 80 columns for any number of
    stages.
    """
    from rich.box import SIMPLE
    from rich.table import Column, Table
    from rich.text import Text

    numbers = [Column(name, justify="right", no_wrap=True) for name in ("passed", "skipped")]
    table = Table(Column("stage", overflow="fold"), *numbers, "broken laws", box=SIMPLE)
    for stage in stages:
        found: dict[str, list[str]] = {}
        for row in rows:
            if row["stage"] == stage:
                found.setdefault(row["result"], []).append(row["law"])
        broken = Text(", ".join(found.get("failed", ())) or "-")
        if "failed" in found:
            broken.stylize(STYLE["failed"])
        if "unchecked" in found:
            broken.append(f"; not checked: {', '.join(found['unchecked'])}", STYLE["unchecked"])
        counts = [str(len(found.get(result, ()))) for result in ("passed", "skipped")]
        table.add_row(visible(stage), *counts, broken)
    return table
