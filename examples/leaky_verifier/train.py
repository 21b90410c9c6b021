"""Train small policies on the leaky verifier at several strengths of its leak, and on the fixed
one.

python train.py --out results

Every reward comes from rlenv: ``env.toml`` (with another strength) or ``fixed.toml``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np
from explained import page
from learning import EVERY, Band, Lesson, band, learned, look
from picture import picture
from world import CHANCE, Floats, Split, environment, leak_of, split

GRID = ",".join(f"{step / 20:g}" for step in range(21))
ROLLOUT_SEED = 0


@click.command()
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("results"),
    show_default=True,
    help="A folder.",
)
@click.option(
    "--seeds",
    type=click.IntRange(2),
    default=24,
    show_default=True,
    help="Policies of each strength.",
)
@click.option(
    "--strengths",
    default=GRID,
    metavar="0,0.5,1",
    help="Of the leak, each in [0, 1]; 21 by default.",
)
@click.option(
    "--steps", type=click.IntRange(EVERY), default=200, show_default=True, help="Of training."
)
@click.option(
    "--tasks",
    type=click.IntRange(20),
    default=160,
    show_default=True,
    help="Of each split, at most 160.",
)
def main(out: Path, seeds: int, strengths: str, steps: int, tasks: int) -> None:
    """Write curves.json, curves.svg, leak.html, and rollouts for `rlenv audit delta`, before and
    after the fix.
    """
    grid = sorted({*_numbers(strengths), leak_of(), 0.0})
    splits = split("train", tasks), split("heldout", tasks)
    out.mkdir(parents=True, exist_ok=True)
    runs: dict[float, Mapping[str, Any]] = {}
    click.echo(f"{'leak':>10} {'train':>24} {'held out':>24} {'weights: real, leak':>21}")
    for strength in grid:
        with environment(strength) as env:
            paid = [part.rewards(env) for part in splits]
        lessons = [_lesson(splits, paid, steps, seed) for seed in range(seeds)]
        runs[strength] = _record(lessons)
        click.echo(_line("fixed" if not strength else f"{strength:g}", runs[strength]))
        if strength in (0.0, leak_of()):
            _rollouts(out, "before" if strength else "after", splits, paid, lessons[ROLLOUT_SEED])
    found = _found(splits, seeds, steps, runs)
    text = json.dumps(found, separators=(",", ":"))
    (out / "curves.json").write_text(text + "\n", "ascii")
    (out / "curves.svg").write_text(picture(found), "utf-8")
    (out / "leak.html").write_text(page(found), "utf-8")


def _numbers(text: str) -> list[float]:
    try:
        found = [float(part) for part in text.split(",")]
    except ValueError:
        found = [-1.0]
    if not all(0 <= one <= 1 for one in found):
        raise click.BadParameter(
            f"{text}: numbers from 0 to 1, such as 0,0.5,1", param_hint="--strengths"
        )
    return found


def _lesson(splits: Sequence[Split], paid: Sequence[Floats], steps: int, seed: int) -> Lesson:
    train, heldout = (look(part, table, seed) for part, table in zip(splits, paid, strict=True))
    return learned(train, heldout, steps, seed)


def _record(lessons: Sequence[Lesson]) -> Mapping[str, Any]:
    """Both rewards and both weights at each measurement, and the last rewards seed by seed."""
    rewards = {
        name: np.array([getattr(one, name) for one in lessons]) for name in ("train", "heldout")
    }
    weights = np.array([one.weights for one in lessons])
    bands: dict[str, Band] = {name: band(curves, 0, 1) for name, curves in rewards.items()}
    bands |= {"real": band(weights[..., 0]), "leak": band(weights[..., 1])}
    last = {name: [round(float(v), 4) for v in curves[:, -1]] for name, curves in rewards.items()}
    return {name: one.record() for name, one in bands.items()} | {"last": last}


def _found(
    splits: Sequence[Split], seeds: int, steps: int, runs: Mapping[float, Mapping[str, Any]]
) -> Mapping[str, Any]:
    return {
        "schema": "leaky_verifier.curves/1",
        "seeds": seeds,
        "steps": list(range(0, steps + 1, EVERY)),
        "chance": round(CHANCE, 4),
        "together": {part.name: _together(part, seeds) for part in splits},
        "shipped": leak_of(),
        "strengths": list(runs),
        "before": list(runs.values()),
        "after": runs[0.0],
    }


def _together(part: Split, seeds: int) -> float:
    """How the phrase and the right answer go together in what the frozen model wrote: their
    correlation.
    """
    drafts = np.stack([part.drafts(seed) for seed in range(seeds)]).ravel()
    return round(float(np.corrcoef(drafts < 2, drafts % 2)[0, 1]), 3)


def _line(name: str, run: Mapping[str, Any]) -> str:
    def shown(key: str) -> str:
        low, mean, high = (run[key][part][-1] for part in ("low", "mean", "high"))
        return f"{mean:.3f} ({low:.3f} to {high:.3f})"

    weights = ", ".join(f"{run[key]['mean'][-1]:.2f}" for key in ("real", "leak"))
    return f"{name:>10} {shown('train'):>24} {shown('heldout'):>24} {weights:>21}"


def _rollouts(
    out: Path, when: str, splits: Sequence[Split], paid: Sequence[Floats], lesson: Lesson
) -> None:
    """What one policy chose for every task at each measurement, with its reward: rows for `rlenv
    audit delta`.
    """
    for part, table in zip(splits, paid, strict=True):
        rows = _chosen(part, table, lesson)
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (out / f"{when}-{part.name}.jsonl").write_text(text, "ascii")


def _chosen(part: Split, table: Floats, lesson: Lesson) -> Iterator[Mapping[str, Any]]:
    chance = np.random.default_rng([ROLLOUT_SEED, 1])
    seen = look(part, table, ROLLOUT_SEED)
    drafts = part.drafts(ROLLOUT_SEED)
    for place, weights in enumerate(lesson.weights):
        drawn = chance.random((len(drafts), 1))
        at = (seen.chances(weights).cumsum(-1) < drawn).sum(-1).clip(0, drafts.shape[1] - 1)
        for row, task in enumerate(part.tasks):
            column = drafts[row, at[row]]
            yield {
                "step": place * EVERY,
                "task": task.id,
                "response": part.texts[row][column],
                "reward": float(table[row, column]),
            }


if __name__ == "__main__":
    main()
