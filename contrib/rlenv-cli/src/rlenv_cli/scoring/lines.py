"""From rows to lines of a file of scores: the loop of ``rlenv score`` without files and screens."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING

from rlenv.model.record import dumps
from rlenv.model.values import Fault, Verdict

from rlenv_cli.scores.items import Bad, Good, Item
from rlenv_cli.scores.records import ScoreRow
from rlenv_cli.scores.verdicts import fault_to_dict, stage_rows

from .wishes import Wishes

if TYPE_CHECKING:
    from rlenv.environment import Environment

FIRST_CHUNK_ROWS = 1024  # small, so that the first verdicts come soon
CHUNK_ROWS = 32_768
CHUNK_CHARS = 1 << 26

Judge = Callable[[list[Good]], Iterator[Verdict]]


def verdicts(
    env: Environment, items: Iterable[Item], wishes: Wishes, done: int = 0
) -> Iterator[tuple[Item, Verdict]]:
    """Every item after row ``done`` with its verdict, in order; a bad one is unscored, kind
    ``input``.

    Items are held in chunks of at most 32,768 rows or 64 M characters; with ``wishes.grouped`` the
    rows of one task that are together are one chunk and are judged together, those already done
    included.
    """

    def many(good: list[Good]) -> Iterator[Verdict]:
        rows = [(item.task, item.response) for item in good]
        return env.evaluate_many(rows, wishes.workers, on=wishes.on)

    def group(good: list[Good]) -> Iterator[Verdict]:
        return iter(env.evaluate_group(good[0].task, [i.response for i in good]))

    for chunk in _groups(items) if wishes.grouped else _chunks(items):
        if chunk[-1].row > done:
            for item, verdict in _judged(chunk, group if wishes.grouped else many):
                if item.row > done:
                    yield item, verdict


def _judged(chunk: list[Item], judge: Judge) -> Iterator[tuple[Item, Verdict]]:
    good = [item for item in chunk if isinstance(item, Good)]
    found = judge(good) if good else iter(())
    try:
        for item in chunk:
            if isinstance(item, Bad):
                yield item, Verdict(None, fault=Fault("input", item.problem))
            else:
                yield item, next(found)
    finally:
        close = getattr(found, "close", None)
        if close is not None:
            close()


def _chunks(items: Iterable[Item]) -> Iterator[list[Item]]:
    chunk: list[Item] = []
    chars = 0
    size = FIRST_CHUNK_ROWS
    for item in items:
        chunk.append(item)
        chars += _size(item)
        if len(chunk) >= size or chars >= CHUNK_CHARS:
            yield chunk
            chunk = []
            chars = 0
            size = min(CHUNK_ROWS, 2 * size)
    if chunk:
        yield chunk


def _groups(items: Iterable[Item]) -> Iterator[list[Item]]:
    for _, members in groupby(items, key=lambda item: item.name):
        yield list(members)


def _size(item: Item) -> int:
    return len(str(item.given))


def line(env: Environment, item: Item, verdict: Verdict) -> ScoreRow:
    """One row of the file of scores."""
    reward = verdict.value
    return {
        "row": item.row,
        "task": item.name,
        "response": item.given,
        "reward": reward,
        "passed": None if reward is None else reward >= env.pass_mark,
        "stopped_at": verdict.stopped_at,
        "fault": fault_to_dict(verdict.fault),
        "stages": stage_rows(env, verdict),
    }


def encoded(row: ScoreRow) -> bytes:
    """One line of the file; a response nested too deeply to write again is left out."""
    try:
        text = dumps(row)
    except RecursionError:
        text = dumps({**row, "response": None})
    return (text + "\n").encode("ascii")
