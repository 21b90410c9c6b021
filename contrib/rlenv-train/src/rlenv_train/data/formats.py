"""The rows of each format; the keys are those of TRL's data sets, then what a row comes from."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from statistics import fmean, stdev
from typing import TypeAlias

from attrs import Factory, define, frozen

from .choice import Rule
from .conversation import LeftOut, Renderer, Side
from .index import Index, Scored

Row: TypeAlias = dict[str, object]
UNSCORED = "no reward"
EPSILON = 1e-4


@define
class Counts:
    """What the summary of an export says."""

    written: int = 0
    tied: int = 0  # pairs of dpo with others of the same rewards; groups of grpo with equal rewards
    responses: Counter[str] = Factory(Counter)  # left out, by reason
    tasks: Counter[str] = Factory(Counter)  # tasks that gave nothing, by reason


@frozen
class Export:
    """An export of one score file.

    Args:
        rule: which pairs are made.
        pass_mark: what a pass is; None for the pass mark of the run.
    """

    index: Index
    render: Renderer
    rule: Rule
    pass_mark: float | None
    counts: Counts = Factory(Counts)

    def rows(self, make: Format) -> Iterator[Row]:
        """All rows, task by task in the order of the file."""
        self.counts.responses["no task"] += self.index.nameless
        self.counts.responses[UNSCORED] += self.index.unscored.total()
        for task, group in self.index.tasks.items():
            for row in make(self, task, group):
                self.counts.written += 1
                yield row

    def passes(self, entry: Scored) -> bool:
        return entry.passed if self.pass_mark is None else entry.reward >= self.pass_mark

    def sides(self, entry: Scored) -> tuple[Side, Side] | None:
        """The prompt and the completion; None, and counted, where they cannot be exported."""
        try:
            return self.render.sides(self.index.row(entry))
        except LeftOut as why:
            self.counts.responses[str(why)] += 1
            return None

    def source(self, task: str, **rows: int) -> Row:
        """Where a row comes from, by the header of the score file: nothing of it is read from a
        response.
        """
        return {"task": task, "provenance": {**self.index.header.source, **rows}}


Format: TypeAlias = Callable[[Export, str, Sequence[Scored]], Iterator[Row]]


def dpo(export: Export, task: str, group: Sequence[Scored]) -> Iterator[Row]:
    """``prompt``, ``chosen`` and ``rejected``: the best and the worst response to a task."""
    pairs = export.rule.pairs(group)
    if not pairs:
        export.counts.tasks[_no_pair(export.rule, group)] += 1
    for pair in pairs:
        chosen = export.sides(pair.chosen)
        rejected = export.sides(pair.rejected)
        if chosen is None or rejected is None:
            continue
        if chosen[0] != rejected[0]:
            export.counts.tasks["prompts of the pair differ"] += 1
            continue
        export.counts.tied += bool(pair.chosen_ties or pair.rejected_ties)
        source = export.source(task, chosen_row=pair.chosen.row, rejected_row=pair.rejected.row)
        yield {
            "prompt": chosen[0],
            "chosen": chosen[1],
            "rejected": rejected[1],
            "chosen_reward": pair.chosen.reward,
            "rejected_reward": pair.rejected.reward,
            "chosen_ties": pair.chosen_ties,
            "rejected_ties": pair.rejected_ties,
        } | source


def _no_pair(rule: Rule, group: Sequence[Scored]) -> str:
    """Why a group has no pair."""
    rewards = [entry.reward for entry in group]
    if len(group) < 2:
        return "fewer than two rewards"
    if min(rewards) == max(rewards):
        return "all rewards equal"
    if max(rewards) - min(rewards) < rule.margin:
        return "difference below --margin"
    return "same text" if rule.ratio is None else "no pair of similar length"


def sft(export: Export, task: str, group: Sequence[Scored]) -> Iterator[Row]:
    """``prompt`` and ``completion`` of each response that passes; of equal texts the first."""
    seen: set[int] = set()
    for entry in group:
        if not export.passes(entry):
            export.counts.responses["below the pass mark"] += 1
        elif entry.digest in seen:
            export.counts.responses["same text as another row"] += 1
        elif sides := export.sides(entry):
            seen.add(entry.digest)
            yield _single(sides) | {"reward": entry.reward} | export.source(task, row=entry.row)


def kto(export: Export, task: str, group: Sequence[Scored]) -> Iterator[Row]:
    """``prompt``, ``completion`` and ``label``: whether the response passes."""
    for entry in group:
        if sides := export.sides(entry):
            label = {"label": export.passes(entry), "reward": entry.reward}
            yield _single(sides) | label | export.source(task, row=entry.row)


def grpo(export: Export, task: str, group: Sequence[Scored]) -> Iterator[Row]:
    """``prompt``, ``completion``, ``group``, ``reward`` and ``advantage`` of each response to a
    task with several.

    The advantage is (reward - mean) / (deviation + 0.0001) over the scored responses of the task,
    with the sample deviation (n - 1), as `GRPOTrainer` computes it; 0 where all rewards are equal.
    """
    if len(group) < 2:
        export.counts.tasks["fewer than two rewards"] += 1
        return
    mean = fmean(e.reward for e in group)
    deviation = stdev(e.reward for e in group)
    export.counts.tied += len({entry.reward for entry in group}) == 1
    header = export.index.header
    key = f"{header.fingerprint}/{header.responses_sha256}/{task}"
    name = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    for entry in group:
        if sides := export.sides(entry):
            advantage = (entry.reward - mean) / (deviation + EPSILON)
            numbers = {"group": name, "reward": entry.reward, "advantage": advantage}
            yield _single(sides) | numbers | export.source(task, row=entry.row)


def _single(sides: tuple[Side, Side]) -> Row:
    return {"prompt": sides[0], "completion": sides[1]}


FORMATS: dict[str, Format] = {"dpo": dpo, "sft": sft, "kto": kto, "grpo": grpo}
