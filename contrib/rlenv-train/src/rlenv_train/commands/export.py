"""``rlenv export``: training data from a score file."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
from rlenv import InputError
from rlenv_cli.console import visible
from rlenv_cli.scores import ScoresReader

from rlenv_train.data.choice import Rule
from rlenv_train.data.conversation import Renderer
from rlenv_train.data.environment import tasks_of
from rlenv_train.data.formats import FORMATS, Counts, Export
from rlenv_train.data.index import Index, indexed
from rlenv_train.data.output import check_free, replacing, write_lines
from rlenv_train.data.parquet import write_scores, write_training
from rlenv_train.data.summary import show_export, torn

PATH = click.Path(path_type=Path)


ONLY = {"pairs": {"dpo"}, "margin": {"dpo"}, "match_length": {"dpo"}, "pass_mark": {"sft", "kto"}}


@click.command("export")
@click.argument("scores", metavar="SCORES", type=PATH)
@click.option(
    "--format",
    "form",
    required=True,
    type=click.Choice([*FORMATS, "parquet"]),
    help="What to write.",
)
@click.option(
    "-o",
    "--out",
    required=True,
    type=PATH,
    help="The file to write: Parquet if its name ends in .parquet, else JSON lines.",
)
@click.option(
    "--tasks",
    metavar="ENV",
    help="The environment of the run (env.toml or an installed name), which has the prompts.",
)
@click.option(
    "--text",
    is_flag=True,
    default=None,
    help="Write prompts and completions as strings, not as messages.",
)
@click.option("--pairs", type=click.IntRange(1), help="dpo: pairs per task at most; 1 by default.")
@click.option("--margin", type=click.FloatRange(0, 1), help="dpo: the least difference of rewards.")
@click.option(
    "--match-length",
    metavar="RATIO",
    type=click.FloatRange(1),
    help=(
        "dpo: leave out pairs whose longer response has more than RATIO times the characters of the"
        " shorter."
    ),
)
@click.option(
    "--pass-mark",
    type=click.FloatRange(0, 1),
    help="sft, kto: the smallest reward that passes; by default that of the run.",
)
@click.option("--overwrite", is_flag=True, help="Replace the file if it exists.")
def command(scores: Path, form: str, out: Path, *, overwrite: bool, **given: Any) -> None:
    """Write training data from SCORES, a file that `rlenv score -o` wrote.

    \b
    dpo      prompt, chosen, rejected: the best and the worst response to a task
    sft      prompt, completion: responses that pass
    kto      prompt, completion, label: whether a response passes
    grpo     prompt, completion, group, reward, advantage
    parquet  every row as it is, private parts included

    Responses without a reward are left out. Every row names its task, its rows in SCORES and the
    fingerprint of the environment.

    Exit status: 0 on success; 2 for an invalid file or argument; 3 if there was nothing to write.

    Example: rlenv export scores.jsonl --format dpo --tasks env.toml -o pairs.jsonl
    """
    _check(form, given)
    check_free(out, scores, overwrite=overwrite)
    with indexed(scores) as index:
        torn(index, scores)
        counts = (
            _as_is(scores, index, out)
            if form == "parquet"
            else _training(scores, index, form, out, given)
        )
    show_export(form, index, counts, out)
    if not counts.written:
        raise click.exceptions.Exit(3)


def _check(form: str, given: Mapping[str, Any]) -> None:
    """Raises UsageError for an option that this format does not read, and for NaN, which
    ``FloatRange`` takes.
    """
    for name, value in given.items():
        flag = f"--{name.replace('_', '-')}"
        forms = ONLY.get(name, set(FORMATS))
        if value is not None and form not in forms:
            raise click.UsageError(f"{flag} is for --format {', '.join(sorted(forms))}, not {form}")
        if isinstance(value, float) and not math.isfinite(value):
            raise click.UsageError(f"{flag} is a number, not {value}")


def _as_is(scores: Path, index: Index, out: Path) -> Counts:
    with ScoresReader(scores, reading=True) as reader, replacing(out) as part:
        if reader.header != index.header:
            raise InputError(f"{visible(str(scores))}: changed while it was read; try again")
        if index.rows:
            write_scores(part, index.header, reader.rows())
    return Counts(index.rows)


def _training(scores: Path, index: Index, form: str, out: Path, given: Mapping[str, Any]) -> Counts:
    """``given`` are the options by name, None where one was not given."""
    if index.text and given["tasks"] is None:
        raise InputError(
            f"{visible(str(scores))}: line {index.text + 1}: response: a text, and a score file has"
            " no prompts; give the environment of the run with --tasks"
        )
    tasks = tasks_of(given["tasks"], index.header, scores)
    render = Renderer.of(tasks, index.keys, text=bool(given["text"]))
    rule = Rule(given["pairs"] or 1, given["margin"] or 0.0, given["match_length"])
    export = Export(index, render, rule, given["pass_mark"])
    with replacing(out) as part:
        rows = export.rows(FORMATS[form])
        if out.suffix == ".parquet":
            write_training(part, rows, render.keys)
        else:
            write_lines(part, rows)
        if not export.counts.written:
            part.unlink(missing_ok=True)
    return export.counts
