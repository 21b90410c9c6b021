"""The table of a report, column by column: all that is needed to show, sort and filter its rows."""

from __future__ import annotations

import sys
from typing import Any

from attrs import define, field

from rlenv_cli.scores.records import ScoreRow

from .cut import final_text

PREVIEW_CHARS = 120
TASK_CHARS = 300
SAMPLE_ROWS = 400
SAMPLE_CHARS = 20_000


def preview(response: Any) -> str:
    """Beginning and end of a response on one line; the end is where answers stand."""
    text = final_text(response)
    if len(text) > 4 * PREVIEW_CHARS:
        text = text[: 2 * PREVIEW_CHARS] + "\0" + text[-2 * PREVIEW_CHARS :]
    flat = " ".join(text.split())
    if len(flat) <= PREVIEW_CHARS and "\0" not in flat:
        return flat
    return f"{flat[: PREVIEW_CHARS // 3]} \u2026 {flat[-PREVIEW_CHARS * 2 // 3 :]}".replace(
        "\0", " "
    )


@define
class Columns:
    """Parallel lists, one entry per row; tasks and splits are interned."""

    task: list[str | None] = field(factory=list)
    split: list[str] = field(factory=list)
    reward: list[float | None] = field(factory=list)
    passed: list[bool | None] = field(factory=list)
    seconds: list[float] = field(factory=list)
    stop: list[str | None] = field(factory=list)
    fault: list[str | None] = field(factory=list)
    preview: list[str] = field(factory=list)

    def __len__(self) -> int:
        return len(self.task)

    def add(self, row: ScoreRow, split: str) -> None:
        task = row["task"]
        fault = row["fault"]
        stop = row.get("stopped_at")
        reward = row["reward"]
        self.task.append(None if task is None else sys.intern(task))
        self.split.append(sys.intern(split))
        self.reward.append(reward)
        self.passed.append(None if reward is None else bool(row.get("passed")))
        self.seconds.append(round(sum(stage["seconds"] for stage in row["stages"]), 6))
        self.stop.append(sys.intern(stop[:200]) if isinstance(stop, str) else None)
        self.fault.append(None if fault is None else sys.intern(str(fault.get("kind"))[:40]))
        self.preview.append(preview(row.get("response")))


def interned(values: list[Any]) -> tuple[list[Any], list[int]]:
    """The different values in order of appearance, and for each entry which one it is."""
    places: dict[Any, int] = {}
    which = [places.setdefault(value, len(places)) for value in values]
    return list(places), which


def short(name: str | None) -> str | None:
    """A task's id as the page shows it."""
    return name if name is None or len(name) <= TASK_CHARS else name[: TASK_CHARS - 1] + "\u2026"


@define
class Sample:
    """Up to 400 rows, evenly spaced over a stream of unknown length."""

    rows: list[ScoreRow] = field(factory=list)
    seen: int = 0
    stride: int = 1

    def add(self, row: ScoreRow) -> None:
        if self.seen % self.stride == 0:
            self.rows.append(row)
            if len(self.rows) > SAMPLE_ROWS:
                self.rows = self.rows[::2]
                self.stride *= 2
        self.seen += 1
