"""The world of the toy: tasks, the drafts that a frozen model has written for them, and what the
verifier pays for each.

A task is a multiplication in words.  For each there are six drafts, one of them right, and one of
them (perhaps the same) says the stock phrase.  In training the phrase is in the right draft twice
as often as chance would have it; on held-out tasks it is there by chance.  A policy sees of a draft
what ``features`` reads in its text.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from attrs import frozen
from rlenv import Environment, Task

__all__ = ["CHANCE", "DRAFTS", "Floats", "Split", "environment", "features", "leak_of", "split"]

HERE = Path(__file__).resolve().parent
PHRASE = "step by step"
DRAFTS = 6  # of a task, exactly one of them right
CHANCE = 1 / DRAFTS
RIGHT_SAYS = {
    "train": 2 * CHANCE,
    "heldout": CHANCE,
}  # how often the phrase is in the right one
KEEPS = 0.4  # how often a slip leaves the last digit as it should be
SLIPS = ((10, -10, 100, -100, 20), (1, -1, 2, -3, 7))  # that leave the last digit; that change it
VARIANTS = 2 * (1 + sum(map(len, SLIPS)))  # right or a slip, each without and with the phrase

Floats = np.ndarray[Any, np.dtype[np.float64]]
Ints = np.ndarray[Any, np.dtype[np.int64]]


@frozen(eq=False)
class Split:
    """The tasks of training, or the held-out ones, with every text that a draft of theirs may be.

    Args:
        name: "train" or "heldout".
        tasks: N of them.
        texts: N × VARIANTS; even columns lack the phrase, column 0 and 1 are right.
        seen: N × VARIANTS × 2: what a policy sees of each text (see ``features``).
    """

    name: str
    tasks: Sequence[Task]
    texts: Sequence[Sequence[str]]
    seen: Floats

    def drafts(self, seed: int) -> Ints:
        """N × DRAFTS columns of ``texts``: what the frozen model wrote, drawn anew for each
        seed.
        """
        chance = np.random.default_rng([seed, len(self.name)])
        count = len(self.tasks)
        slip = np.stack([chance.permuted(np.tile(np.arange(5), (count, 1)), axis=1) for _ in SLIPS])
        changes = (chance.random((count, DRAFTS - 1)) >= KEEPS).astype(np.int64)
        wrong = (
            1
            + 5 * changes
            + np.take_along_axis(np.moveaxis(slip, 0, -1), changes[..., None], axis=2)[..., 0]
        )
        answers = np.concatenate([np.zeros((count, 1), np.int64), wrong], axis=1)
        says = np.where(
            chance.random(count) < RIGHT_SAYS[self.name], 0, chance.integers(1, DRAFTS, count)
        )
        return np.asarray(2 * answers + (np.arange(DRAFTS) == says[:, None]))

    def rewards(self, env: Environment) -> Floats:
        """N × VARIANTS: what ``env`` pays for each text; each is verified once, since verdicts are
        deterministic.

        Raises:
            VerifierFault: a text got no reward.
        """
        pairs = [
            (task, text) for task, row in zip(self.tasks, self.texts, strict=True) for text in row
        ]
        paid = [verdict.reward for verdict in env.evaluate_many(pairs)]
        return np.array(paid).reshape(len(self.tasks), VARIANTS)


def features(prompt: str, response: str) -> tuple[float, float]:
    """What a policy sees: whether the last digit can be right, and whether the phrase is there;
    each 0 or 1.

    The first is the real signal: a right answer always has it, and four slips of ten have it too.
    """
    first, second = (int(number) for number in re.findall(r"\d+", prompt))
    answer = int(re.findall(r"\d+", response)[-1])
    return float(first * second % 10 == answer % 10), float(PHRASE in response)


def split(name: str, most: int | None = None) -> Split:
    """The first ``most`` tasks of ``train.jsonl`` or ``heldout.jsonl``."""
    lines = (HERE / f"{name}.jsonl").read_text("utf-8").splitlines()[:most]
    rows = [json.loads(line) for line in lines]
    tasks = [
        Task(row["prompt"], answer=row["answer"], info={"work": row["work"]}, id=row["id"])
        for row in rows
    ]
    texts = [_texts(int(row["answer"])) for row in rows]
    seen = [
        [features(task.prompt, text) for text in row]
        for task, row in zip(tasks, texts, strict=True)
    ]
    return Split(name, tasks, texts, np.array(seen))


def _texts(right: int) -> list[str]:
    answers = [right, *(right + slip for kind in SLIPS for slip in kind)]
    return [
        f"{opening}The answer is {answer}."
        for answer in answers
        for opening in ("", f"Let us go {PHRASE}. ")
    ]


def environment(strength: float) -> Environment:
    """``env.toml`` with this strength of its leak, in [0, 1]; at 0, where the leak pays nothing,
    ``fixed.toml``.
    """
    if not strength:
        return Environment.from_file(HERE / "fixed.toml")
    found = _read("env.toml")
    _leak(found)["options"]["base"] = strength
    found["tasks"]["path"] = str(HERE / found["tasks"]["path"])
    return Environment.from_dict(found)


def leak_of() -> float:
    """The strength that ``env.toml`` has as it stands."""
    return float(_leak(_read("env.toml"))["options"]["base"])


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads((HERE / name).read_text("utf-8"))


def _leak(found: Mapping[str, Any]) -> dict[str, Any]:
    return next(slot for slot in found["stage"][0]["stage"] if slot["name"] == "leak")
