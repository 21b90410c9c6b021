"""Rows as compressed text for a page: chunks that a browser unpacks one at a time, within a budget
of bytes.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from rlenv.model.record import dumps

from rlenv_cli.scores.records import ScoreRow

from .columns import short
from .cut import cut, shown_fault, shown_response, shown_stages, shown_value
from .gather import Gathered

CHUNK_ROWS = 256
LIMITS = (
    20_000, 14_000, 10_000, 7_000, 5_000, 3_500, 2_500, 1_800, 1_300, 900, 650, 450, 320, 220, 150,
    80,
)  # fmt: skip
PROMPT_SHARE = 4  # a prompt is cut at a quarter of what a response may have
BUDGET = 24_000_000  # bytes


def packed(value: Any) -> str:
    """A JSON value as ASCII: JSON, deflated, in base 64."""
    return base64.b64encode(zlib.compress(dumps(value).encode("ascii"), 6)).decode("ascii")


def unpacked(text: str) -> Any:
    """What ``packed`` was given."""
    import json

    return json.loads(zlib.decompress(base64.b64decode(text)))


def chunk(run: Gathered, rows: Iterable[ScoreRow], limit: int, *, public: bool) -> dict[str, Any]:
    """The rows in full, responses cut at ``limit`` characters, and the tasks that they answer."""
    rows = list(rows)
    tasks = {row["task"] for row in rows if row["task"] is not None}
    return {
        "rows": [_row(row, limit, public=public) for row in rows],
        "tasks": {short(t): _task(run, t, limit, public=public) for t in sorted(tasks)}
        if run.known is not None
        else {},
    }


def _row(row: ScoreRow, limit: int, *, public: bool) -> dict[str, Any]:
    stop = row.get("stopped_at")
    return {
        "stop": stop[:200] if isinstance(stop, str) else None,
        "response": shown_response(row.get("response"), limit),
        "fault": shown_fault(row["fault"], public=public, limit=limit),
        "stages": shown_stages(row["stages"], public=public, limit=limit),
    }


def _task(run: Gathered, task: str, limit: int, *, public: bool) -> dict[str, Any] | None:
    if run.known is None or task not in run.known.tasks:
        return None
    _, prompt, answer = run.known.tasks[task]
    found = {"prompt": cut(prompt, max(80, limit // PROMPT_SHARE))}
    return found if public else {**found, "answer": shown_value(answer, limit)}


def chunks(run: Gathered, limit: int, *, public: bool) -> Iterator[str]:
    """All rows of the run's table, packed."""
    rows = run.rows()
    while part := list(islice(rows, CHUNK_ROWS)):
        yield packed(chunk(run, part, limit, public=public))


def estimate(run: Gathered, limit: int, *, public: bool) -> float:
    """Bytes that the chunks will take, judged by the sample."""
    rows = run.sample.rows
    sizes = (
        len(packed(chunk(run, rows[i : i + CHUNK_ROWS], limit, public=public)))
        for i in range(0, len(rows), CHUNK_ROWS)
    )
    return sum(sizes) / len(rows) * len(run.columns) if rows else 0.0


def fitting(run: Gathered, budget: float, *, public: bool) -> tuple[int, list[str]]:
    """The largest limit whose chunks stay within ``budget`` bytes, and those chunks."""
    for limit in LIMITS[:-1]:
        if estimate(run, limit, public=public) <= 0.97 * budget:
            found = _within(chunks(run, limit, public=public), budget)
            if found is not None:
                return limit, found
    return LIMITS[-1], list(chunks(run, LIMITS[-1], public=public))


def _within(texts: Iterator[str], budget: float) -> list[str] | None:
    found = []
    size = 0
    for text in texts:
        size += len(text)
        if size > budget:
            return None
        found.append(text)
    return found
